//! `roundgate status`

use clap::Args;

use super::context::Context;
use super::notify::undelivered_line;
use super::output::line;
use super::pause::paused_line;
use super::render::moment;
use crate::app::AppError;
use crate::app::status::{self, RootStatus};
use crate::model::counted::{counted, if_one};

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Only this root
    root: Option<String>,
}

pub fn run(context: &Context, args: StatusArgs) -> Result<u8, AppError> {
    let folder = context.store_folder()?;
    let session = context.session()?;
    if let Some(root) = args.root {
        let found = status::root(&session, &root)?;
        if context.json() {
            context.print_json(&found)?
        } else {
            print(context, &found)
        }
        return Ok(0);
    }
    let found = status::all(&session)?;
    if context.json() {
        let mut value = serde_json::json!(found);
        value["store"] = serde_json::json!(folder.display().to_string());
        context.print_json(&value)?;
        return Ok(0);
    }
    context.line(&format!("store   {}", folder.display()));
    context.line(&format!(
        "issues  {} ({} closed), {} ready, {} waiting for a human",
        found.issues,
        found.closed,
        found.ready,
        counted(found.asks, "ask")
    ));
    if let Some(undelivered) = undelivered_line(&found.notifications, found.notifier) {
        context.line(&format!("notify  {}", line(&undelivered)));
    }
    let list = context.call("issues list");
    match (found.roots.is_empty(), found.alone) {
        (true, 0) => context.line("no root has anything left to do"),
        (_, 0) => {}
        (_, n) => {
            let (issues, stand) = (counted(n, "issue"), if_one(n, "stands alone is", "stand alone are"));
            context
                .line(&format!("{issues} that {stand} not done; {list} shows {}", if_one(n, "it", "them")));
        }
    }
    for root in &found.roots {
        context.line("");
        print(context, root);
    }
    Ok(0)
}

fn print(context: &Context, root: &RootStatus) {
    let r#final = if root.r#final { "  final" } else { "" };
    context.line(&format!("{}  {}{final}", root.root, line(&root.title), final = r#final));
    context.line(&format!(
        "  {} open, {} in progress, {} closed; {} ready",
        root.open, root.in_progress, root.closed, root.ready
    ));
    for scope in &root.scopes {
        let round = format!("{}/{}", scope.round, scope.max_rounds);
        context.line(&format!(
            "  scope {}  round {round:<5} {:<15} {}",
            scope.scope,
            scope.state,
            line(&scope.title)
        ));
    }
    for halted in &root.halted {
        let at = moment(halted.at);
        context.line(&format!("  heartbeat {} stopped at {at}: {}", halted.heartbeat, line(&halted.note)));
    }
    root.paused.iter().for_each(|pause| context.line(&format!("  {}", paused_line(pause))));
    for held in &root.held {
        context.line(&format!(
            "  {} is held by {} until {}",
            held.issue,
            held.actor,
            moment(held.expires_at)
        ));
    }
    for ask in &root.asks {
        context.line(&format!("  ask {}  {}", ask.id, line(&ask.question)));
    }
    context.line(&format!("  next: {}", line(&root.next)));
}
