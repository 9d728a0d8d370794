//! Which worker a runner has started, in a small file beside the store, so that the next run on this machine
//! ends what a dead runner left behind, whoever has its issue by now. It tells of processes, which no boot
//! outlives: so it stands beside the record and not in it.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::supervise::Progress;
use crate::app::AppError;
use crate::model::id::IssueId;
use crate::model::issue::Process;
use crate::runner::{self, Liveness};

/// How the files inside the store's folder are called: `worker-PROCESS-STARTED.json`.
const PREFIX: &str = "worker-";
const SUFFIX: &str = ".json";
/// No file is longer than this by far.
const MAX_BYTES: u64 = 64 * 1024;
/// How long the end of a killed process is waited for.
const KILLED: Duration = Duration::from_secs(5);
const NAP: Duration = Duration::from_millis(10);

/// A worker, its runner, and what it works on.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    runner: Process,
    worker: Process,
    issue: IssueId,
}

/// The file that tells of a worker of this runner; goes when the worker has ended.
#[derive(Debug)]
pub(super) struct Started {
    path: PathBuf,
}

impl Started {
    /// Tells of a worker, before it is given anything to do.
    ///
    /// # Errors
    /// When the store's folder cannot be written.
    pub fn note(folder: &Path, issue: &IssueId, worker: &Process) -> Result<Started, AppError> {
        let entry = Entry { runner: runner::this_process(), worker: worker.clone(), issue: issue.clone() };
        let path = folder.join(format!("{PREFIX}{}-{}{SUFFIX}", worker.pid, worker.started));
        let write = || -> io::Result<()> {
            // Runners of other users read it as well: they are to know whose it is.
            let mut file =
                tempfile::Builder::new().permissions(Permissions::from_mode(0o644)).tempfile_in(folder)?;
            serde_json::to_writer(&mut file, &entry)?;
            file.write_all(b"\n")?;
            // No crash leaves the name without its text.
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(|source| AppError::File { what: format!("write {}", path.display()), source })?;
        Ok(Started { path })
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Where it stays, it tells of a process that has ended, and the next run removes it.
        drop(fs::remove_file(&self.path));
    }
}

/// Ends the workers that dead runners left behind on this machine. What cannot be judged from here (of
/// another container, say) or is another user's stays, and so does the file that tells of it.
///
/// # Errors
/// When the store's folder cannot be read, or a file in it that should tell of a worker does not.
pub(super) fn end_left_behind(folder: &Path, progress: &mut dyn FnMut(Progress<'_>)) -> Result<(), AppError> {
    for path in told_of(folder).map_err(failed("read", folder))? {
        let Some(text) = or_leave(read(&path)).map_err(failed("read", &path))? else { continue };
        let Entry { runner, worker, issue } = understand(&path, &text)?;
        if runner::liveness(&runner) == Liveness::Dead && end(&issue, &worker, progress) {
            or_leave(fs::remove_file(&path)).map_err(failed("remove", &path))?;
        }
    }
    Ok(())
}

/// Ends a worker and its group, says so, and says whether it is certain that it has ended.
pub(super) fn end(issue: &IssueId, worker: &Process, progress: &mut dyn FnMut(Progress<'_>)) -> bool {
    let killed = runner::kill_group(worker);
    let over = is_over(worker, killed);
    if killed && over {
        progress(Progress::LeftBehind { issue, pid: worker.pid });
    }
    over
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut text)?;
    Ok(text)
}

fn understand(path: &Path, text: &[u8]) -> Result<Entry, AppError> {
    let not = |problem| AppError::WorkerFile { file: path.to_owned(), problem };
    if text.len() as u64 > MAX_BYTES {
        return Err(not(format!("it is longer than {MAX_BYTES} bytes")));
    }
    serde_json::from_slice(text).map_err(|error| not(error.to_string()))
}

/// A file may go just now with its worker, and another user's may not be this one's to touch.
fn or_leave<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The files that tell of workers, in the order of their names.
fn told_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) && entry.file_type()?.is_file() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a process has ended. One that was killed has a while for it.
fn is_over(process: &Process, killed: bool) -> bool {
    let since = Instant::now();
    loop {
        match runner::liveness(process) {
            Liveness::Dead => return true,
            Liveness::Alive if killed && since.elapsed() < KILLED => std::thread::sleep(NAP),
            _ => return false,
        }
    }
}

fn failed(what: &str, path: &Path) -> impl FnOnce(io::Error) -> AppError {
    let what = format!("{what} {}", path.display());
    move |source| AppError::File { what, source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use super::*;

    /// A process in a group of its own.
    fn sleeping() -> Child {
        Command::new("sleep").arg("600").process_group(0).spawn().unwrap()
    }

    fn entry(folder: &Path, runner: Process, worker: &Child) -> PathBuf {
        let issue = "rg-abc".parse().unwrap();
        let entry = Entry { runner, worker: runner::process(worker.id()), issue };
        let path = folder.join("worker-1-1.json");
        fs::write(&path, serde_json::to_vec(&entry).unwrap()).unwrap();
        path
    }

    fn ended(folder: &Path) -> Result<Vec<u32>, AppError> {
        let mut ended = Vec::new();
        end_left_behind(folder, &mut |said| match said {
            Progress::LeftBehind { pid, .. } => ended.push(pid),
            other => panic!("{other:?}"),
        })?;
        Ok(ended)
    }

    /// A process that was there and is not any more.
    fn gone() -> Process {
        let mut child = sleeping();
        let process = runner::process(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        process
    }

    #[test]
    fn only_a_worker_whose_runner_is_certainly_dead_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut worker = sleeping();
        let abroad = Process { pid_namespace: Some(1), ..gone() };
        for runner in [runner::this_process(), abroad] {
            let path = entry(folder.path(), runner, &worker);
            assert!(ended(folder.path()).unwrap().is_empty());
            assert!(path.exists() && worker.try_wait().unwrap().is_none());
        }
        let path = entry(folder.path(), gone(), &worker);
        assert_eq!(ended(folder.path()).unwrap(), [worker.id()]);
        assert!(!path.exists());
        assert!(!worker.wait().unwrap().success());
        // Of another boot nothing is left; the number may be somebody else's by now.
        let mut other = sleeping();
        let before = Process { boot_id: "another".to_owned(), ..runner::process(other.id()) };
        let path = folder.path().join("worker-2-2.json");
        let issue = "rg-abc".parse().unwrap();
        let told = Entry { runner: before.clone(), worker: before, issue };
        fs::write(&path, serde_json::to_vec(&told).unwrap()).unwrap();
        assert!(ended(folder.path()).unwrap().is_empty());
        assert!(!path.exists() && other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn what_tells_of_a_worker_goes_with_it_and_what_does_not_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let started =
            Started::note(folder.path(), &"rg-abc".parse().unwrap(), &runner::this_process()).unwrap();
        assert_eq!(told_of(folder.path()).unwrap(), std::slice::from_ref(&started.path));
        drop(started);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let long = " ".repeat(70_000);
        for text in ["", "{}", "[]", "\u{0}", &long] {
            fs::write(folder.path().join("worker-1-1.json"), text).unwrap();
            let error = ended(folder.path()).unwrap_err();
            assert_eq!((error.code(), error.exit_code()), ("worker_file", 2));
            assert!(error.to_string().contains("worker-1-1.json"), "{error}");
        }
        fs::write(folder.path().join("another.json"), "").unwrap();
        fs::remove_file(folder.path().join("worker-1-1.json")).unwrap();
        fs::create_dir(folder.path().join("worker-2-2.json")).unwrap();
        assert!(ended(folder.path()).unwrap().is_empty());
    }
}
