//! `roundgate issues validate`, `explain` and `history`

use clap::Args;

use crate::app::{
    AppError, explain as explaining, issues, resolve_root, session_resolve, validate as validating,
};
use crate::cli::context::Context;
use crate::cli::log::print_events;
use crate::cli::output::line;
use crate::cli::pause::paused_line;
use crate::cli::render::RowsArgs;
use crate::cli::tick::waiting_code;
use crate::model::snapshot::Snapshot;

#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// The root's id or a unique prefix; of another issue, what is at and below it
    id: String,
    /// For a root: exit with 10, 11 or 12 when it is not final
    #[arg(long)]
    exit_status: bool,
}

pub fn validate(context: &Context, args: ValidateArgs) -> Result<u8, AppError> {
    let mut session = context.session()?;
    if args.exit_status {
        let named = |snapshot: &Snapshot| -> Result<_, AppError> {
            Ok((session_resolve(snapshot, &args.id)?, resolve_root(snapshot, &args.id)?))
        };
        let (id, root) = session.look(named)?;
        if id != root {
            return Err(AppError::Usage(format!(
                "--exit-status is about a root, and {id} is below one: {} --exit-status",
                context.call("issues validate").arg(root.as_str())
            )));
        }
    }
    let found = validating::validate(&session, &args.id)?;
    if context.json() {
        context.print_json(&found)?;
    } else {
        let word = if found.is_final { "final" } else { "not final" };
        context.line(&format!("{} is {word}: {}", found.root, line(&found.reason)));
        let lists = [
            ("closed without success", &found.needs_work),
            ("accepted without a pass", &found.waived),
            ("given up", &found.given_up),
            ("expanded without children", &found.expanded_without_children),
            ("waiting for a human", &found.waiting_on_human),
            ("open below something closed", &found.open_below_closed),
        ];
        for (name, ids) in lists.iter().filter(|(_, ids)| !ids.is_empty()) {
            context.line(&format!("  {name}: {}", ids.join(" ")));
        }
        found.paused.iter().for_each(|pause| context.line(&format!("  {}", paused_line(pause))));
        for stuck in &found.stuck {
            context.line(&format!("  stuck: {}: {}", stuck.issue, line(&stuck.why)));
        }
    }
    if args.exit_status && !found.is_final {
        return waiting_code(&mut session, &found.root);
    }
    Ok(0)
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The issue's id or a unique prefix
    id: String,
}

pub fn explain(context: &Context, args: ExplainArgs) -> Result<u8, AppError> {
    let found = explaining::explain(&context.session()?, &args.id)?;
    if context.json() {
        context.print_json(&found)?;
    } else if found.ready {
        context.line(&format!("{} is ready", found.id));
    } else {
        context.line(&format!("{} is not ready:", found.id));
        for reason in &found.reasons {
            context.line(&format!("  {:<17} {}", reason.code, line(&reason.text)));
        }
    }
    Ok(0)
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// The issue's id or a unique prefix
    id: String,
    /// Only events after this number
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
    #[command(flatten)]
    rows: RowsArgs,
}

pub fn history(context: &Context, args: HistoryArgs) -> Result<u8, AppError> {
    let wanted = args.rows.wanted(context.json());
    print_events(context, &issues::history(&context.session()?, &args.id, args.after, wanted)?)
}
