//! Work to be interrupted: one change after the other through the use cases of the program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use roundgate::app::ambient::{Clock, Ids};
use roundgate::app::config::Config;
use roundgate::app::issues::{self, Claiming, CloseWish, DepKind};
use roundgate::app::{AppError, Session, forum, rounds, tick};
use roundgate::model::act::create::NewIssue;
use roundgate::model::change::Event;
use roundgate::model::issue::Policy;
use roundgate::model::record::Opinion;
use roundgate::store::sqlite::{Options, Sqlite, Synchronous};
use roundgate::store::{EventQuery, Store};

use crate::disk::Recorder;

/// The moment at which everything happens.
const NOW: i64 = 1_796_000_000_000;

/// A day's work at a store, which is written down as it happens.
pub struct Day {
    pub folder: PathBuf,
    recorder: Arc<Recorder>,
    synchronous: Synchronous,
    session: Session,
    /// The last event there was, and the last of each transaction since.
    pub ends: Vec<u64>,
}

/// A session at a store.
pub fn session(folder: &Path, synchronous: Synchronous) -> Result<Session, AppError> {
    let store = Sqlite::open_with(folder, &Options { synchronous, ..Options::default() })?;
    Ok(Session {
        store: Box::new(store),
        clock: Clock::Frozen(NOW),
        ids: Ids::new(Some(7)),
        actor: "ann".parse().unwrap(),
        config: Config::default(),
        operation: None,
    })
}

/// A new issue with this title.
pub fn titled(title: &str) -> NewIssue {
    NewIssue { title: title.to_owned(), ..NewIssue::default() }
}

/// Every event of a store.
pub fn events(folder: &Path) -> Vec<Event> {
    Sqlite::open(folder).unwrap().events(&EventQuery::default()).unwrap()
}

/// The number of a store's last event.
fn last(session: &Session) -> u64 {
    let last = EventQuery { last: Some(1), ..EventQuery::default() };
    session.store.events(&last).unwrap().first().map_or(0, |event| event.seq)
}

impl Day {
    pub fn new(folder: &Path, recorder: &Arc<Recorder>, synchronous: Synchronous) -> Day {
        let session = session(folder, synchronous).unwrap();
        let (recorder, start) = (Arc::clone(recorder), last(&session));
        Day { folder: folder.to_owned(), recorder, synchronous, session, ends: vec![start] }
    }

    /// One change, and the acknowledgement of it.
    fn make<T>(&mut self, change: impl FnOnce(&mut Session) -> Result<T, AppError>) -> T {
        let made = change(&mut self.session).unwrap();
        let end = last(&self.session);
        self.recorder.acknowledged(&self.folder, end);
        self.ends.push(end);
        made
    }

    fn create(&mut self, title: &str, parent: Option<&str>) -> String {
        self.make(|session| issues::create(session, titled(title), parent)).value.id
    }

    fn post(&mut self, body: &str) {
        self.make(|session| forum::post(session, "talk", body));
    }

    fn tick(&mut self, root: &str) {
        self.make(|session| tick::tick(session, root, false));
    }

    /// Goes away and comes back: the last one out folds the log into the database.
    pub fn reopen(&mut self) {
        let elsewhere = tempfile::tempdir().unwrap();
        let folder = elsewhere.path().join("store");
        drop(Sqlite::init(&folder).unwrap());
        // The old one is closed before the new one is opened.
        self.session = session(&folder, self.synchronous).unwrap();
        self.session = session(&self.folder, self.synchronous).unwrap();
    }

    /// A failed round, a passed one, and the end of a root.
    pub fn review(&mut self) {
        let root = self.create("The root", None);
        let scope = self.create("The scope", Some(&root));
        let opened = self.make(|session| rounds::open(session, &scope, Policy::default())).value;
        let mut round = opened.rounds[0].clone();
        for opinion in [Opinion::NeedsWork, Opinion::Pass] {
            let attempt = round.attempt.clone();
            self.make(|session| issues::claim(session, &attempt, &Claiming::default()));
            self.make(|session| issues::close(session, &attempt, &CloseWish::default()));
            let (author, review) = (self.session.actor.clone(), round.review.clone());
            self.session.actor = "bob".parse().unwrap();
            self.make(|session| rounds::judge(session, &review, opinion, "as it should be", &[]));
            self.session.actor = author;
            self.tick(&root);
            round = rounds::show(&self.session, &scope).unwrap().rounds.last().unwrap().clone();
        }
        self.tick(&root);
    }

    /// Small changes of several sorts.
    pub fn chores(&mut self, name: &str) {
        let first = self.create(&format!("{name}, first"), None);
        let second = self.create(&format!("{name}, second"), None);
        self.make(|session| issues::dep(session, &first, DepKind::Blocks, &second));
        self.post(&format!("A word about {name}. {}", "And more. ".repeat(name.len() * 40)));
        self.make(|session| issues::claim(session, &first, &Claiming::default()));
        self.make(|session| issues::close(session, &first, &CloseWish::default()));
        self.make(|session| issues::undep(session, &first, DepKind::Blocks, &second));
    }

    /// So much that the log is folded in while others read, and begun anew.
    pub fn flood(&mut self) {
        for n in 0..18 {
            self.post(&format!("{n}: {}", "a long text, ".repeat(25_000)));
            self.chores("between");
        }
    }

    /// A whole day: everybody leaves in between, or somebody stays who only reads.
    pub fn work(&mut self) {
        self.chores("early");
        self.review();
        self.reopen();
        self.chores("late");
        let reader = Sqlite::open(&self.folder).unwrap();
        self.reopen();
        self.chores("watched");
        self.reopen();
        self.review();
        drop(reader);
        self.reopen();
        self.chores("last");
    }
}
