//! `roundgate issues dep` and `undep`

use clap::Args;
use serde_json::json;

use crate::app::AppError;
use crate::app::issues::{self, Added, DepKind};
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
    let done = issues::dep(&mut context.session_to_write()?, &args.first, kind, &args.second)?;
    let Added { first, second, moved_from } = &done.value;
    if context.json() {
        let mut value = shown(kind, first, second, done.changed);
        value["moved_from"] = json!(moved_from);
        context.print_json(&value)?;
    } else if let Some(old) = moved_from {
        context.line(&format!("moved {first} from parent {old} to parent {second}"));
    } else {
        let verb = if done.changed { "added" } else { "unchanged" };
        context.line(&format!("{verb} {first} {} {second}", kind.as_str()));
    }
    Ok(0)
}

pub fn undep(context: &Context, args: DepArgs) -> Result<u8, AppError> {
    let kind = kind(args.relation)?;
    let done = issues::undep(&mut context.session_to_write()?, &args.first, kind, &args.second)?;
    let (first, second) = &done.value;
    if context.json() {
        context.print_json(&shown(kind, first, second, done.changed))?;
    } else {
        let verb = if done.changed { "removed" } else { "unchanged" };
        context.line(&format!("{verb} {first} {} {second}", kind.as_str()));
    }
    Ok(0)
}

fn shown(kind: DepKind, src: &IssueId, dst: &IssueId, changed: bool) -> serde_json::Value {
    json!({ "ok": true, "changed": changed, "src": src, "type": kind.as_str(), "dst": dst })
}
