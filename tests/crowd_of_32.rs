//! Thirty-two processes at one store, all day long: each claim is given once, each transition is applied
//! once, and nobody fails with anything but what the rules say.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use roundgate::app::ambient::{Clock, Ids};
use roundgate::app::asks::AnswerWish;
use roundgate::app::config::Config;
use roundgate::app::issues::{self, Claiming, CloseWish, Filter};
use roundgate::app::{AppError, Session, asks, doctor, rounds, status, tick};
use roundgate::model::act::create::NewIssue;
use roundgate::model::change::Change;
use roundgate::model::issue::Policy;
use roundgate::model::record::Opinion;
use roundgate::model::snapshot::Snapshot;
use roundgate::store::sqlite::Sqlite;
use roundgate::store::{EventQuery, Extent, Store};
use tempfile::TempDir;

const PROCESSES: usize = 32;

/// How many claims all of them make together, unless `ROUNDGATE_CLAIMS` says otherwise.
const CLAIMS: usize = 320;

/// The variable that makes a process of this test one of the crowd: what it does, how often, where its
/// notes go.
const PART: &str = "ROUNDGATE_TEST_PART";

/// A session as every command has one: opened for one use.
fn session(store: &Path, actor: &str) -> Result<Session, AppError> {
    Ok(Session {
        store: Box::new(Sqlite::open(store)?),
        clock: Clock::Machine,
        ids: Ids::new(None),
        actor: actor.parse().unwrap(),
        config: Config::default(),
        operation: None,
    })
}

/// What one of the crowd does, again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Takes the next issue, notes the number of its claim, and gives it back.
    Claimant,
    /// The planted bug: notes what it is about to take, and takes it afterwards.
    Hasty,
    /// Works on attempts and judges reviews.
    Worker,
    Clock,
    Human,
    Reader,
}

const PARTS: [Part; 6] = [Part::Claimant, Part::Hasty, Part::Worker, Part::Clock, Part::Human, Part::Reader];

/// Not a test, but what the others start.
#[test]
fn one_of_the_crowd() {
    let Ok(part) = std::env::var(PART) else { return };
    let words: Vec<&str> = part.split('|').collect();
    let &[word, name, times, folder] = words.as_slice() else { panic!("{part}") };
    let part = PARTS.into_iter().find(|part| format!("{part:?}") == word).unwrap();
    let folder = PathBuf::from(folder);
    let mut notes = String::new();
    for n in 0..times.parse().unwrap() {
        match play(part, &folder.join("store"), name, n) {
            Ok(note) => notes.push_str(&note),
            // Somebody else was first, or there is nothing to do: that is no fault.
            Err(AppError::Refusal(_)) => {}
            Err(error) => panic!("{part:?} {name}: {error}"),
        }
    }
    fs::write(folder.join(name), notes).unwrap();
}

fn play(part: Part, store: &Path, name: &str, n: usize) -> Result<String, AppError> {
    let mut session = session(store, name)?;
    match part {
        Part::Claimant => {
            let issue = issues::claim_next(&mut session, &Filter::default(), &Claiming::default())?.value;
            let epoch = issue.claim.unwrap().epoch;
            issues::release(&mut session, &issue.id, Some(epoch))?;
            return Ok(format!("{} {epoch}\n", issue.id));
        }
        Part::Hasty => {
            let ready = issues::ready(&session, &Filter::default())?;
            let Some(first) = ready.rows.first() else { return Ok(String::new()) };
            let id = first.issue.id.clone();
            let epoch = session.read()?.graph().get(&id.parse().unwrap()).unwrap().epoch + 1;
            std::thread::yield_now();
            if issues::claim(&mut session, &id, &Claiming::default()).is_ok() {
                issues::release(&mut session, &id, None)?;
            }
            return Ok(format!("{id} {epoch}\n"));
        }
        Part::Worker => {
            let issue = issues::claim_next(&mut session, &Filter::default(), &Claiming::default())?.value;
            let review = session
                .read()?
                .round_of(&issue.id.parse().unwrap())
                .is_some_and(|round| round.review.as_str() == issue.id);
            if review {
                let note = format!("complaint {name} {n}");
                let opinion = if n.is_multiple_of(3) { Opinion::Pass } else { Opinion::NeedsWork };
                rounds::judge(&mut session, &issue.id, opinion, &note, &[])?;
            } else {
                issues::close(&mut session, &issue.id, &CloseWish::default())?;
            }
        }
        Part::Clock => {
            let (_, failures) = tick::tick_all(&mut session, false)?;
            if let Some(failure) = failures.into_iter().next() {
                return Err(failure.error);
            }
        }
        Part::Human => {
            for ask in asks::list(&session, None, &[], false)? {
                let choice = if n.is_multiple_of(2) { "open-extra-round" } else { "accept" };
                let wish = AnswerWish { choice: choice.to_owned(), ..AnswerWish::default() };
                asks::answer(&mut session, &ask.id, wish)?;
            }
        }
        Part::Reader => {
            issues::ready(&session, &Filter::default())?;
            status::all(&session)?;
        }
    }
    Ok(String::new())
}

fn start(part: Part, name: &str, times: usize, folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "one_of_the_crowd"]);
    command.env(PART, format!("{part:?}|{name}|{times}|{}", folder.display()));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Lets a crowd at a store; what each of them noted.
fn crowd(folder: &Path, times: usize, part: impl Fn(usize) -> Part) -> BTreeMap<String, String> {
    let started: Vec<(String, Child)> = (0..PROCESSES)
        .map(|n| (format!("agent{n}"), n))
        .map(|(name, n)| (name.clone(), start(part(n), &name, times, folder)))
        .collect();
    let ended = started.into_iter().map(|(name, child)| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
        let notes = fs::read_to_string(folder.join(&name)).unwrap();
        (name, notes)
    });
    ended.collect()
}

/// A folder with a store in which there are so many issues.
fn place(issues: usize) -> (TempDir, PathBuf) {
    let above = tempfile::tempdir().unwrap();
    let store = above.path().join("store");
    drop(Sqlite::init(&store).unwrap());
    let mut session = session(&store, "ann").unwrap();
    for n in 0..issues {
        issues::create(&mut session, titled(&format!("Issue {n}")), None).unwrap();
    }
    (above, store)
}

fn titled(title: &str) -> NewIssue {
    NewIssue { title: title.to_owned(), ..NewIssue::default() }
}

/// How many claims were noted, if each was noted once.
fn claims(notes: &BTreeMap<String, String>) -> Result<usize, String> {
    let mut given = BTreeSet::new();
    for (name, notes) in notes {
        for claim in notes.lines() {
            if !given.insert(claim.to_owned()) {
                return Err(format!("{claim} was given twice, also to {name}"));
            }
        }
    }
    Ok(given.len())
}

#[track_caller]
fn sound(store: &Path) {
    let diagnosis = doctor::examine(store).unwrap();
    assert!(diagnosis.sound, "{:?}", diagnosis.checks);
}

#[test]
fn no_claim_is_given_twice_to_thirty_two_processes() {
    let (above, store) = place(8);
    let wanted = std::env::var("ROUNDGATE_CLAIMS").map_or(CLAIMS, |text| text.parse().unwrap());
    // Fewer issues than processes: now and then nothing is ready, which costs a turn.
    let mut made = 0;
    while made < wanted {
        let times = (wanted - made).div_ceil(PROCESSES).max(2);
        let notes = crowd(above.path(), times, |_| Part::Claimant);
        made += claims(&notes).unwrap();
    }
    let snapshot = Sqlite::open(&store).unwrap().snapshot().unwrap().0;
    let epochs: u64 = snapshot.graph().issues().map(|issue| issue.epoch).sum();
    eprintln!("{made} claims");
    assert_eq!(epochs, made as u64, "claims that nobody noted, or noted and not made");
    sound(&store);
}

#[test]
fn claims_that_are_not_compare_and_set_are_noticed() {
    // Whether two of them meet depends on who runs when: they try until it happens.
    let twice = (0..16).find_map(|_| {
        let (above, _) = place(2);
        claims(&crowd(above.path(), 6, |_| Part::Hasty)).err()
    });
    eprintln!("{}", twice.expect("sixteen crowds, and nobody was in anybody's way"));
}

#[test]
fn a_lease_begins_when_its_claim_is_made_and_not_when_it_was_asked_for() {
    let (_above, store) = place(1);
    let issue = issues::list(&session(&store, "ann").unwrap(), &Filter::default()).unwrap().rows.remove(0).id;
    let (locked, wait) = std::sync::mpsc::channel();
    let freed = std::thread::scope(|scope| {
        let holder = scope.spawn(|| {
            let mut freed = 0;
            let mut holder = Sqlite::open(&store).unwrap();
            let hold = &mut |_: &mut Snapshot, _| {
                locked.send(()).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(300));
                freed = Clock::Machine.now();
                None
            };
            holder.transact(Extent::Frontier, hold).unwrap();
            freed
        });
        wait.recv().unwrap();
        let claiming = Claiming { lease: Some(100), ..Claiming::default() };
        issues::claim(&mut session(&store, "bob").unwrap(), &issue, &claiming).unwrap();
        holder.join().unwrap()
    });
    let claim = issues::get(&session(&store, "ann").unwrap(), &issue).unwrap().claim.unwrap();
    assert!(claim.expires_at >= freed + 100, "it had run for {} ms", freed + 100 - claim.expires_at);
}

#[test]
fn thirty_two_processes_claim_tick_answer_and_read_at_once() {
    let (above, store) = place(0);
    // How much of it is done by the clock's processes depends on who runs when: another day begins, with
    // work of its own, until there was enough of it.
    let mut seen = Seen::default();
    let mut days = 0;
    while seen.ticks < 24 {
        assert!(days < 24, "{days} days, and only {} ticks", seen.ticks);
        days += 1;
        open_roots(&store, days);
        crowd(above.path(), 10, |n| match n % 8 {
            0..3 => Part::Worker,
            3..5 => Part::Clock,
            5 => Part::Human,
            _ => Part::Reader,
        });
        sound(&store);
        seen = Seen::in_store(&store);
    }
    let Seen { events, ticks, rounds } = seen;
    eprintln!("{days} days: {events} events, {ticks} ticks, {rounds} changes of rounds");
}

/// Roots for a day, each with two scopes of rounds.
fn open_roots(store: &Path, day: usize) {
    let mut ann = session(store, "ann").unwrap();
    for n in 0..4 {
        let title = format!("Root {day}.{n}");
        let root = issues::create(&mut ann, titled(&title), None).unwrap().value.id;
        for k in 0..2 {
            let scope =
                issues::create(&mut ann, titled(&format!("Scope {k}")), Some(&root)).unwrap().value.id;
            let policy = Policy { max_review_rounds: Some(2), ..Policy::default() };
            rounds::open(&mut ann, &scope, policy).unwrap();
        }
    }
}

/// What a crowd left in a store, the numbers of each scope's rounds being in order.
#[derive(Default)]
struct Seen {
    events: usize,
    ticks: usize,
    /// How often something was stored of a round.
    rounds: usize,
}

impl Seen {
    fn in_store(store: &Path) -> Self {
        let open = Sqlite::open(store).unwrap();
        let snapshot = open.snapshot().unwrap().0;
        for scope in snapshot.scopes() {
            let numbers: Vec<u32> = snapshot.rounds(&scope.id).map(|round| round.number).collect();
            assert!(numbers.iter().copied().eq(1..=numbers.len() as u32), "{}: {numbers:?}", scope.id);
        }
        let events = open.events(&EventQuery::default()).unwrap();
        let ticks: BTreeSet<u64> = events.iter().filter_map(|event| event.tick).collect();
        let rounds = events.iter().filter(|event| matches!(event.change, Change::RoundSet { .. })).count();
        Self { events: events.len(), ticks: ticks.len(), rounds }
    }
}
