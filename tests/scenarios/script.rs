//! The text format of `fixtures/scenarios/`, read into steps. It knows words and where they may stand,
//! and nothing of what a step does. `fixtures/scenarios/README.md` shows the format.

use std::collections::{BTreeMap, VecDeque};

use roundgate::model::issue::{Millis, Outcome};
use roundgate::model::record::Opinion;

/// A scenario: what it is about, and its steps.
#[derive(Debug)]
pub struct Script {
    /// The comment lines at the top.
    pub about: Vec<String>,
    pub steps: Vec<Line>,
}

/// A step, with the line it stands on.
#[derive(Debug)]
pub struct Line {
    pub number: usize,
    pub text: String,
    pub step: Step,
}

#[derive(Debug)]
pub enum Step {
    Act(Act),
    Tick,
    TickUntilWait,
    Advance(Millis),
    Expect(Expect),
}

/// Something that somebody does between ticks, and that may be refused.
#[derive(Debug)]
pub struct Act {
    pub actor: String,
    pub issue: String,
    pub deed: Deed,
}

#[derive(Debug)]
pub enum Deed {
    Create(Box<Node>),
    Block { blocked: String },
    Unblock { blocked: String },
    Claim { lease: Millis },
    Release { lost: bool },
    Close { outcome: Option<Outcome>, reason: Option<String>, cascade: bool },
    Expand { into: Vec<String> },
    Judge { opinion: Opinion, note: String },
    Packet { body: String },
    Answer { choice: String, note: String, rounds: Option<u32>, with_dependents: bool },
    Withdraw,
    Reopen,
    Retry { successor: String },
    Move { parent: String },
    Tag { tag: String },
}

/// A new issue.
#[derive(Debug)]
pub struct Node {
    pub title: String,
    pub tags: Vec<String>,
    pub parent: Option<String>,
    pub after: Vec<String>,
    pub priority: Option<String>,
    pub body: String,
    pub choices: Vec<String>,
    pub max: Option<u32>,
    pub no_progress: Option<u32>,
    pub step_retries: Option<u32>,
    pub self_review: Option<bool>,
}

#[derive(Debug)]
pub enum Expect {
    Ready { issue: String, is: bool },
    Resolved { issue: String, is: bool },
    Final { is: bool },
    Attempts { scope: String, count: usize },
    Waits { actor: String, issue: String },
    Refused(Act),
    Unchanged(Act),
}

/// Reads a scenario.
///
/// # Errors
/// `file:line: what is wrong there`, for the first line that is not understood.
pub fn parse(file: &str, text: &str) -> Result<Script, String> {
    let about = text.lines().map_while(|line| line.strip_prefix('#')).map(|line| line.trim().to_owned());
    let mut steps = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        let wrong = |why: String| format!("{file}:{number}: {why}");
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let step = Words::split(text).and_then(step).map_err(wrong)?;
        steps.push(Line { number, text: text.to_owned(), step });
    }
    Ok(Script { about: about.collect(), steps })
}

/// The words of a line, sorted by what they look like.
struct Words {
    plain: VecDeque<String>,
    texts: VecDeque<String>,
    options: BTreeMap<String, String>,
    actor: Option<String>,
}

impl Words {
    fn split(line: &str) -> Result<Words, String> {
        let mut words =
            Words { plain: VecDeque::new(), texts: VecDeque::new(), options: BTreeMap::new(), actor: None };
        let mut rest = line;
        while let Some(start) = rest.trim_start().chars().next() {
            rest = rest.trim_start();
            if start == '"' {
                let (text, after) = rest[1..].split_once('"').ok_or("a text has no closing quote")?;
                words.texts.push_back(text.replace("\\n", "\n"));
                rest = after;
                continue;
            }
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            rest = after;
            match word.split_once('=') {
                Some((key, value)) => {
                    words.options.insert(key.to_owned(), value.to_owned());
                }
                None => words.plain.push_back(word.to_owned()),
            }
        }
        words.actor = words.pair("as")?;
        Ok(words)
    }

    /// Takes a keyword and the word after it out.
    fn pair(&mut self, key: &str) -> Result<Option<String>, String> {
        let Some(at) = self.plain.iter().position(|word| word == key) else { return Ok(None) };
        self.plain.remove(at);
        self.plain.remove(at).map(Some).ok_or_else(|| format!("{key:?} wants a name after it"))
    }

    /// Takes a word out that stands alone.
    fn flag(&mut self, key: &str) -> bool {
        let at = self.plain.iter().position(|word| word == key);
        at.and_then(|at| self.plain.remove(at)).is_some()
    }

    fn next(&mut self, what: &str) -> Result<String, String> {
        self.plain.pop_front().ok_or_else(|| format!("{what} is missing"))
    }

    fn text(&mut self) -> Option<String> {
        self.texts.pop_front()
    }

    fn option(&mut self, key: &str) -> Option<String> {
        self.options.remove(key)
    }

    fn number(&mut self, key: &str) -> Result<Option<u32>, String> {
        let number = |value: String| value.parse().map_err(|_| format!("{key}={value} is not a number"));
        self.option(key).map(number).transpose()
    }

    fn list(&mut self, key: &str) -> Vec<String> {
        let list = self.option(key).unwrap_or_default();
        list.split(',').filter(|item| !item.is_empty()).map(str::to_owned).collect()
    }

    fn keyword(&mut self, key: &str) -> Result<(), String> {
        let found = self.next(&format!("{key:?}"))?;
        if found == key { Ok(()) } else { Err(format!("{key:?} was expected, not {found:?}")) }
    }

    fn end(self) -> Result<(), String> {
        let option = self.options.into_iter().map(|(key, value)| format!("{key}={value}"));
        match self.plain.into_iter().chain(self.texts).chain(option).next() {
            Some(extra) => Err(format!("{extra:?} does not belong here")),
            None => Ok(()),
        }
    }
}

fn step(mut words: Words) -> Result<Step, String> {
    let verb = words.next("a step")?;
    let step = match verb.as_str() {
        "tick" if words.flag("until") => {
            words.keyword("wait")?;
            Step::TickUntilWait
        }
        "tick" => Step::Tick,
        "advance" => Step::Advance(span(&words.next("a span of time")?)?),
        "expect" => return expect(words).map(Step::Expect),
        _ => return act(&verb, words).map(Step::Act),
    };
    words.end()?;
    Ok(step)
}

fn expect(mut words: Words) -> Result<Expect, String> {
    let is = !words.flag("not");
    let what = words.next("what to expect")?;
    let expect = match what.as_str() {
        "ready" => Expect::Ready { issue: words.next("an issue")?, is },
        "resolved" => Expect::Resolved { issue: words.next("an issue")?, is },
        "final" => Expect::Final { is },
        "attempts" if is => {
            let scope = words.next("a scope")?;
            let count = words.next("a count")?;
            let count = count.parse().map_err(|_| format!("{count:?} is not a count"))?;
            Expect::Attempts { scope, count }
        }
        "waits" if is => Expect::Waits { actor: words.next("an actor")?, issue: words.next("an issue")? },
        "refused" | "unchanged" if is => {
            let verb = words.next("a step")?;
            let act = act(&verb, words)?;
            return Ok(if what == "refused" { Expect::Refused(act) } else { Expect::Unchanged(act) });
        }
        other => return Err(format!("{other:?} is nothing that can be expected here")),
    };
    words.end()?;
    Ok(expect)
}

fn act(verb: &str, mut words: Words) -> Result<Act, String> {
    let actor = words.actor.take().unwrap_or_else(|| "someone".to_owned());
    let issue = words.next("an issue")?;
    let deed = match verb {
        "root" | "goal" | "task" | "container" | "question" | "attempt" | "review" => {
            Deed::Create(Box::new(node(verb, &mut words)?))
        }
        "edge" => {
            words.keyword("blocks")?;
            Deed::Block { blocked: words.next("what it blocks")? }
        }
        "unedge" => {
            words.keyword("blocks")?;
            Deed::Unblock { blocked: words.next("what it blocks")? }
        }
        "claim" => {
            let lease = words.option("lease").unwrap_or_else(|| "1h".to_owned());
            Deed::Claim { lease: span(&lease)? }
        }
        "release" => Deed::Release { lost: false },
        "lose" => Deed::Release { lost: true },
        "close" => {
            let cascade = words.flag("cascade");
            let outcome = words.plain.pop_front().map(|word| word.parse::<Outcome>());
            let outcome = outcome.transpose().map_err(|e| e.to_string())?;
            Deed::Close { outcome, reason: words.text(), cascade }
        }
        "expand" => {
            words.keyword("into")?;
            Deed::Expand { into: words.plain.drain(..).collect() }
        }
        "pass" => Deed::Judge { opinion: Opinion::Pass, note: words.text().unwrap_or_default() },
        "needs_work" => Deed::Judge { opinion: Opinion::NeedsWork, note: words.text().unwrap_or_default() },
        "packet" => Deed::Packet { body: words.text().ok_or("a text is missing")? },
        "answer" => Deed::Answer {
            choice: words.next("a choice")?,
            note: words.text().unwrap_or_default(),
            rounds: words.number("rounds")?,
            with_dependents: words.flag("with_dependents"),
        },
        "withdraw" => Deed::Withdraw,
        "reopen" => Deed::Reopen,
        "retry" => {
            words.keyword("by")?;
            Deed::Retry { successor: words.next("the successor")? }
        }
        "move" => {
            words.keyword("to")?;
            Deed::Move { parent: words.next("a parent")? }
        }
        "tag" => Deed::Tag { tag: words.next("a tag")? },
        other => return Err(format!("{other:?} is not a step")),
    };
    words.end()?;
    Ok(Act { actor, issue, deed })
}

fn node(verb: &str, words: &mut Words) -> Result<Node, String> {
    let tags: &[&str] = match verb {
        "root" => &["kind:root"],
        "goal" => &["kind:goal", "ctx:clean"],
        "container" => &["node:root"],
        "question" => &["kind:ask"],
        "attempt" => &["kind:spawn", "ctx:clean", "flow:attempt"],
        "review" => &["kind:fork", "ctx:inherit", "flow:review"],
        _ => &["kind:spawn", "ctx:clean"],
    };
    let mut tags: Vec<String> = tags.iter().map(|&tag| tag.to_owned()).collect();
    tags.push("proto:hierarchical-work-v1".to_owned());
    if words.flag("gated") {
        tags.push("flow:review-gated-v1".to_owned());
    }
    let after = words.pair("after")?.unwrap_or_default();
    Ok(Node {
        title: words.text().ok_or("a title is missing")?,
        tags,
        parent: words.pair("in")?,
        after: after.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        priority: words.option("priority"),
        body: words.text().unwrap_or_default(),
        choices: words.list("choices"),
        max: words.number("max")?,
        no_progress: words.number("no_progress")?,
        step_retries: words.number("step_retries")?,
        self_review: words.flag("self_review").then_some(true),
    })
}

/// `90s`, `5m` or `2h`.
fn span(text: &str) -> Result<Millis, String> {
    let unit = match text.chars().last() {
        Some('s') => 1_000,
        Some('m') => 60_000,
        Some('h') => 3_600_000,
        _ => return Err(format!("{text:?} is not a span of time such as 90s, 5m or 2h")),
    };
    let count: Millis =
        text[..text.len() - 1].parse().map_err(|_| format!("{text:?} is not a span of time"))?;
    Ok(count * unit)
}

#[test]
fn an_error_names_the_file_and_the_line() {
    for (text, wrong) in [
        ("root R \"x\"\ndance R", "f.txt:2: \"dance\" is not a step"),
        ("root R", "f.txt:1: a title is missing"),
        ("# fine\n\nclose X well", "f.txt:3: \"well\" is not one of success, failure"),
        ("root R \"x", "f.txt:1: a text has no closing quote"),
        ("edge A stops B", "f.txt:1: \"blocks\" was expected, not \"stops\""),
        ("tick twice", "f.txt:1: \"twice\" does not belong here"),
        ("claim X colour=red", "f.txt:1: \"colour=red\" does not belong here"),
        ("advance soon", "f.txt:1: \"soon\" is not a span of time"),
        ("expect not refused tick", "f.txt:1: \"refused\" is nothing that can be expected here"),
        ("goal G max=many \"x\"", "f.txt:1: max=many is not a number"),
    ] {
        let error = parse("f.txt", text).unwrap_err();
        assert!(error.starts_with(wrong), "{text:?} gave {error:?}");
    }
}
