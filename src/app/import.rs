//! Import of another tracker's export: all of it or nothing.

use std::path::Path;

use super::{AppError, Changed, Session, Work};
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
    let carry_out = |work: &mut Work| {
        let (primitives, report) = beads::compile(&work.snapshot, &lines, work.now, &work.actor);
        work.apply(&primitives)?;
        Ok(report)
    };
    if dry_run {
        let value = session.rehearse_whole("import beads", carry_out)?;
        return Ok(Changed { value, changed: false });
    }
    session.change_whole("import beads", carry_out)
}
