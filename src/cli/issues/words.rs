//! Words and lines that several issue commands share.

use crate::app::AppError;
use crate::app::view::IssueView;
use crate::cli::context::Context;
use crate::cli::output::line;
use crate::cli::render::status_word;
use crate::model::act::claim::Role;
use crate::model::tag::Tag;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum StatusArg {
    /// Not taken
    Open,
    /// Taken
    #[value(name = "in_progress")]
    InProgress,
    /// Ended
    Closed,
}

impl StatusArg {
    pub fn word(self) -> String {
        match self {
            StatusArg::Open => "open",
            StatusArg::InProgress => "in_progress",
            StatusArg::Closed => "closed",
        }
        .to_owned()
    }
}

/// Which half of a round.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum RoleArg {
    /// Attempts
    Attempt,
    /// Reviews
    Review,
}

impl RoleArg {
    pub fn role(self) -> Role {
        match self {
            RoleArg::Attempt => Role::Attempt,
            RoleArg::Review => Role::Review,
        }
    }
}

/// The roles that mu knows.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum RoleTag {
    /// Plans and coordinates
    Orchestrator,
    /// Does the work
    Worker,
}

impl RoleTag {
    pub fn tag(self) -> Tag {
        Tag::known(match self {
            RoleTag::Orchestrator => "role:orchestrator",
            RoleTag::Worker => "role:worker",
        })
    }
}

/// Prints the issue an act was about: as JSON, or in a line that says whether anything changed.
pub fn acted(context: &Context, verb: &str, issue: &IssueView, changed: bool) -> Result<u8, AppError> {
    if context.json() {
        context.print_changed(issue, changed)?;
    } else {
        let verb = if changed { verb } else { "unchanged" };
        context.line(&format!("{verb} {}  {}  {}", issue.id, status_word(issue), line(&issue.title)));
    }
    Ok(0)
}
