//! `roundgate run`

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::{ArgGroup, Args};
use serde_json::json;

use super::context::Context;
use super::output::{line, multiline, write_stderr};
use super::plan::{Opened, session_or_new};
use super::signals::{STOPPED, asked_to_end, or_stopped};
use crate::app::run::{End, Progress, Supervisor, check_workers, supervise};
use crate::app::validate::validate;
use crate::app::{AppError, asks, plan, resolve_root};

/// Lines to begin with.
const EXAMPLES: &str = r#"Examples:
  roundgate run plan.toml
  roundgate run --root rg-6xqc"#;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("which").required(true).args(["plan", "root"])))]
pub struct RunArgs {
    /// The plan (TOML)
    plan: Option<PathBuf>,
    /// The root of a plan that was applied before, or an issue below it
    #[arg(long, value_name = "ID")]
    root: Option<String>,
}

pub fn run(context: &Context, args: RunArgs) -> Result<u8, AppError> {
    context.no_operation("run goes on where it stopped, whenever it is called")?;
    let cwd = context.cwd()?;
    let (folder, mut session, root) = match (&args.plan, &args.root) {
        (Some(file), _) => {
            let plan = plan::read(file)?;
            if let Some((goal, role)) = plan.unstaffed() {
                return Err(AppError::Usage(format!(
                    "goal \"{goal}\" wants the worker {role}, and the plan has no [workers.{role}] for a run to start"
                )));
            }
            check_workers(&plan.workers(), &plan.folder, &cwd)?;
            let Opened { mut session, folder, .. } = session_or_new(context)?;
            let report = plan::apply(&mut session, &plan)?.value;
            (folder, session, report.root)
        }
        (None, root) => {
            let folder = context.store_folder()?;
            (folder, context.session_to_write()?, root.clone().unwrap_or_default())
        }
    };
    let (root, applied) = session.look(|snapshot| {
        let root = resolve_root(snapshot, &root)?;
        let applied = snapshot.plan(&root).cloned();
        Ok((root, applied))
    })?;
    if let Some(plan) = applied {
        check_workers(&plan.workers, &plan.folder, &cwd)?;
    }
    let interrupted = asked_to_end()?;
    let mut screen = Screen::new(context.json());
    let asked = || interrupted.load(Ordering::Relaxed);
    let store = std::path::absolute(&folder)
        .map_err(|source| AppError::File { what: format!("find {}", folder.display()), source })?;
    let supervisor = Supervisor { root, cwd, store, interrupted: &asked };
    let ended = supervise(&mut session, &supervisor, &mut |progress| screen.show(&progress));
    screen.clear();
    let (end, view) = or_stopped(ended, &interrupted)?;
    let (word, code) = match end {
        End::Final => ("final", 0),
        End::Human if view.paused.is_some() => ("paused", 11),
        End::Human => ("waiting for a human", 11),
        End::Stuck => ("stuck", 12),
        End::Interrupted => ("stopped", STOPPED),
    };
    if context.json() {
        context
            .print_json(&json!({ "root": view.root, "end": word, "next": view.next, "exit_code": code }))?;
        return Ok(code);
    }
    context.line(&format!("{} is {word}", view.root));
    match end {
        End::Final => {
            let found = validate(&session, &view.root)?;
            let lists = [("accepted without a pass", found.waived), ("given up", found.given_up)];
            for (what, ids) in lists.iter().filter(|(_, ids)| !ids.is_empty()) {
                context.line(&format!("  {what}: {}", ids.join(" ")));
            }
        }
        End::Human => {
            context.line(&format!("  {}", line(&view.next)));
            if let Some(paused) = &view.paused {
                context.line(&format!("  {}", context.call("resume").arg(&paused.scope)));
            }
            let mut asked = asks::list(&session, Some(&view.root), &[], false)?;
            if let (true, Some(waiting)) = (asked.is_empty(), &view.waiting_on) {
                // Who is asked may be asked in another tree.
                asked = asks::list(&session, Some(&waiting.issue), &[], false)?;
                if asked.is_empty() {
                    context.line(&format!("  {}", context.call("issues explain").arg(&waiting.issue)));
                }
            }
            for ask in &asked {
                context.line(&format!("  {}", context.call("asks show").arg(&ask.id)));
            }
        }
        End::Stuck => context.line(&format!("  {}", line(&view.next))),
        End::Interrupted => {
            context.line(&format!("  {} goes on", context.call("run --root").arg(&view.root)));
        }
    }
    Ok(code)
}

/// Progress on stderr: a line a step, and on a terminal a live line for the worker at work.
struct Screen {
    quiet: bool,
    live: bool,
    drawn: bool,
    waited: bool,
}

impl Screen {
    fn new(quiet: bool) -> Self {
        Screen { quiet, live: std::io::stderr().is_terminal(), drawn: false, waited: false }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            write_stderr("\r\u{1b}[K");
        }
    }

    fn say(&mut self, text: &str) {
        self.clear();
        write_stderr(&format!("{}\n", multiline(text)));
    }

    fn show(&mut self, progress: &Progress<'_>) {
        if self.quiet {
            return;
        }
        if !matches!(progress, Progress::WaitingForOthers { .. }) {
            self.waited = false;
        }
        match progress {
            Progress::Ticked(view) => {
                let transition = view.transition.as_ref();
                let (kind, issue) =
                    transition.map_or(("", ""), |transition| (&*transition.kind, transition.issue.as_str()));
                self.say(&format!("tick     {kind} {issue}"));
            }
            Progress::Started { issue, title, role, round } => {
                let round = round.map_or(String::new(), |(k, max)| format!(" (round {k} of {max})"));
                self.say(&format!("{:<8} {issue} {}{round}", role.as_str(), line(title)));
            }
            Progress::Working { issue, role, elapsed } if self.live => {
                self.drawn = true;
                let text = format!("\r\u{1b}[K  {} {issue} at work for {}", role.as_str(), seconds(*elapsed));
                write_stderr(&text);
            }
            Progress::Working { .. } => {}
            Progress::Ended { issue, role, end } => {
                let why = first_line(&end.why);
                self.say(&format!("{:<8} {issue} {}{why}", role.as_str(), end.word));
            }
            Progress::TakenBack { issue } => {
                self.say(&format!("reclaim  {issue}: the runner that held it is gone"));
            }
            Progress::LeftBehind { issue, pid } => {
                self.say(&format!("ended    {issue}: process {pid}, left behind by a runner that is gone"));
            }
            Progress::NotTold { why } => self.say(&format!("notify   not delivered: {}", line(why))),
            Progress::WaitingForOthers { held, next } => {
                if !std::mem::replace(&mut self.waited, true) {
                    self.say(&match held {
                        Some(issue) => format!("waiting  others hold what is left, first {issue}"),
                        None => format!("waiting  it {}", line(next)),
                    });
                }
            }
        }
    }
}

fn seconds(elapsed: Duration) -> String {
    format!("{}s", elapsed.as_secs())
}

/// The first line; with it the last of what it announces, as of what a worker printed.
fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    match lines.next_back().filter(|_| first.ends_with(':')) {
        _ if first.is_empty() => String::new(),
        Some(last) => format!(": {} {}", line(first), line(last.trim_start())),
        None => format!(": {}", line(first)),
    }
}

#[cfg(test)]
mod tests {
    use super::first_line;

    #[test]
    fn a_line_that_announces_more_is_followed_by_the_last_of_it() {
        assert_eq!(first_line(""), "");
        assert_eq!(first_line("done: all of it\nsecond"), ": done: all of it");
        assert_eq!(
            first_line("its stderr ended with:\nwarning\n  no such file\n\n"),
            ": its stderr ended with: no such file"
        );
        assert_eq!(first_line("nothing follows:"), ": nothing follows:");
    }
}
