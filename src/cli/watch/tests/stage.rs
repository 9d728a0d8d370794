//! Stores to look at, worked on through the use cases at a frozen moment.

use std::path::Path;

use super::View;
use crate::app::ambient::{Clock, Ids};
use crate::app::asks::{self, AnswerWish};
use crate::app::config::Config;
use crate::app::issues::{self, Claiming, CloseWish, Filter};
use crate::app::view::AskView;
use crate::app::watch::{self, Overview, Wanted};
use crate::app::{AppError, Changed, Session, rounds, tick};
use crate::model::act::claim::Role;
use crate::model::act::create::NewIssue;
use crate::model::issue::{Millis, Policy, Priority};
use crate::model::record::Opinion;
use crate::model::tag::{Tag, Tags};
use crate::store::Store;
use crate::store::memory::Memory;
use crate::store::sqlite::Sqlite;

/// 2026-11-30 00:53:20 UTC.
pub const NOW: Millis = 1_796_000_000_000;

/// Everything that a terminal must not obey: escapes, bells, marks that turn the line around.
pub const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{202e}cod\u{2066}\u{200f}\u{feff}\r世界";

pub struct Stage {
    session: Session,
}

impl Stage {
    pub fn new() -> Stage {
        Stage::over(Memory::new())
    }

    fn over(store: impl Store + 'static) -> Stage {
        let (clock, ids, actor) = (Clock::Frozen(NOW), Ids::new(Some(7)), "ann".parse().unwrap());
        let session =
            Session { store: Box::new(store), clock, ids, actor, config: Config::default(), operation: None };
        Stage { session }
    }

    pub fn worked() -> Stage {
        Stage::new().work("Ship the tools", "Write the lexer", "strings with escapes are split in two")
    }

    pub fn worked_in(folder: &Path) -> Stage {
        let store = Sqlite::init(&folder.join("store")).unwrap();
        Stage::over(store).work("Ship the tools", "Write the lexer", "strings with escapes are split in two")
    }

    pub fn hostile() -> Stage {
        Stage::new().work(HOSTILE.trim_end_matches('\r'), HOSTILE, &format!("{HOSTILE}\nmore {HOSTILE}"))
    }

    /// Two roots: one with a scope that has used up its two rounds and one in its first, and work beside
    /// them; one that only waits.
    fn work(mut self, root: &str, scope: &str, notes: &str) -> Stage {
        let tags = Tags::from_iter(["kind:root", "proto:hierarchical-work-v1"].map(Tag::known));
        let root = self.made(NewIssue { title: safe(root), tags, ..NewIssue::default() }, None);
        let lexer = self.made(titled(&safe(scope)), Some(&root));
        let policy = Policy { max_review_rounds: Some(2), no_progress: Some(0), ..Policy::default() };
        rounds::open(&mut self.session, &lexer, policy).unwrap();
        for _ in 0..2 {
            let attempt = self.claimed("ann", Some(Role::Attempt));
            issues::close(&mut self.session, &attempt, &CloseWish::default()).unwrap();
            let review = self.ready(Some(Role::Review));
            self.session.actor = "bob".parse().unwrap();
            rounds::judge(&mut self.session, &review, Opinion::NeedsWork, notes, &[]).unwrap();
            self.tick();
        }
        self.session.actor = "ann".parse().unwrap();
        let parser = self.made(titled("Write the parser"), Some(&root));
        rounds::open(&mut self.session, &parser, Policy::default()).unwrap();
        self.claimed("ann", Some(Role::Attempt));
        self.made(
            NewIssue { priority: Priority::try_from(2).unwrap(), ..titled("Write the parser's manual") },
            Some(&root),
        );
        self.create("Mend the build", 1);
        self.claimed("carol", None);
        self.session.actor = "ann".parse().unwrap();
        self
    }

    fn made(&mut self, new: NewIssue, parent: Option<&str>) -> String {
        issues::create(&mut self.session, new, parent).unwrap().value.id
    }

    pub fn create(&mut self, title: &str, priority: u8) {
        self.made(NewIssue { priority: Priority::try_from(priority).unwrap(), ..titled(title) }, None);
    }

    fn claimed(&mut self, actor: &str, role: Option<Role>) -> String {
        self.session.actor = actor.parse().unwrap();
        let filter = Filter { role, ..Filter::default() };
        issues::claim_next(&mut self.session, &filter, &Claiming::default()).unwrap().value.id
    }

    fn ready(&self, role: Option<Role>) -> String {
        let filter = Filter { role, ..Filter::default() };
        issues::ready(&self.session, &filter).unwrap().rows.remove(0).issue.id
    }

    pub fn tick(&mut self) {
        tick::tick_all(&mut self.session, false).unwrap();
    }

    pub fn answer(&mut self, actor: &str, ask: &str, choice: &str) -> Result<Changed<AskView>, AppError> {
        self.session.actor = actor.parse().unwrap();
        let wish = AnswerWish { choice: choice.to_owned(), ..AnswerWish::default() };
        asks::answer(&mut self.session, ask, wish)
    }

    pub fn overview(&self, wanted: &Wanted) -> Overview {
        watch::load(&self.session, wanted).unwrap()
    }

    pub fn view(&self) -> View {
        View::new(self.overview(&Wanted::default()), "ann".to_owned(), None, true)
    }
}

fn titled(title: &str) -> NewIssue {
    NewIssue { title: title.to_owned(), ..NewIssue::default() }
}

/// A title is one line.
fn safe(title: &str) -> String {
    title.replace(['\r', '\n'], " ")
}
