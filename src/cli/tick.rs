//! `roundgate tick`

use clap::{ArgGroup, Args};
use serde::Serialize;

use super::context::Context;
use super::notify::after_last_tick;
use super::output::{line, print_failure, write_stderr};
use crate::app::tick::{self, RootFailure, TickView};
use crate::app::{AppError, Changed, Session, beside};

/// `--exit-status`: not final, and workers must move.
const WORKERS: u8 = 10;
/// `--exit-status`: waiting for a human.
const HUMAN: u8 = 11;
/// `--exit-status`: stuck.
const STUCK: u8 = 12;

/// Lines to begin with.
const EXAMPLES: &str = r#"Examples:
  roundgate tick --root rg-jacz --exit-status
  roundgate tick --root rg-jacz --dry-run
  roundgate tick --all"#;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("which").required(true).args(["root", "all"])))]
pub struct TickArgs {
    /// The root's id or a unique prefix
    #[arg(long, value_name = "ID")]
    root: Option<String>,
    /// Each root that has a policy or a container still to move
    #[arg(long)]
    all: bool,
    /// Show the transition and its primitives, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Exit with 10, 11 or 12 when it is not final; with --all, when anything in the store is not
    #[arg(long)]
    exit_status: bool,
}

pub fn run(context: &Context, args: TickArgs) -> Result<u8, AppError> {
    if args.dry_run {
        return ticked(context, &mut context.session()?, &args);
    }
    let mut session = context.session_to_write()?;
    let exit = ticked(context, &mut session, &args)?;
    Ok(after_last_tick(context, &mut session)?.unwrap_or(exit))
}

fn ticked(context: &Context, session: &mut Session, args: &TickArgs) -> Result<u8, AppError> {
    let Some(root) = &args.root else {
        return all(context, session, args.dry_run, args.exit_status);
    };
    let view = tick::tick(session, root, args.dry_run)?;
    if context.json() {
        context.print_json(&view)?;
    } else {
        print(context, &view, args.dry_run);
    }
    Ok(if args.exit_status { code(&view) } else { 0 })
}

/// Every root; from a bare cron it says nothing when nothing happened.
fn all(context: &Context, session: &mut Session, dry_run: bool, exit_status: bool) -> Result<u8, AppError> {
    let (views, failures) = tick::tick_all(session, dry_run)?;
    if context.json() {
        context.print_json(&views)?;
    } else {
        for view in &views {
            if view.skipped.is_some() {
                continue;
            }
            if view.decision == "act" {
                print(context, view, dry_run);
            } else if view.decision == "stuck" {
                write_stderr(&format!("{}: {}\n", view.root, line(&view.next)));
            }
        }
    }
    let ticked = views.iter().map(|view| view.root.clone());
    let ticked = ticked.chain(failures.iter().map(|failed| failed.root.to_string())).collect();
    let mut exit = failed(context, failures);
    if exit_status {
        // Also what no tick has anything to do for: work without a policy, and what failed or was left open.
        let (others, further) = beside::waiting(session, &ticked)?;
        exit = worse(exit, failed(context, further));
        exit = views.iter().chain(&others).map(code).fold(exit, worse);
    }
    Ok(exit)
}

/// Prints what failed; the worst exit code.
fn failed(context: &Context, failures: Vec<RootFailure>) -> u8 {
    let exits = failures.into_iter().map(|failed| {
        let mut failure = context.failure(&failed.error);
        failure.message = format!("{}: {}", failed.root, failure.message);
        print_failure(&failure, context.json());
        failure.exit
    });
    exits.fold(0, worse)
}

/// The exit code of several things that went wrong: the first in this list of those there are. Damage
/// before faults of the program, before what somebody must change, before what may mend itself; errors
/// before what `--exit-status` says.
const WORST_FIRST: [u8; 11] = [7, 1, 5, 4, 3, 2, 6, STUCK, HUMAN, WORKERS, 0];

/// The worse of two exit codes.
pub fn worse(a: u8, b: u8) -> u8 {
    let rank = |code: u8| WORST_FIRST.iter().position(|&listed| listed == code);
    if rank(a) <= rank(b) { a } else { b }
}

fn code(view: &TickView) -> u8 {
    let human = view.waiting_on.as_ref().is_some_and(|waiting| waiting.actor == "human");
    match view.decision.as_ref() {
        _ if view.r#final => 0,
        "done" => 0,
        "stuck" => STUCK,
        _ if view.state.as_deref() == Some("stuck") => STUCK,
        _ if human => HUMAN,
        _ => WORKERS,
    }
}

/// The code that `--exit-status` gives a root that is not final.
pub fn waiting_code(session: &mut Session, root: &str) -> Result<u8, AppError> {
    Ok(code(&tick::tick(session, root, true)?).max(WORKERS))
}

/// The result of an act and of the tick behind it, as programs read them.
#[derive(Serialize)]
struct ActedAndTicked<'a, T> {
    #[serde(flatten)]
    act: &'a T,
    tick: TickView,
}

/// Shows what an act did, and ticks at once (`--tick`). Programs get one object with the act's result and
/// the tick in it; for people the tick's report goes to stderr, since stdout has the result.
pub fn show_and_tick<T: Serialize>(
    context: &Context,
    session: &mut Session,
    done: &Changed<T>,
    id: &str,
    show: impl Fn(&Context, &Changed<T>) -> Result<u8, AppError>,
) -> Result<u8, AppError> {
    if !context.json() {
        show(context, done)?;
    }
    match tick::tick(session, id, false) {
        Ok(tick) if context.json() => {
            context.print_changed(&ActedAndTicked { act: &done.value, tick }, done.changed)?;
        }
        Ok(tick) => {
            let did = tick.transition.as_ref().map_or("no transition", |transition| &*transition.kind);
            context.say(&format!("ticked {}: {did}; {}", tick.root, line(&tick.next)));
        }
        Err(error) => {
            // The act stands, whatever became of the tick.
            if context.json() {
                show(context, done)?;
            }
            return Err(error);
        }
    }
    Ok(after_last_tick(context, session)?.unwrap_or(0))
}

fn print(context: &Context, view: &TickView, dry_run: bool) {
    match &view.transition {
        Some(transition) => {
            let would = if dry_run { "would apply" } else { "applied" };
            context.line(&format!("{}: {would} {} on {}", view.root, transition.kind, transition.issue));
            for primitive in view.primitives.iter().filter(|_| dry_run) {
                context.line(&format!("  {:<11} {}", primitive.primitive, line(&primitive.text)));
            }
        }
        None if view.paused.is_some() => context.line(&format!("{}: paused", view.root)),
        None => context.line(&format!("{}: {}", view.root, view.decision)),
    }
    if let (Some(state), Some(round), Some(max)) = (&view.state, view.round, view.max_rounds) {
        context.line(&format!("  round {round}/{max} {state}"));
    }
    if !dry_run || view.transition.is_none() {
        context.line(&format!("  next: {}", line(&view.next)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_exit_code_wins_whatever_came_last() {
        for (codes, worst) in [
            (vec![6, 1, 5], 1),
            (vec![1, 7, 4], 7),
            (vec![11, 6], 6),
            (vec![10, 12, 11], 12),
            (vec![0, 10, 0], 10),
            (vec![], 0),
        ] {
            assert_eq!(codes.iter().copied().fold(0, worse), worst, "{codes:?}");
            assert_eq!(codes.iter().rev().copied().fold(0, worse), worst, "{codes:?}");
        }
    }
}
