//! Is every worker's program there? Asked before anything is written.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::app::AppError;
use crate::model::record::WorkerSpec;
use crate::runner::program_in;

/// Checks that every worker's program exists and can be executed.
///
/// # Errors
/// Names the role, the program and where it was looked for.
pub fn check_workers(
    workers: &BTreeMap<String, WorkerSpec>,
    folder: &Path,
    cwd: &Path,
) -> Result<(), AppError> {
    for (role, worker) in workers {
        let program = worker.command.first().map(String::as_str).unwrap_or_default();
        let candidates = candidates(program, folder, cwd);
        if !candidates.iter().any(|path| executable(path)) {
            let there = candidates.iter().find(|path| path.exists());
            let place = match (there, candidates.as_slice()) {
                (Some(there), _) => format!("{} cannot be executed", there.display()),
                (None, [one]) => format!("there is no program at {}", one.display()),
                _ => "it is not in PATH".to_owned(),
            };
            return Err(AppError::Usage(format!("the worker {role} cannot run {program:?}: {place}")));
        }
    }
    Ok(())
}

fn candidates(program: &str, folder: &Path, cwd: &Path) -> Vec<PathBuf> {
    if let Some(path) = program_in(folder, program) {
        return vec![path];
    }
    if program.contains('/') {
        return vec![cwd.join(program)];
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found: Vec<PathBuf> = std::env::split_paths(&path).map(|folder| folder.join(program)).collect();
    // With an empty PATH there is still one place to name.
    if found.is_empty() { vec![cwd.join(program)] } else { found }
}

fn executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
