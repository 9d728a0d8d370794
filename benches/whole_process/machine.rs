//! What kind of machine the figures come from.

use std::fs;
use std::path::Path;

/// The processor, how many of it, the system, and what the stores lie on.
pub fn describe(folder: &Path) -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let first = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
    format!(
        "{}, {cores} cores, {} GiB of memory, Linux {}, stores on {}",
        first(value("/proc/cpuinfo", "model name")),
        memory_gib(),
        first(fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned())),
        first(file_system(folder)),
    )
}

/// The first value of a key in one of the kernel's lists.
fn value(file: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn memory_gib() -> u64 {
    let kib = value("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    kib.map_or(0, |kib| kib.div_ceil(1 << 20))
}

/// The type of the file system of the innermost mount above a folder.
fn file_system(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let above = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (at, kind) = (words.next()?, words.next()?);
        folder.starts_with(at).then_some((at.len(), kind.to_owned()))
    });
    above.max_by_key(|(length, _)| *length).map(|(_, kind)| kind)
}
