//! The list of issue commands.

use clap::Subcommand;

use super::{claim, close, create, edges, inspect, read, update};
use crate::app::AppError;
use crate::cli::context::Context;

#[derive(Debug, Subcommand)]
pub enum IssuesCommand {
    /// Create an issue
    Create(create::CreateArgs),
    /// Show an issue
    Get(read::GetArgs),
    /// List issues
    List(read::ListArgs),
    /// Change what an issue says
    Update(update::UpdateArgs),
    /// Take an issue, or the next ready one
    Claim(claim::ClaimArgs),
    /// Prolong a lease
    Renew(claim::RenewArgs),
    /// Give an issue back
    Release(claim::ReleaseArgs),
    /// Reopen an issue
    Open(close::OpenArgs),
    /// Close an issue; on a review that is a verdict
    Close(close::CloseArgs),
    /// Make a successor of a failed issue
    Retry(close::RetryArgs),
    /// Add an edge: A blocks B, or CHILD parent PARENT
    Dep(edges::DepArgs),
    /// Take an edge out
    Undep(edges::DepArgs),
    /// List the children of an issue
    Children(read::ChildrenArgs),
    /// List what can be worked on now
    Ready(read::ReadyArgs),
    /// Is a root final, and if not, why?
    Validate(inspect::ValidateArgs),
    /// Why an issue is, or is not, ready
    Explain(inspect::ExplainArgs),
    /// Everything that happened to an issue
    History(inspect::HistoryArgs),
}

pub fn run(context: &Context, command: IssuesCommand) -> Result<u8, AppError> {
    match command {
        IssuesCommand::Create(args) => create::run(context, args),
        IssuesCommand::Get(args) => read::get(context, args),
        IssuesCommand::List(args) => read::list(context, args),
        IssuesCommand::Update(args) => update::run(context, args),
        IssuesCommand::Claim(args) => claim::claim(context, args),
        IssuesCommand::Renew(args) => claim::renew(context, args),
        IssuesCommand::Release(args) => claim::release(context, args),
        IssuesCommand::Open(args) => close::open(context, args),
        IssuesCommand::Close(args) => close::close(context, args),
        IssuesCommand::Retry(args) => close::retry(context, args),
        IssuesCommand::Dep(args) => edges::dep(context, args),
        IssuesCommand::Undep(args) => edges::undep(context, args),
        IssuesCommand::Children(args) => read::children(context, args),
        IssuesCommand::Ready(args) => read::ready(context, args),
        IssuesCommand::Validate(args) => inspect::validate(context, args),
        IssuesCommand::Explain(args) => inspect::explain(context, args),
        IssuesCommand::History(args) => inspect::history(context, args),
    }
}
