//! `roundgate pause` and `roundgate resume`

use clap::Args;

use super::context::Context;
use super::output::line;
use super::render::moment;
use crate::app::pause::{self, PauseView, ScopeView};
use crate::app::{AppError, Changed};

#[derive(Debug, Args)]
pub struct PauseArgs {
    /// The root, the scope or any other issue: its id or a unique prefix
    scope: String,
    /// Why
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: String,
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// What was paused: its id or a unique prefix
    scope: String,
}

/// Who paused what, since when and why, in a line.
pub fn paused_line(pause: &PauseView) -> String {
    let PauseView { scope, by, at, reason } = pause;
    format!("{scope} is paused by {by} since {}: {}", moment(*at), line(reason))
}

pub fn pause(context: &Context, args: PauseArgs) -> Result<u8, AppError> {
    let done = pause::pause(&mut context.session_to_write()?, &args.scope, &args.reason)?;
    changed(context, "paused", &done)?;
    if !context.json() {
        let view = &done.value;
        if let Some(first) = view.paused.as_ref().filter(|_| !done.changed) {
            context.line(&format!("  {}", paused_line(first)));
        }
        if !view.held.is_empty() {
            context.say(&format!("what is held may be finished: {}", view.held.join(" ")));
        }
    }
    Ok(0)
}

pub fn resume(context: &Context, args: ResumeArgs) -> Result<u8, AppError> {
    let done = pause::resume(&mut context.session_to_write()?, &args.scope)?;
    changed(context, "resumed", &done)?;
    if !context.json() {
        done.value.paused_above.iter().for_each(|above| context.line(&format!("  {}", paused_line(above))));
    }
    Ok(0)
}

fn changed(context: &Context, verb: &str, done: &Changed<ScopeView>) -> Result<(), AppError> {
    if context.json() {
        return context.print_changed(&done.value, done.changed);
    }
    let verb = if done.changed { verb } else { "unchanged" };
    context.line(&format!("{verb} {}  {}", done.value.scope, line(&done.value.title)));
    Ok(())
}
