//! Tags, one a line, and the set that they make.

use roundgate::app::{Session, issues};
use roundgate::model::act::create::NewIssue;
use roundgate::model::tag::{Tag, Tags};

use super::{Behind, Held, Target, hold, speaks, taken, text};

pub const TARGET: Target = Target {
    name: "tags",
    law,
    words: &[
        "kind:",
        "root",
        "goal",
        "spawn",
        "fork",
        "synth",
        "ask",
        "node:agent",
        "node:root",
        "ctx:human",
        "actor:user",
        "proto:hierarchical-work-v1",
        "flow:review-gated-v1",
        "flow:checkpoint-v1",
        "flow:attempt",
        "flow:review",
        "import:open-below-closed",
        "\n",
        ",",
    ],
};

fn law(input: &[u8], behind: Behind) -> Held {
    let mut set = Tags::new();
    for line in text(input).lines() {
        match line.parse::<Tag>() {
            Err(refusal) => speaks(&refusal)?,
            Ok(tag) => {
                hold(tag.as_str() == line, || format!("{line:?} became {tag}"))?;
                set.insert(tag);
            }
        }
    }
    let completed = set.clone().completed();
    hold(completed.clone().completed() == completed, || format!("{completed:?} is not complete"))?;
    if let Err(refusal) = completed.check() {
        speaks(&refusal)?;
    }
    behind.session(|session| stored(session, set))
}

fn stored(session: &mut Session, tags: Tags) -> Held {
    let completed = tags.clone().completed();
    let accepted = completed.check().is_ok() && tags.iter().all(|tag| !tag.as_str().starts_with("import:"));
    let new = NewIssue { title: "A title".to_owned(), tags, ..NewIssue::default() };
    let made = issues::create(session, new, None);
    if !accepted {
        let refusal = made.err().ok_or("a set of tags was stored that the rules refuse")?;
        return speaks(&refusal);
    }
    let id = taken(made)?.value.id;
    let found = taken(session.read())?;
    let found = found.graph().issues().find(|issue| issue.id.as_str() == id).map(|issue| issue.tags.clone());
    hold(found.as_ref() == Some(&completed), || format!("{completed:?} was stored as {found:?}"))
}
