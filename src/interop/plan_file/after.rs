//! What goals say about each other: keys that are unique, and `after` that leads somewhere and never in a circle.

use std::collections::{HashMap, HashSet};

use super::complaints::{Complaints, quoted};
use super::fields::{Item, Section, Text};

/// At most this many goals of a circle are named.
const NAMED_GOALS: usize = 12;

/// What a goal says of itself and others.
pub(super) struct Named<'a> {
    pub(super) section: Section<'a>,
    pub(super) key: Option<Text<'a>>,
    pub(super) after: Vec<Item<'a>>,
}

/// One resolved `after` entry: the goal waited for, and where that is written.
struct Wait {
    goal: usize,
    item: usize,
}

/// Complains about keys given twice, and about entries of `after` that are unknown, repeated, or close a circle.
pub(super) fn check(root: &str, goals: &[Named<'_>], complaints: &mut Complaints<'_>) {
    let mut by_key: HashMap<&str, usize> = HashMap::new();
    for (index, goal) in goals.iter().enumerate() {
        let Some(key) = goal.key else { continue };
        if key.text == root {
            goal.section.refuse("key", "the root has this key already", complaints);
        }
        match by_key.get(key.text) {
            Some(first) => {
                let line =
                    complaints.line(goals[*first].key.map_or(goals[*first].section.offset, |k| k.offset));
                goal.section.refuse(
                    "key",
                    format!("another goal has this key already, in line {line}"),
                    complaints,
                );
            }
            None => {
                by_key.insert(key.text, index);
            }
        }
    }
    let waits: Vec<Vec<Wait>> = goals
        .iter()
        .enumerate()
        .map(|(index, goal)| resolve(index, goal, goals, &by_key, complaints))
        .collect();
    refuse_circles(goals, &waits, complaints);
}

fn resolve(
    index: usize,
    goal: &Named<'_>,
    goals: &[Named<'_>],
    by_key: &HashMap<&str, usize>,
    complaints: &mut Complaints<'_>,
) -> Vec<Wait> {
    let mut seen = HashSet::new();
    let mut waits = Vec::new();
    for (item, entry) in goal.after.iter().enumerate() {
        let message = match by_key.get(entry.text) {
            _ if !seen.insert(entry.text) => format!("{} is listed twice", quoted(entry.text)),
            None => {
                let others = goals.iter().filter_map(|other| other.key).map(|key| key.text);
                let meant = complaints.did_you_mean(
                    entry.text,
                    others.filter(|other| Some(*other) != goal.key.map(|key| key.text)),
                );
                format!("there is no goal {}{meant}", quoted(entry.text))
            }
            Some(other) if *other == index => "a goal cannot wait for itself".to_owned(),
            Some(other) => {
                waits.push(Wait { goal: *other, item });
                continue;
            }
        };
        complaints.add(entry.offset, &goal.section.name, &format!("after[{}]", entry.index), message);
    }
    waits
}

/// Takes away what can be finished, again and again. Each goal that is left waits for another one that is left, so
/// that walking along such waits has to come back to where it was: that is a circle. No recursion, linear time.
fn refuse_circles(goals: &[Named<'_>], waits: &[Vec<Wait>], complaints: &mut Complaints<'_>) {
    let mut open: Vec<usize> = waits.iter().map(Vec::len).collect();
    let mut waited_by: Vec<Vec<usize>> = vec![Vec::new(); goals.len()];
    for (index, wait) in waits.iter().enumerate().flat_map(|(i, list)| list.iter().map(move |w| (i, w))) {
        waited_by[wait.goal].push(index);
    }
    let mut free: Vec<usize> = (0..goals.len()).filter(|index| open[*index] == 0).collect();
    while let Some(done) = free.pop() {
        for waiting in &waited_by[done] {
            open[*waiting] -= 1;
            if open[*waiting] == 0 {
                free.push(*waiting);
            }
        }
    }
    // The walk that first came by, so that a circle is told once.
    let mut walked: Vec<Option<usize>> = vec![None; goals.len()];
    for start in (0..goals.len()).filter(|index| open[*index] > 0) {
        let mut path: Vec<(usize, &Wait)> = Vec::new();
        let mut at = start;
        while walked[at].is_none() {
            walked[at] = Some(start);
            let Some(wait) = waits[at].iter().find(|wait| open[wait.goal] > 0) else { break };
            path.push((at, wait));
            at = wait.goal;
        }
        if walked[at] == Some(start) {
            let circle = path.iter().position(|(goal, _)| *goal == at).map_or(&[][..], |from| &path[from..]);
            refuse_circle(goals, circle, complaints);
        }
    }
}

fn refuse_circle(goals: &[Named<'_>], circle: &[(usize, &Wait)], complaints: &mut Complaints<'_>) {
    // Told at its first goal of the file, whichever goal the walk came in by.
    let Some(first) = (0..circle.len()).min_by_key(|place| circle[*place].0) else { return };
    let around = circle[first..].iter().chain(&circle[..first]);
    let key = |goal: usize| goals[goal].key.map_or("", |key| key.text);
    let mut names: Vec<&str> = around.map(|(goal, _)| key(*goal)).collect();
    if names.len() > NAMED_GOALS {
        names.truncate(NAMED_GOALS);
        names.push("...");
    }
    let (goal, wait) = circle[first];
    names.push(key(goal));
    let entry = &goals[goal].after[wait.item];
    complaints.add(
        entry.offset,
        &goals[goal].section.name,
        &format!("after[{}]", entry.index),
        format!("these goals wait for each other in a circle: {}", names.join(" after ")),
    );
}
