//! Simulated power cuts: what was acknowledged is there once, what was not is there at most once and
//! whole, and the store opens and is sound.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use fastrand::Rng;
use roundgate::app::{doctor, forum};
use roundgate::model::change::Event;
use roundgate::store::StoreError;
use roundgate::store::sqlite::{Sqlite, Synchronous};

use crate::day::{Day, events, session};
use crate::disk::{Image, MARK, Platter, Quick, Recorder, Step, files};
use crate::vfs::{Watch, watch};

/// How many cuts the tests make together, unless `ROUNDGATE_CUTS` says otherwise.
const CUTS: usize = 300;

fn cuts() -> usize {
    std::env::var("ROUNDGATE_CUTS").map_or(CUTS, |text| text.parse().unwrap())
}

/// What happened to the disk on a day, and what was done.
struct Told {
    start: Image,
    steps: Vec<Step>,
    ends: Vec<u64>,
    events: Vec<Event>,
    synchronous: Synchronous,
}

/// Lets a day go by at a new store.
fn told(recorder: Recorder, synchronous: Synchronous, work: impl FnOnce(&mut Day)) -> Told {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    drop(Sqlite::init(&folder).unwrap());
    told_at(&folder, recorder, synchronous, work)
}

/// Lets a day go by at a store.
fn told_at(folder: &Path, recorder: Recorder, synchronous: Synchronous, work: impl FnOnce(&mut Day)) -> Told {
    let start = files(folder);
    let recorder = Arc::new(recorder);
    let watching = watch(&fs::canonicalize(folder).unwrap(), recorder.clone());
    let mut day = Day::new(folder, &recorder, synchronous);
    work(&mut day);
    let ends = day.ends.clone();
    drop(day);
    drop(watching);
    Told { start, steps: recorder.take(), ends, events: events(folder), synchronous }
}

/// What came of the cuts.
#[derive(Debug, Default)]
struct Figures {
    cuts: usize,
    /// In so many, a change was there that nobody had been told of.
    unannounced: usize,
    /// In so many, changes that somebody had been told of were gone.
    lost: usize,
    /// In so many of these the program said so.
    noticed: usize,
}

impl Told {
    /// The disk at random moments, half of them telling ones, in their order.
    fn moments(&self, count: usize, rng: &mut Rng) -> impl Iterator<Item = (usize, Platter)> {
        let telling: Vec<usize> = (0..self.steps.len()).filter(|&n| self.steps[n].telling()).collect();
        let mut moments: Vec<usize> = (0..count)
            .map(|n| match n % 2 {
                0 => rng.usize(0..=self.steps.len()),
                _ => telling[rng.usize(0..telling.len())] + rng.usize(0..2),
            })
            .collect();
        moments.sort_unstable();
        let mut platter = Platter::holding(&self.start, self.ends[0]);
        let mut at = 0;
        moments.into_iter().map(move |moment| {
            self.steps[at..moment].iter().for_each(|step| platter.go_on(step));
            at = moment;
            (moment, platter.clone())
        })
    }

    /// Cuts the power so many times, each time as if it were the first.
    fn cut(&self, cuts: usize, rng: &mut Rng) -> Result<Figures, String> {
        let mut figures = Figures::default();
        for (moment, platter) in self.moments(cuts, &mut rng.fork()) {
            let (image, marked) = cut(&platter, rng);
            let complaint = |why| format!("cut before step {moment} of {}: {why}", self.steps.len());
            let above = tempfile::tempdir().unwrap();
            let after = After::of(above.path(), &image);
            after.check(self, platter.acknowledged, marked, &mut figures).map_err(complaint)?;
        }
        Ok(figures)
    }
}

/// What a cut leaves, and whether the mark in it is the last one.
fn cut(platter: &Platter, rng: &mut Rng) -> (Image, bool) {
    let (mut image, mark) = (platter.cut(rng), platter.cut_mark(rng));
    let marked = mark.is_some() && mark.as_ref() == platter.marks.last();
    image.extend(mark.map(|mark| (MARK.to_owned(), mark)));
    (image, marked)
}

fn lay_out(folder: &Path, image: &Image) {
    for (name, bytes) in image {
        fs::write(folder.join(name), bytes).unwrap();
    }
}

/// A store as it is found when the power is back.
struct After<'f> {
    folder: &'f Path,
    _quick: Watch,
}

impl After<'_> {
    fn of<'f>(folder: &'f Path, image: &Image) -> After<'f> {
        lay_out(folder, image);
        After { folder, _quick: watch(&fs::canonicalize(folder).unwrap(), Arc::new(Quick)) }
    }

    /// With the number of the last event that was acknowledged, and whether the mark goes so far.
    fn check(
        &self,
        told: &Told,
        acknowledged: u64,
        marked: bool,
        figures: &mut Figures,
    ) -> Result<(), String> {
        figures.cuts += 1;
        let noticed_before = figures.noticed;
        match Sqlite::open(self.folder) {
            Ok(_) => {}
            Err(StoreError::Damaged { what }) if told.synchronous == Synchronous::Normal => {
                if !what.contains("the latest are lost") {
                    return Err(what);
                }
                figures.noticed += 1;
                doctor::fix(self.folder, 0).map_err(|error| error.to_string())?;
            }
            Err(error) => return Err(error.to_string()),
        }
        let there = self.sound()?;
        let there_to = there.len() as u64;
        if told.events.get(..there.len()) != Some(&there[..]) {
            return Err("other events are there than were committed".to_owned());
        }
        if !told.ends.contains(&there_to) {
            return Err(format!("a change is there in part: up to event {there_to}"));
        }
        let next = told.ends.iter().find(|&&end| end > acknowledged).unwrap_or(&acknowledged);
        if there_to > *next {
            return Err(format!("event {there_to} is there, and only {acknowledged} were acknowledged"));
        }
        if there_to < acknowledged {
            if told.synchronous == Synchronous::Full {
                return Err(format!("{acknowledged} events were acknowledged, and {there_to} are there"));
            }
            if marked && figures.noticed == noticed_before {
                return Err(format!(
                    "only {there_to} of {acknowledged} events are there, and nobody says so"
                ));
            }
            figures.lost += 1;
        }
        figures.unannounced += usize::from(there_to > acknowledged);
        self.goes_on(&there)
    }

    /// The events, of a store in which nothing is wrong.
    fn sound(&self) -> Result<Vec<Event>, String> {
        let diagnosis = doctor::examine(self.folder).map_err(|error| error.to_string())?;
        if diagnosis.sound { Ok(events(self.folder)) } else { Err(format!("{:?}", diagnosis.checks)) }
    }

    /// The next change is made, and nothing comes back that was gone.
    fn goes_on(&self, before: &[Event]) -> Result<(), String> {
        let mut session = session(self.folder, Synchronous::Full).map_err(|error| error.to_string())?;
        forum::post(&mut session, "after", "we are back").map_err(|error| error.to_string())?;
        drop(session);
        let after = self.sound()?;
        if after.len() == before.len() + 1 && after.starts_with(before) {
            return Ok(());
        }
        Err(format!("{} events became {} with one more", before.len(), after.len()))
    }
}

#[test]
fn nothing_acknowledged_is_lost_in_a_power_cut() {
    let mut rng = Rng::with_seed(20_260_726);
    let day = told(Recorder::default(), Synchronous::Full, Day::work);
    let figures = day.cut(cuts() * 5 / 6, &mut rng).unwrap();
    eprintln!("{} steps: {figures:?}", day.steps.len());
    assert!(figures.lost == 0 && figures.unannounced > 0, "{figures:?}");
}

#[test]
fn nothing_acknowledged_is_lost_in_a_power_cut_while_the_log_is_folded_in() {
    let mut rng = Rng::with_seed(920);
    let day = told(Recorder::default(), Synchronous::Full, Day::flood);
    let restarts =
        day.steps.iter().filter(|step| matches!(step, Step::Write(name, 0, _) if name.ends_with("-wal")));
    assert!(restarts.count() > 2, "the log was never begun anew");
    let figures = day.cut(cuts() / 10, &mut rng).unwrap();
    eprintln!("{} steps: {figures:?}", day.steps.len());
}

#[test]
fn nothing_acknowledged_is_lost_in_a_power_cut_after_a_power_cut() {
    let mut rng = Rng::with_seed(1_041);
    let day = told(Recorder::default(), Synchronous::Full, Day::work);
    let mut all = Figures::default();
    for (_, platter) in day.moments(cuts() / 15, &mut rng.fork()) {
        let above = tempfile::tempdir().unwrap();
        lay_out(above.path(), &cut(&platter, &mut rng).0);
        let next = told_at(above.path(), Recorder::default(), Synchronous::Full, |day| day.chores("again"));
        let figures = next.cut(5, &mut rng).unwrap();
        all.cuts += figures.cuts;
        all.lost += figures.lost;
        all.unannounced += figures.unannounced;
    }
    eprintln!("{all:?}");
    assert_eq!(all.lost, 0);
}

#[test]
fn a_disk_that_lies_about_its_syncs_is_noticed() {
    let mut rng = Rng::with_seed(3);
    let day = told(Recorder::lying(), Synchronous::Full, Day::work);
    let noticed = day.cut(CUTS, &mut rng).unwrap_err();
    eprintln!("{noticed}");
}

#[test]
fn without_syncs_the_latest_may_be_lost_but_whole_and_the_program_says_so() {
    let mut rng = Rng::with_seed(11);
    let day = told(Recorder::default(), Synchronous::Normal, Day::work);
    let figures = day.cut(cuts() / 3, &mut rng).unwrap();
    eprintln!("{} steps: {figures:?}", day.steps.len());
    assert!(figures.lost > 0 && figures.noticed > 0, "{figures:?}");
}

#[test]
fn a_new_store_is_safe_before_it_has_its_name() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    fs::create_dir(&folder).unwrap();
    let recorder = Arc::new(Recorder::default());
    let watching = watch(&fs::canonicalize(&folder).unwrap(), recorder.clone());
    drop(Sqlite::init(&folder).unwrap());
    drop(watching);
    // The empty file and its last name are not made by SQLite.
    let steps: Vec<Step> = recorder.take().into_iter().filter(|step| step.happened_to(".init-")).collect();
    let names = steps.iter().filter_map(|step| match step {
        Step::Write(name, ..) => Some(name.clone()),
        _ => None,
    });
    // Beside it were a journal and a log, with longer names.
    let name = names.min_by_key(String::len).unwrap();
    let mut platter = Platter::holding(&[(name.clone(), Vec::new())].into(), 0);
    steps.iter().for_each(|step| platter.go_on(step));
    let (left, made) = (platter.cut(&mut Rng::with_seed(1)), files(&folder));
    assert_eq!((made.len(), left.get(&name)), (1, made.get("roundgate.db")));
}
