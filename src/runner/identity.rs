//! Which process is meant, in a way that survives restarts and reused process ids.
//!
//! A bare process id names whoever has it now. Together with the boot and the start time it names one process for
//! ever, so a record left by a dead runner can be judged later. This room knows `/proc` and signals, and must not
//! know why anyone asks.

use std::os::unix::fs::MetadataExt;
use std::{fs, io};

use crate::model::issue::Process;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process};

/// What can be said about a [`Process`] now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// This very process is running.
    Alive,
    /// It has ended: another boot, no such process, a zombie, or the id belongs to a later process.
    Dead,
    /// The system does not tell.
    Unknown,
}

/// The calling process.
pub fn this_process() -> Process {
    process(std::process::id())
}

/// The process that has this id now. Of an id nobody has, the reference is one to a dead process.
pub fn process(pid: u32) -> Process {
    let started = Stat::read(pid).ok().flatten().map_or(0, |stat| stat.started);
    Process { boot_id: boot_id().unwrap_or_default(), pid, started, pid_namespace: pid_namespace() }
}

/// Whether this very process still runs. Without `/proc` the boot id is empty, and nothing can be said; nor of
/// a process in another namespace of process ids, as that of a container, where its id means another process.
pub fn liveness(process: &Process) -> Liveness {
    let Some(boot_id) = boot_id() else { return Liveness::Unknown };
    if process.boot_id.is_empty() {
        return Liveness::Unknown;
    }
    if process.boot_id != boot_id {
        return Liveness::Dead;
    }
    if process.pid_namespace.is_none() || process.pid_namespace != pid_namespace() {
        return Liveness::Unknown;
    }
    match Stat::read(process.pid) {
        Ok(Some(stat)) if stat.started == process.started && !stat.ended => Liveness::Alive,
        Ok(Some(_)) => Liveness::Dead,
        Ok(None) => Liveness::Unknown,
        // A /proc mounted with hidepid has no entry for other users' processes either: ask the kernel too.
        Err(error) if error.kind() == io::ErrorKind::NotFound => match group_id(process.pid) {
            Some(pid) if test_kill_process(pid) != Err(rustix::io::Errno::SRCH) => Liveness::Unknown,
            _ => Liveness::Dead,
        },
        Err(_) => Liveness::Unknown,
    }
}

/// Kills the process group this process leads, if this very process still runs; says whether a signal was sent.
///
/// A group whose leader is gone is left alone: its number proves nothing any more.
pub fn kill_group(process: &Process) -> bool {
    match group_id(process.pid) {
        Some(group) if liveness(process) == Liveness::Alive => {
            kill_process_group(group, Signal::KILL).is_ok()
        }
        _ => false,
    }
}

/// The id as the kernel takes it. Not 1: signalling "group 1" would mean every process there is.
fn group_id(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|pid| *pid > 1).and_then(Pid::from_raw)
}

fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let id = text.trim();
    (!id.is_empty()).then(|| id.to_owned())
}

/// The namespace in which this process sees process ids. `None` as well where `/proc` is that of another one.
fn pid_namespace() -> Option<u64> {
    let own = fs::read_link("/proc/self").ok()?;
    let same = own.to_str() == Some(std::process::id().to_string().as_str());
    same.then(|| fs::metadata("/proc/self/ns/pid").ok().map(|meta| meta.ino())).flatten()
}

/// The two fields of `/proc/PID/stat` that matter here (proc_pid_stat(5)).
struct Stat {
    /// A zombie, or on the way out: it will never run again.
    ended: bool,
    started: u64,
}

impl Stat {
    /// `Ok(None)`: there is such a file, but it does not read as expected.
    fn read(pid: u32) -> io::Result<Option<Self>> {
        match fs::read(format!("/proc/{pid}/stat")) {
            Ok(bytes) => Ok(Self::parse(&String::from_utf8_lossy(&bytes))),
            // The process went away between open and read.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {
                Err(io::ErrorKind::NotFound.into())
            }
            Err(error) => Err(error),
        }
    }

    /// Field 2 is the program's own name in parentheses and may hold anything, `)` and blanks included; so count from
    /// the last `)`, after which field 3 (state) comes first and field 22 (start time) twentieth.
    fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.rsplit_once(')')?;
        let mut fields = rest.split_ascii_whitespace();
        let ended = matches!(fields.next()?, "Z" | "X" | "x");
        let started = fields.nth(18)?.parse().ok()?;
        Some(Self { ended, started })
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Child, Command};
    use std::time::Duration;

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").process_group(0).spawn().unwrap()
    }

    #[test]
    fn this_process_is_alive_and_keeps_its_identity_through_json() {
        let this = this_process();
        assert_eq!(liveness(&this), Liveness::Alive);
        let json = serde_json::to_string(&this).unwrap();
        assert_eq!(serde_json::from_str::<Process>(&json).unwrap(), this);
    }

    #[test]
    fn a_zombie_and_a_reaped_process_are_both_dead() {
        let mut child = sleeper();
        let process = process(child.id());
        assert_eq!(liveness(&process), Liveness::Alive);
        child.kill().unwrap();
        while liveness(&process) == Liveness::Alive {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(liveness(&process), Liveness::Dead, "a zombie");
        child.wait().unwrap();
        assert_eq!(liveness(&process), Liveness::Dead, "reaped");
        assert!(!kill_group(&process));
    }

    #[test]
    fn a_reused_process_id_and_another_boot_are_not_the_same_process() {
        let mut child = sleeper();
        let process = process(child.id());
        let reused = Process { started: process.started - 1, ..process.clone() };
        let rebooted = Process { boot_id: "another".into(), ..process.clone() };
        for other in [reused, rebooted] {
            assert_eq!(liveness(&other), Liveness::Dead);
            assert!(!kill_group(&other));
        }
        assert_eq!(liveness(&process), Liveness::Alive, "no one else's record kills it");
        assert!(kill_group(&process));
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn an_identity_from_a_system_without_proc_is_unknown_and_kills_nobody() {
        let nameless = Process { boot_id: String::new(), ..this_process() };
        assert_eq!(liveness(&nameless), Liveness::Unknown);
        assert!(!kill_group(&nameless));
    }

    #[test]
    fn a_process_of_another_or_an_unknown_namespace_is_unknown_and_nobody_is_killed_for_it() {
        let mut child = sleeper();
        let process = process(child.id());
        let inside = process.pid_namespace.unwrap();
        for pid_namespace in [Some(inside + 1), None] {
            let elsewhere = Process { pid_namespace, ..process.clone() };
            assert_eq!(liveness(&elsewhere), Liveness::Unknown);
            assert!(!kill_group(&elsewhere));
            let gone = Process { started: elsewhere.started - 1, ..elsewhere };
            assert_eq!(liveness(&gone), Liveness::Unknown, "there the id may mean somebody who runs");
        }
        let old = r#"{"boot_id":"b","pid":7,"started":1}"#;
        assert_eq!(serde_json::from_str::<Process>(old).unwrap().pid_namespace, None);
        assert!(kill_group(&process));
        child.wait().unwrap();
    }

    #[test]
    fn ids_that_would_signal_everybody_are_never_signalled() {
        for pid in [0, 1, u32::MAX] {
            assert!(group_id(pid).is_none());
            assert!(!kill_group(&process(pid)));
        }
    }

    #[test]
    fn a_program_name_full_of_parentheses_does_not_shift_the_fields() {
        let stat = Stat::parse("7 (a) Z (b) S 1 7 7 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 4242 99").unwrap();
        assert_eq!((stat.ended, stat.started), (false, 4242));
        assert!(Stat::parse("7 (short) S 1").is_none());
        assert!(Stat::parse("").is_none());
    }
}
