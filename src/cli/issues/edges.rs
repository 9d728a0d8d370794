//! `roundgate issues dep` and `undep`

use clap::Args;
use serde_json::json;

use crate::app::issues::{self, DepKind};
use crate::app::{AppError, Changed};
use crate::cli::context::Context;
use crate::model::id::IssueId;
use crate::model::refusal::Refusal;

#[derive(Debug, Args)]
pub struct DepArgs {
    /// The blocker, or the child
    first: String,
    /// blocks, or parent
    relation: RelationArg,
    /// The blocked, or the parent
    second: String,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum RelationArg {
    /// The first must be resolved before the second may start
    Blocks,
    /// The second is the parent of the first
    Parent,
    /// Made by `issues retry` and by the engine only
    #[value(hide = true)]
    Supersedes,
}

fn kind(relation: RelationArg) -> Result<DepKind, AppError> {
    match relation {
        RelationArg::Blocks => Ok(DepKind::Blocks),
        RelationArg::Parent => Ok(DepKind::Parent),
        RelationArg::Supersedes => Err(Refusal::SupersedeByHand.into()),
    }
}

pub fn dep(context: &Context, args: DepArgs) -> Result<u8, AppError> {
    let kind = kind(args.relation)?;
    let done = issues::dep(&mut context.session()?, &args.first, kind, &args.second)?;
    print(context, "added", kind, &done)
}

pub fn undep(context: &Context, args: DepArgs) -> Result<u8, AppError> {
    let kind = kind(args.relation)?;
    let done = issues::undep(&mut context.session()?, &args.first, kind, &args.second)?;
    print(context, "removed", kind, &done)
}

fn print(
    context: &Context,
    verb: &str,
    kind: DepKind,
    done: &Changed<(IssueId, IssueId)>,
) -> Result<u8, AppError> {
    let (src, dst) = &done.value;
    if context.json() {
        let (src, dst) = (src.as_str(), dst.as_str());
        context.print_json(
            &json!({ "ok": true, "changed": done.changed, "src": src, "type": kind.as_str(), "dst": dst }),
        )?;
    } else {
        let verb = if done.changed { verb } else { "unchanged" };
        context.line(&format!("{verb} {src} {} {dst}", kind.as_str()));
    }
    Ok(0)
}
