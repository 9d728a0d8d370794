//! A layer between SQLite and the files: whoever watches a folder is asked before anything in it is
//! written, and may let it happen, pretend that it did, or let it fail. Everything else, the shared
//! memory among it, goes straight through to SQLite's own layer.
//!
//! The only place with unsafe code: SQLite's layers are tables of C functions.

#![expect(unsafe_code, reason = "a layer below SQLite is a table of C functions")]

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rusqlite::ffi;

/// Something that is about to happen to a file.
#[derive(Debug, Clone, Copy)]
pub enum Op<'a> {
    /// It is opened, and was not there.
    Create,
    /// Bytes are written at an offset.
    Write(u64, &'a [u8]),
    /// It is cut to a size.
    Truncate(u64),
    /// What was written is made safe.
    Sync,
    /// Its name is taken away; with `true`, for good.
    Delete(bool),
}

/// What is to become of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It happens.
    Do,
    /// It does not, and SQLite is told that it did.
    Pretend,
    /// It does not, and SQLite is told this code.
    Fail(c_int),
}

/// Whoever watches the files of a folder.
pub trait Disk: Send + Sync {
    /// Asked before anything happens to a file.
    fn asked(&self, file: &Path, op: Op<'_>) -> Answer;
}

/// Watches a folder until it is dropped. Files that are opened meanwhile are watched until they are
/// closed.
#[derive(Debug)]
pub struct Watch(PathBuf);

/// Asks this disk about every file in this folder.
pub fn watch(folder: &Path, disk: Arc<dyn Disk>) -> Watch {
    layer();
    watched().push((folder.to_owned(), disk));
    Watch(folder.to_owned())
}

impl Drop for Watch {
    fn drop(&mut self) {
        watched().retain(|(folder, _)| *folder != self.0);
    }
}

type Watched = Vec<(PathBuf, Arc<dyn Disk>)>;

fn watched() -> MutexGuard<'static, Watched> {
    static WATCHED: Mutex<Watched> = Mutex::new(Vec::new());
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn disk_of(file: &Path) -> Option<Arc<dyn Disk>> {
    watched().iter().find(|(folder, _)| file.starts_with(folder)).map(|(_, disk)| Arc::clone(disk))
}

/// SQLite's own layer and ours. Both live as long as the process.
struct Layer {
    below: *mut ffi::sqlite3_vfs,
    /// How much of a file's memory is that of the layer below; ours follows.
    size_below: usize,
}

// SAFETY: both pointers lead to tables that nobody changes after they are registered.
unsafe impl Send for Layer {}
// SAFETY: as above.
unsafe impl Sync for Layer {}

/// Puts ours in the place of the default, once.
fn layer() -> &'static Layer {
    static LAYER: OnceLock<Layer> = OnceLock::new();
    LAYER.get_or_init(|| {
        // SAFETY: the default layer is registered for good, and so is ours, which is never freed.
        unsafe {
            let below = ffi::sqlite3_vfs_find(ptr::null());
            let size_below = usize::try_from((*below).szOsFile).unwrap().next_multiple_of(16);
            let mut ours = Box::new(*below);
            ours.zName = c"watched".as_ptr();
            ours.pNext = ptr::null_mut();
            ours.szOsFile = c_int::try_from(size_below + mem::size_of::<Ours>()).unwrap();
            ours.xOpen = Some(open);
            ours.xDelete = Some(delete);
            let registered = ffi::sqlite3_vfs_register(Box::into_raw(ours), 1);
            assert_eq!(registered, ffi::SQLITE_OK);
            Layer { below, size_below }
        }
    })
}

/// What follows the memory of the layer below, in each file that is watched.
struct Ours {
    methods_below: *const ffi::sqlite3_io_methods,
    file: *mut File,
}

struct File {
    path: PathBuf,
    disk: Arc<dyn Disk>,
}

/// # Safety
/// `file` was opened by [`open`] and is watched.
unsafe fn ours(file: *mut ffi::sqlite3_file) -> *mut Ours {
    // SAFETY: SQLite gives each file as many bytes as our layer asks for.
    unsafe { file.cast::<u8>().add(layer().size_below).cast::<Ours>() }
}

/// # Safety
/// As for [`ours`].
unsafe fn ask(file: *mut ffi::sqlite3_file, op: Op<'_>) -> Answer {
    // SAFETY: as promised, and the box lives until the file is closed.
    let File { path, disk } = unsafe { &*(*ours(file)).file };
    disk.asked(path, op)
}

/// # Safety
/// As for [`ours`].
unsafe fn below(file: *mut ffi::sqlite3_file) -> &'static ffi::sqlite3_io_methods {
    // SAFETY: the tables of SQLite are static.
    unsafe { &*(*ours(file)).methods_below }
}

fn answered(answer: Answer, happen: impl FnOnce() -> c_int) -> c_int {
    match answer {
        Answer::Do => happen(),
        Answer::Pretend => ffi::SQLITE_OK,
        Answer::Fail(code) => code,
    }
}

/// # Safety
/// As SQLite calls it: `name` is a path or null.
unsafe fn path_of(name: *const c_char) -> Option<PathBuf> {
    // SAFETY: as promised.
    let bytes = unsafe { (!name.is_null()).then(|| CStr::from_ptr(name))? }.to_bytes();
    Some(PathBuf::from(OsStr::from_bytes(bytes)))
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite's own arguments, handed on to its own layer; then the table of methods of the file
    // is exchanged for one that differs in four of them.
    unsafe {
        let vfs = layer().below;
        let happen = || ((*vfs).xOpen.unwrap())(vfs, name, file, flags, flags_out);
        let Some((path, disk)) = path_of(name).and_then(|path| disk_of(&path).map(|disk| (path, disk)))
        else {
            return happen();
        };
        let new = flags & ffi::SQLITE_OPEN_CREATE != 0 && !path.exists();
        let answer = if new { disk.asked(&path, Op::Create) } else { Answer::Do };
        if let Answer::Fail(code) = answer {
            (*file).pMethods = ptr::null();
            return code;
        }
        let opened = happen();
        if opened == ffi::SQLITE_OK {
            let methods_below = (*file).pMethods;
            let watched = Box::into_raw(Box::new(File { path, disk }));
            ours(file).write(Ours { methods_below, file: watched });
            (*file).pMethods = methods(&*methods_below);
        }
        opened
    }
}

/// The table of methods of a watched file. The layer below has one table for databases and one for
/// logs; each gets one of ours.
fn methods(below: &'static ffi::sqlite3_io_methods) -> *const ffi::sqlite3_io_methods {
    type Tables = Vec<(usize, &'static ffi::sqlite3_io_methods)>;
    static TABLES: Mutex<Tables> = Mutex::new(Vec::new());
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    let key = ptr::from_ref(below).addr();
    if let Some((_, table)) = tables.iter().find(|(known, _)| *known == key) {
        return *table;
    }
    let table: &'static _ = Box::leak(Box::new(ffi::sqlite3_io_methods {
        xClose: Some(close),
        xWrite: Some(write),
        xTruncate: Some(truncate),
        xSync: Some(sync),
        ..*below
    }));
    tables.push((key, table));
    table
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once; the box is not used again.
    unsafe {
        let watched = Box::from_raw((*ours(file)).file);
        let closed = (below(file).xClose.unwrap())(file);
        drop(watched);
        closed
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    data: *const c_void,
    length: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite's own arguments: as many bytes as it says.
    unsafe {
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), usize::try_from(length).unwrap());
        let answer = ask(file, Op::Write(offset.unsigned_abs(), bytes));
        answered(answer, || (below(file).xWrite.unwrap())(file, data, length, offset))
    }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    // SAFETY: SQLite's own arguments.
    unsafe {
        let answer = ask(file, Op::Truncate(size.unsigned_abs()));
        answered(answer, || (below(file).xTruncate.unwrap())(file, size))
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: SQLite's own arguments.
    unsafe {
        let answer = ask(file, Op::Sync);
        answered(answer, || (below(file).xSync.unwrap())(file, flags))
    }
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, for_good: c_int) -> c_int {
    // SAFETY: SQLite's own arguments, handed on to its own layer.
    unsafe {
        let vfs = layer().below;
        let happen = || ((*vfs).xDelete.unwrap())(vfs, name, for_good);
        match path_of(name).and_then(|path| disk_of(&path).map(|disk| (path, disk))) {
            Some((path, disk)) => answered(disk.asked(&path, Op::Delete(for_good != 0)), happen),
            None => happen(),
        }
    }
}
