//! `roundgate heartbeats run`: ticks what is due, sleeps until the next due time, and ends when asked.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::app::config::{self, Config};
use crate::app::heartbeats::{Beats, Happened, HappenedView, Lock, Pass, RETRY, Seen};
use crate::app::{AppError, Session, place};
use crate::cli::context::Context;
use crate::cli::notify::{after_last_tick, after_tick};
use crate::cli::output::{Failure, line, print_failure, with_causes, write_stderr};
use crate::cli::render::moment;
use crate::cli::signals::asked_to_end;
use crate::cli::tick::worse;
use crate::model::counted::counted;
use crate::model::issue::Millis;

/// How long a sleep is before the signals are looked at again.
const SLICE: Duration = Duration::from_millis(100);
/// How many slices pass before the store is asked for news.
const SLICES_FOR_NEWS: u32 = 10;

pub fn run(context: &Context, once: bool) -> Result<u8, AppError> {
    context.no_operation("heartbeats run ticks what is due, whenever it is called")?;
    let folder = context.store_folder()?;
    let database = place::database_number(&folder);
    let mut session = context.session_to_write()?;
    let _lock = Lock::take(&folder)?;
    let mut beats = Beats::new(Seen::load(&folder));
    if once {
        let pass = beats.pass(&mut session)?;
        beats.seen.save(&folder)?;
        let exit = told_once(context, &pass)?;
        return Ok(after_last_tick(context, &mut session)?.unwrap_or(exit));
    }
    let stop = asked_to_end()?;
    context.say("heartbeats run: started");
    let (unsaved, misconfigured) = (false, None);
    let mut clock = Daemon { context, folder: &folder, database, stop: &stop, beats, unsaved, misconfigured };
    clock.go_on(&mut session)?;
    context.say("heartbeats run: stopped");
    Ok(0)
}

/// Says what happened; the worst of what failed.
fn told_once(context: &Context, pass: &Pass) -> Result<u8, AppError> {
    report(context, pass)?;
    let failed = pass.happened.iter().filter_map(|view| match &view.happened {
        Happened::Failed { error } => Some(error.exit_code()),
        _ => None,
    });
    Ok(failed.fold(0, worse))
}

/// Each thing that happened, in a line or as an object.
fn report(context: &Context, pass: &Pass) -> Result<(), AppError> {
    for view in &pass.happened {
        if context.json() {
            context.print_json(view)?;
        } else {
            tell(view);
        }
    }
    Ok(())
}

/// One line.
fn tell(view: &HappenedView) {
    let what = match &view.happened {
        Happened::Ticked { tick } => {
            let transition = tick.transition.as_ref();
            let did = transition.map_or(String::new(), |t| format!("{} {}", t.kind, t.issue));
            format!("{did}; {}", tick.next)
        }
        Happened::Skipped { gap } => {
            let more = if gap.at_least { "at least " } else { "" };
            let times = counted(gap.count, "due time");
            format!("{more}{times} from {} to {}", moment(gap.first), moment(gap.last))
        }
        Happened::Over { why } => (*why).to_owned(),
        Happened::Stuck { why } => why.clone(),
        Happened::SetBack { from } => format!("due times count from {}", moment(*from)),
        Happened::Failed { error } => with_causes(error),
    };
    let word = view.happened.word();
    write_stderr(&format!("{word:<8} {} of {}: {}\n", view.heartbeat, view.root, line(&what)));
}

struct Daemon<'a> {
    context: &'a Context,
    folder: &'a Path,
    /// Which file was the database when this began.
    database: Option<(u64, u64)>,
    stop: &'a AtomicBool,
    beats: Beats,
    /// Whether the last file could not be written; said once.
    unsaved: bool,
    /// What is wrong with the configuration; said once.
    misconfigured: Option<String>,
}

impl Daemon<'_> {
    fn go_on(&mut self, session: &mut Session) -> Result<(), AppError> {
        while !self.stop.load(Ordering::Relaxed) {
            self.still_there()?;
            self.configure(session);
            let next = match self.beats.pass(session) {
                Ok(pass) => {
                    report(self.context, &pass)?;
                    if pass.ticks > 0 || !pass.happened.is_empty() {
                        self.save();
                    }
                    // Who goes on for weeks does not find out at the end that nothing was printed.
                    self.context.printed()?;
                    pass.next
                }
                Err(error) if error.retryable() => {
                    print_failure(&self.context.failure(&error), self.context.json());
                    Some(session.clock.now().saturating_add(RETRY))
                }
                Err(error) => return Err(error),
            };
            let sent = after_tick(self.context, session, &|| self.stop.load(Ordering::Relaxed));
            self.sleep(session, [next, sent.next_at].into_iter().flatten().min());
        }
        Ok(())
    }

    /// Whether the database is where it was: SQLite would go on in one that was moved away or deleted.
    fn still_there(&self) -> Result<(), AppError> {
        if self.moved() {
            // Opening says what is there instead; where that is another store, it wants another run.
            place::open(self.folder, &Config::default())?;
            return Err(AppError::DatabaseReplaced(self.folder.to_owned()));
        }
        Ok(())
    }

    fn moved(&self) -> bool {
        place::database_number(self.folder) != self.database
    }

    /// What the configuration says now, for this pass. Where it cannot be read, what it said before holds.
    fn configure(&mut self, session: &mut Session) {
        match config::load(self.folder) {
            Ok(config) => {
                session.config = config;
                self.misconfigured = None;
            }
            Err(error) => {
                let failure = self.context.failure(&error);
                if self.misconfigured.as_ref() != Some(&failure.message) {
                    let message = format!("{}; what it said before holds", failure.message);
                    self.misconfigured = Some(failure.message);
                    print_failure(&Failure { message, ..failure }, self.context.json());
                }
            }
        }
    }

    fn reconfigured(&self, session: &Session) -> bool {
        config::load(self.folder).is_ok_and(|config| config != session.config)
    }

    fn save(&mut self) {
        match self.beats.seen.save(self.folder) {
            Ok(()) => self.unsaved = false,
            Err(error) => {
                if !std::mem::replace(&mut self.unsaved, true) {
                    let failure = self.context.failure(&error);
                    let message = format!("idle ticks are not remembered: {}", failure.message);
                    print_failure(&Failure { message, ..failure }, self.context.json());
                }
            }
        }
    }

    /// Until something is due, somebody has written or configured something, or the process is asked to end. In slices, so that a
    /// machine that slept, or whose clock was set, is noticed.
    fn sleep(&self, session: &Session, next: Option<Millis>) {
        let started = session.clock.now();
        for slice in 1.. {
            std::thread::sleep(SLICE);
            let now = session.clock.now();
            let due = next.is_some_and(|next| next <= now) || now < started;
            // A store that cannot be asked is read whole, and then says what is wrong.
            let news = || {
                slice % SLICES_FOR_NEWS == 0
                    && (self.moved()
                        || self.reconfigured(session)
                        || self.beats.news(session).unwrap_or(true))
            };
            if due || self.stop.load(Ordering::Relaxed) || news() {
                return;
            }
        }
    }
}
