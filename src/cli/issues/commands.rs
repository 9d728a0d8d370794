//! The list of issue commands.

use clap::Subcommand;

use super::{claim, close, create, edges, inspect, read, update};
use crate::app::AppError;
use crate::cli::context::Context;
use crate::cli::lazy::Lazy;

#[derive(Debug, Subcommand)]
pub enum IssuesCommand {
    /// Create an issue
    Create(Lazy<create::CreateArgs>),
    /// Show an issue
    Get(Lazy<read::GetArgs>),
    /// List issues
    List(Lazy<read::ListArgs>),
    /// Find issues by words in their titles and bodies
    Search(Lazy<read::SearchArgs>),
    /// Change what an issue says
    Update(Lazy<update::UpdateArgs>),
    /// Take an issue, or the next ready one
    Claim(Lazy<claim::ClaimArgs>),
    /// Prolong a lease
    Renew(Lazy<claim::RenewArgs>),
    /// Give an issue back
    Release(Lazy<claim::ReleaseArgs>),
    /// Reopen an issue
    Open(Lazy<close::OpenArgs>),
    /// Close an issue; on a review that is a verdict
    Close(Lazy<close::CloseArgs>),
    /// Make a successor of a failed issue
    Retry(Lazy<close::RetryArgs>),
    /// Add an edge: A blocks B, or CHILD parent PARENT
    Dep(Lazy<edges::DepArgs>),
    /// Take an edge out
    Undep(Lazy<edges::DepArgs>),
    /// List the children of an issue
    Children(Lazy<read::ChildrenArgs>),
    /// List what can be worked on now
    Ready(Lazy<read::ReadyArgs>),
    /// Is a root final, and if not, why?
    Validate(Lazy<inspect::ValidateArgs>),
    /// Why an issue is, or is not, ready
    Explain(Lazy<inspect::ExplainArgs>),
    /// Everything that happened to an issue
    History(Lazy<inspect::HistoryArgs>),
}

pub fn run(context: &Context, command: IssuesCommand) -> Result<u8, AppError> {
    match command {
        IssuesCommand::Create(Lazy(args)) => create::run(context, args),
        IssuesCommand::Get(Lazy(args)) => read::get(context, args),
        IssuesCommand::List(Lazy(args)) => read::list(context, args),
        IssuesCommand::Search(Lazy(args)) => read::search(context, args),
        IssuesCommand::Update(Lazy(args)) => update::run(context, args),
        IssuesCommand::Claim(Lazy(args)) => claim::claim(context, args),
        IssuesCommand::Renew(Lazy(args)) => claim::renew(context, args),
        IssuesCommand::Release(Lazy(args)) => claim::release(context, args),
        IssuesCommand::Open(Lazy(args)) => close::open(context, args),
        IssuesCommand::Close(Lazy(args)) => close::close(context, args),
        IssuesCommand::Retry(Lazy(args)) => close::retry(context, args),
        IssuesCommand::Dep(Lazy(args)) => edges::dep(context, args),
        IssuesCommand::Undep(Lazy(args)) => edges::undep(context, args),
        IssuesCommand::Children(Lazy(args)) => read::children(context, args),
        IssuesCommand::Ready(Lazy(args)) => read::ready(context, args),
        IssuesCommand::Validate(Lazy(args)) => inspect::validate(context, args),
        IssuesCommand::Explain(Lazy(args)) => inspect::explain(context, args),
        IssuesCommand::History(Lazy(args)) => inspect::history(context, args),
    }
}
