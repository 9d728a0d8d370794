//! What every command has: the global flags, the session they name, and how to print.

use std::cell::RefCell;
use std::env::VarError;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::command_line::{CommandLine, Program};
use super::output::{self, Failure};
use crate::app::ambient::{Clock, Ids};
use crate::app::config::Config;
use crate::app::operation::{Ongoing, Request};
use crate::app::{AppError, Session, config, place};
use crate::model::id::Actor;
use crate::model::operation::OperationId;
use crate::store::Store;

/// What help calls the flags that every command takes, so that they stand apart from a command's own.
const GLOBAL: &str = "With every command";

/// The global arguments that an environment variable can give, with its name.
pub const GLOBAL_VARIABLES: [(&str, &str); 3] =
    [("store", "ROUNDGATE_STORE"), ("actor", "ROUNDGATE_ACTOR"), ("operation", "ROUNDGATE_OPERATION")];

/// Flags that every command takes.
#[derive(Debug, Clone, Args)]
pub struct GlobalArgs {
    /// The store's folder; otherwise the nearest .roundgate at or above the current folder
    #[arg(long, global = true, help_heading = GLOBAL, env = "ROUNDGATE_STORE", value_name = "FOLDER")]
    pub store: Option<PathBuf>,
    /// Who acts; otherwise LOGNAME or USER
    #[arg(long = "as", global = true, help_heading = GLOBAL, env = "ROUNDGATE_ACTOR", value_name = "ACTOR")]
    pub actor: Option<String>,
    /// Names this call: a retry with the same name applies once, and prints what the first did
    #[arg(long, global = true, help_heading = GLOBAL, env = "ROUNDGATE_OPERATION", value_name = "ID")]
    pub operation: Option<OperationId>,
    /// Print JSON, whole and nothing else
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub json: bool,
    /// Indent the JSON
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub pretty: bool,
}

/// The result of an act, as programs read it.
#[derive(Serialize)]
struct Acted<'a, T> {
    #[serde(flatten)]
    value: &'a T,
    changed: bool,
}

/// The surroundings of one command.
pub struct Context {
    global: GlobalArgs,
    /// What this program is called as, in the lines that people are to go on with.
    program: Program,
    /// What is asked for, as far as it is known.
    request: RefCell<Request>,
    /// Why stdout takes no more, once it does not; then nothing more is printed.
    closed: RefCell<Option<std::io::Error>>,
}

impl Context {
    pub fn new(global: GlobalArgs, program: Program) -> Self {
        Context { global, program, request: RefCell::default(), closed: RefCell::new(None) }
    }

    pub fn json(&self) -> bool {
        self.global.json
    }

    /// A command for a person to go on with, its words as they stand.
    pub fn call(&self, words: &str) -> CommandLine {
        self.program.line(words)
    }

    /// A command that the store remembers, for a person to go on with.
    pub fn remembered(&self, text: &str) -> String {
        self.program.remembered(text)
    }

    /// An error on its way out.
    pub fn failure(&self, error: &AppError) -> Failure {
        Failure::of(error, &self.program)
    }

    /// The folder the command was called in.
    pub fn cwd(&self) -> Result<PathBuf, AppError> {
        std::env::current_dir()
            .map_err(|source| AppError::File { what: "find the current folder".to_owned(), source })
    }

    /// The store that the flags or the current folder name.
    pub fn store_folder(&self) -> Result<PathBuf, AppError> {
        let cwd = self.cwd()?;
        let folder = place::find(&cwd, self.global.store.as_deref())?;
        if self.global.store.is_none() && folder.parent().is_some_and(|above| !cwd.starts_with(above)) {
            self.say(&format!("the store is {}, of the main worktree", folder.display()));
        }
        Ok(folder)
    }

    /// The store that `init` makes: the named one, or `.roundgate` here.
    pub fn new_store_folder(&self) -> Result<PathBuf, AppError> {
        match &self.global.store {
            Some(named) => Ok(named.clone()),
            None => Ok(self.cwd()?.join(place::FOLDER)),
        }
    }

    /// Whether a store was found above the current folder, and not named: then it may not be the one that is
    /// meant.
    pub fn is_above(&self, folder: &Path) -> Result<bool, AppError> {
        Ok(self.global.store.is_none() && self.cwd()?.join(place::FOLDER) != folder)
    }

    /// A session at the store.
    pub fn session(&self) -> Result<Session, AppError> {
        self.session_in(&self.store_folder()?)
    }

    /// A session at the store in a folder.
    pub fn session_in(&self, folder: &Path) -> Result<Session, AppError> {
        let config = config::load(folder)?;
        self.session_at(place::open(folder, &config)?, config)
    }

    /// A session at the store for a command that writes, also where it reads first: a store that an older
    /// program left is brought up to date.
    pub fn session_to_write(&self) -> Result<Session, AppError> {
        let mut session = self.session()?;
        session.bring_up_to_date()?;
        self.begin_operation(&mut session);
        Ok(session)
    }

    /// Adds to what is asked for: the command, and what the files say that it names. To be called before
    /// the session to write begins.
    pub fn asks_for(&self, part: &[u8]) {
        self.request.borrow_mut().add(part);
    }

    /// What the session changes belongs to the operation that the flags name.
    pub fn begin_operation(&self, session: &mut Session) {
        let id = self.global.operation.clone();
        session.operation = id.map(|id| Ongoing::new(id, self.request.borrow().digest(&session.actor)));
    }

    /// Refuses `--operation` for a command that is no single act.
    pub fn no_operation(&self, why: &str) -> Result<(), AppError> {
        match &self.global.operation {
            Some(_) => {
                Err(AppError::Usage(format!("--operation (ROUNDGATE_OPERATION) does not go here: {why}")))
            }
            None => Ok(()),
        }
    }

    /// A session at a store that is open already.
    pub fn session_at(&self, store: impl Store + 'static, config: Config) -> Result<Session, AppError> {
        Ok(Session {
            store: Box::new(store),
            clock: clock()?,
            ids: Ids::new(number("ROUNDGATE_SEED")?),
            actor: self.actor()?,
            config,
            operation: None,
        })
    }

    /// Where the time comes from.
    pub fn clock(&self) -> Result<Clock, AppError> {
        clock()
    }

    /// Who acts: `--as`, `ROUNDGATE_ACTOR`, the login name, else `uid:N`.
    pub fn actor(&self) -> Result<Actor, AppError> {
        if let Some(named) = &self.global.actor {
            return named_actor(named);
        }
        // A user of the system may well have the engine's name, and is told from it by number.
        let login = ["LOGNAME", "USER"].iter().find_map(|name| named_actor(&std::env::var(name).ok()?).ok());
        login.map_or_else(|| named_actor(&format!("uid:{}", rustix::process::getuid().as_raw())), Ok)
    }

    /// Prints a result for programs.
    pub fn print_json<T: Serialize>(&self, value: &T) -> Result<(), AppError> {
        let text = if self.global.pretty {
            serde_json::to_string_pretty(value)
        } else {
            serde_json::to_string(value)
        };
        let text = text.map_err(|error| AppError::Usage(format!("cannot be written as JSON: {error}")))?;
        self.write(&format!("{}\n", output::json(&text)));
        Ok(())
    }

    /// Prints what an act made for programs, and whether it changed anything.
    pub fn print_changed<T: Serialize>(&self, value: &T, changed: bool) -> Result<(), AppError> {
        self.print_json(&Acted { value, changed })
    }

    /// Prints to stdout for people: whatever is in the text, no terminal obeys it.
    pub fn print(&self, text: &str) {
        self.write(&output::multiline(text));
    }

    fn write(&self, text: &str) {
        let mut closed = self.closed.borrow_mut();
        if closed.is_none() {
            *closed = output::write_stdout(text).err();
        }
    }

    /// Whether everything was printed. A reader who left, as `head` does, has what it wanted; a full disk
    /// has not.
    pub fn printed(&self) -> Result<(), AppError> {
        match self.closed.take() {
            Some(source) if source.kind() != ErrorKind::BrokenPipe => Err(AppError::Unprinted(source)),
            _ => Ok(()),
        }
    }

    /// Prints a line to stdout.
    pub fn line(&self, text: &str) {
        self.print(&format!("{text}\n"));
    }

    /// Says something beside the result: to stderr, and not when a program reads.
    pub fn say(&self, text: &str) {
        if !self.global.json {
            output::write_stderr(&format!("{}\n", output::multiline(text)));
        }
    }
}

/// Who acts, by name. Nobody acts as the engine.
pub fn named_actor(text: &str) -> Result<Actor, AppError> {
    let actor = text
        .parse::<Actor>()
        .map_err(|source| AppError::BadActor { text: text.chars().take(60).collect(), source })?;
    if actor == Actor::engine() {
        return Err(AppError::Usage(format!(
            "{actor} is what the log calls the engine itself; act under another name"
        )));
    }
    Ok(actor)
}

fn number(name: &str) -> Result<Option<u64>, AppError> {
    match std::env::var(name) {
        Err(VarError::NotPresent) => Ok(None),
        Ok(text) if text.is_empty() => Ok(None),
        Err(VarError::NotUnicode(text)) => {
            Err(AppError::Usage(format!("{name} must be a whole number, not {text:?}")))
        }
        Ok(text) => text
            .parse()
            .map(Some)
            .map_err(|_| AppError::Usage(format!("{name} must be a whole number, not {text:?}"))),
    }
}

fn clock() -> Result<Clock, AppError> {
    let Some(at) = number("ROUNDGATE_NOW")? else { return Ok(Clock::Machine) };
    let at = i64::try_from(at).map_err(|_| AppError::Usage(format!("ROUNDGATE_NOW is too large: {at}")))?;
    Ok(Clock::Frozen(at))
}
