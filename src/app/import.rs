//! Import of another tracker's export: all of it or nothing.

use std::path::Path;

use super::{AppError, Changed, Session};
use crate::interop::beads::{self, Report};

/// Imports a file in the beads JSONL format.
///
/// # Errors
/// When the file is not acceptable; then nothing is written.
pub fn beads(
    session: &mut Session,
    file: &Path,
    bytes: &[u8],
    dry_run: bool,
) -> Result<Changed<Report>, AppError> {
    let lines = beads::parse(bytes).map_err(|source| AppError::Import { file: file.to_owned(), source })?;
    if dry_run {
        let snapshot = session.read()?;
        let (_, report) = beads::compile(&snapshot, &lines, session.clock.now(), &session.actor);
        return Ok(Changed { value: report, changed: false });
    }
    session.change_whole("import beads", |work| {
        let (primitives, report) = beads::compile(&work.snapshot, &lines, work.now, &work.actor);
        work.apply(&primitives)?;
        Ok(report)
    })
}
