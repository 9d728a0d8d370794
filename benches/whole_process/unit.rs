//! A piece of work, played once through the real use cases in a store in memory, and then written as
//! often as wanted under other ids. So a large store holds the same facts that real work leaves behind.

use std::error::Error;

use roundgate::app::ambient::{Clock, Ids};
use roundgate::app::config::Config;
use roundgate::app::issues::{self, Claiming, CloseWish, DepKind};
use roundgate::app::{Session, rounds, tick};
use roundgate::model::act::create::NewIssue;
use roundgate::model::change::Event;
use roundgate::model::issue::{Millis, Outcome, Policy, Work};
use roundgate::model::record::Opinion;
use roundgate::model::tag::{FLOW_REVIEW_GATED, Kind, PROTOCOL, Tag, Tags};
use roundgate::store::memory::Memory;
use roundgate::store::{EventQuery, Revision, Store};

/// When the work of every store was done: 2026-01-01.
pub const PLAYED_AT: Millis = 1_767_225_600_000;

/// What issues say: about as much as a person writes.
pub const BODY: &str = "Read the notes of the earlier rounds first. Keep the change small, say what was \
                        measured and how, and leave the checks of the neighbours as they are.";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A text between ids, or the n-th id.
enum Part {
    Text(String),
    Id(usize),
}

/// The events of a piece of work, with places for its ids.
pub struct Unit {
    parts: Vec<Part>,
    names: Vec<String>,
}

impl Unit {
    /// How many issues it has.
    pub fn issues(&self) -> usize {
        self.names.len()
    }

    /// The events once more, with these ids, after a revision.
    pub fn events_as(&self, ids: &[String], after: Revision) -> Result<Vec<Event>> {
        let texts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Id(place) => ids[*place].as_str(),
        });
        let mut events: Vec<Event> = serde_json::from_str(&texts.collect::<String>())?;
        for event in &mut events {
            event.seq += after;
            event.tick = event.tick.map(|first| first + after);
        }
        Ok(events)
    }
}

/// One piece of work being played.
pub struct Play {
    /// The store, and who acts.
    pub session: Session,
}

impl Play {
    fn new() -> Result<Self> {
        Play::at(Box::new(Memory::new()))
    }

    /// In a store that may have something already.
    pub fn at(store: Box<dyn Store>) -> Result<Self> {
        let session = Session {
            store,
            clock: Clock::Frozen(PLAYED_AT),
            ids: Ids::new(Some(3)),
            actor: "ann".parse()?,
            config: Config::default(),
            operation: None,
        };
        Ok(Play { session })
    }

    fn acting(&mut self, name: &str) -> Result<&mut Session> {
        self.session.actor = name.parse()?;
        Ok(&mut self.session)
    }

    fn create(&mut self, title: &str, tags: Tags, parent: Option<&str>) -> Result<String> {
        let new = NewIssue {
            title: title.to_owned(),
            body: BODY.to_owned(),
            tags: tags.with(PROTOCOL).completed(),
            work: Work { accept: vec!["every check succeeds".to_owned()], ..Work::default() },
            ..NewIssue::default()
        };
        Ok(issues::create(self.acting("ann")?, new, parent)?.value.id)
    }

    fn root(&mut self, title: &str) -> Result<String> {
        self.create(title, Tags::new().with(Kind::Root.tag()), None)
    }

    fn goal(&mut self, title: &str, root: &str) -> Result<String> {
        self.create(title, Tags::new().with(Kind::Goal.tag()), Some(root))
    }

    /// A scope with its first round open.
    pub fn scope(&mut self, title: &str, root: &str) -> Result<String> {
        let mut tags = Tags::new().with(Kind::Goal.tag());
        tags.insert(Tag::known(FLOW_REVIEW_GATED));
        let scope = self.create(title, tags, Some(root))?;
        rounds::open(self.acting("ann")?, &scope, Policy::default())?;
        Ok(scope)
    }

    fn done(&mut self, issue: &str, by: &str) -> Result<()> {
        let session = self.acting(by)?;
        issues::claim(session, issue, &Claiming::default())?;
        let reason = Some("done, and every check succeeds".to_owned());
        let wish = CloseWish { outcome: Some(Outcome::Success), reason, ..CloseWish::default() };
        issues::close(session, issue, &wish)?;
        Ok(())
    }

    /// Does the attempt of the latest round and judges it; the next tick acts on that.
    fn round(&mut self, scope: &str, opinion: Opinion) -> Result<()> {
        let shown = rounds::show(&self.session, scope)?;
        let latest = shown.rounds.last().ok_or("a scope without a round")?;
        self.done(&latest.attempt, "ann")?;
        let note = "the second half is not covered by any check";
        rounds::judge(self.acting("bob")?, &latest.review, opinion, note, &[])?;
        Ok(())
    }

    fn tick(&mut self, root: &str) -> Result<bool> {
        Ok(tick::tick(&mut self.session, root, false)?.applied)
    }

    /// The piece of work, as far as it was played.
    fn end(self) -> Result<Unit> {
        let events = self.session.store.events(&EventQuery::default())?;
        let snapshot = self.session.read()?;
        let names: Vec<String> = snapshot.graph().issues().map(|issue| issue.id.to_string()).collect();
        Ok(Unit { parts: parts(&serde_json::to_string(&events)?, &names), names })
    }
}

/// Cuts a text at the ids in it. They all begin alike and have one length.
fn parts(text: &str, names: &[String]) -> Vec<Part> {
    let length = names.first().map_or(0, String::len);
    let (mut parts, mut plain, mut rest) = (Vec::new(), String::new(), text);
    while let Some(at) = rest.find("rg-") {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let name = rest.get(..length).unwrap_or(rest);
        match names.iter().position(|known| known == name) {
            Some(place) => parts.extend([Part::Text(std::mem::take(&mut plain)), Part::Id(place)]),
            None => plain.push_str(name),
        }
        rest = &rest[name.len()..];
    }
    plain.push_str(rest);
    parts.push(Part::Text(plain));
    parts
}

/// A root that is final: a scope that needed two rounds, a scope that waited for it, and four plain
/// goals of which one waited for another.
pub fn history() -> Result<Unit> {
    let mut play = Play::new()?;
    let root = play.root("Ship one part of the product")?;
    let first = play.scope("Write the lexer of this part", &root)?;
    let second = play.scope("Write the parser of this part", &root)?;
    let plain: Vec<String> = ["examples", "manual", "release notes", "packaging"]
        .iter()
        .map(|what| play.goal(&format!("Bring the {what} of this part up to date"), &root))
        .collect::<Result<_>>()?;
    issues::dep(play.acting("ann")?, &plain[0], DepKind::Blocks, &plain[1])?;
    play.round(&first, Opinion::NeedsWork)?;
    play.tick(&root)?;
    play.round(&first, Opinion::Pass)?;
    play.round(&second, Opinion::Pass)?;
    for issue in &plain {
        play.done(issue, "ann")?;
    }
    while play.tick(&root)? {}
    play.end()
}

/// One issue alone that was done.
pub fn loose() -> Result<Unit> {
    let mut play = Play::new()?;
    let issue = play.create("Answer a question about the product", Tags::new(), None)?;
    play.done(&issue, "ann")?;
    play.end()
}

/// A root of 100 live issues in which nobody has finished anything: no tick has anything to do.
/// Ten scopes have an open round; of the plain goals one in ten waits for another.
pub fn idle() -> Result<Unit> {
    let mut play = Play::new()?;
    let root = play.root("Work that is going on")?;
    for n in 0..10 {
        play.scope(&format!("Component {n} of the work that is going on"), &root)?;
    }
    let mut before: Option<String> = None;
    for n in 0..69 {
        let goal = play.goal(&format!("Step {n} of the work that is going on"), &root)?;
        if let Some(before) = before.filter(|_| n % 10 == 9) {
            issues::dep(play.acting("ann")?, &before, DepKind::Blocks, &goal)?;
        }
        before = Some(goal);
    }
    play.end()
}

/// A root of 100 live issues in which 33 scopes were judged `needs_work`: 33 ticks open a round each.
pub fn moving() -> Result<Unit> {
    let mut play = Play::new()?;
    let root = play.root("Work that was judged")?;
    let scopes: Vec<String> = (0..33)
        .map(|n| play.scope(&format!("Component {n} of the work that was judged"), &root))
        .collect::<Result<_>>()?;
    for scope in &scopes {
        play.round(scope, Opinion::NeedsWork)?;
    }
    play.end()
}
