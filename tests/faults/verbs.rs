//! Every verb that changes the store, each at a store in which it has something to do.

use std::process::Command;

use crate::bench::{Bench, Line};

/// A verb: its name, and how a bench is prepared for it and which line is then the verb.
pub type Verb = (&'static str, fn(&Bench) -> Line);

/// An hour and more: leases have run out by then.
const LATER: u64 = 2 * 60 * 60 * 1000;

fn tick(root: String) -> Line {
    Line::of(format!("tick --root {root}"))
}

pub const VERBS: [Verb; 65] = [
    ("issues create", |bench| {
        let parent = bench.issue("Parent");
        Line::of(format!("issues create Child --parent {parent} --body words --tag free"))
    }),
    ("issues update", |bench| {
        Line::of(format!("issues update {} --title Other --priority 1 --add-tag free", bench.issue("Work")))
    }),
    ("issues claim", |bench| Line::of(format!("issues claim {}", bench.issue("Work")))),
    ("issues claim, of a lease that ran out", |bench| {
        let id = bench.issue("Work");
        bench.run(format!("issues claim {id}"));
        Line::of(format!("issues claim {id}")).by("bob").later(LATER)
    }),
    ("issues claim --next", |bench| {
        bench.issue("Work");
        Line::of("issues claim --next")
    }),
    ("issues renew", |bench| {
        let id = bench.issue("Work");
        bench.run(format!("issues claim {id}"));
        Line::of(format!("issues renew {id} --lease 3h"))
    }),
    ("issues release", |bench| {
        let id = bench.issue("Work");
        bench.run(format!("issues claim {id}"));
        Line::of(format!("issues release {id}"))
    }),
    ("issues close", |bench| {
        let id = bench.issue("Work");
        bench.run(format!("issues claim {id}"));
        Line::of(format!("issues close {id} --reason done"))
    }),
    ("issues close --cascade", |bench| {
        let id = bench.issue("Work");
        for n in 0..3 {
            bench.run(format!("issues create Part-{n} --parent {id}"));
        }
        Line::of(format!("issues close {id} --outcome skipped --reason moot --cascade"))
    }),
    ("issues close, of a review", |bench| {
        bench.attempted(3);
        Line::of(format!("issues close {} --outcome success", bench.ready("review"))).by("bob")
    }),
    ("issues open", |bench| {
        let id = bench.issue("Work");
        bench.run(format!("issues close {id}"));
        Line::of(format!("issues open {id}"))
    }),
    ("issues dep blocks", |bench| {
        Line::of(format!("issues dep {} blocks {}", bench.issue("First"), bench.issue("Second")))
    }),
    ("issues dep parent", |bench| {
        Line::of(format!("issues dep {} parent {}", bench.issue("Child"), bench.issue("Parent")))
    }),
    ("issues undep", |bench| {
        let (first, second) = (bench.issue("First"), bench.issue("Second"));
        bench.run(format!("issues dep {first} blocks {second}"));
        Line::of(format!("issues undep {first} blocks {second}"))
    }),
    ("issues retry", |bench| {
        let id = bench.issue("Work");
        bench.run(format!("issues close {id} --outcome failure --reason broken"));
        Line::of(format!("issues retry {id} --note again"))
    }),
    ("forum post", |bench| Line::of(format!("forum post issue:{} -m words", bench.issue("Work")))),
    ("forum post, of a long text", |bench| {
        let words = "words,".repeat(8_000);
        Line::of(format!("forum post issue:{} -m {words}", bench.issue("Work")))
    }),
    ("forum post, of a verdict", |bench| {
        bench.attempted(3);
        let mut line = Line::of(format!("forum post issue:{} -m", bench.ready("review"))).by("bob");
        line.words.push("VERDICT: needs_work too short".to_owned());
        line
    }),
    ("pause", |bench| {
        let root = bench.opened(3);
        Line::of(format!("pause {root} --reason so"))
    }),
    ("resume", |bench| {
        let root = bench.opened(3);
        bench.run(format!("pause {root} --reason so"));
        Line::of(format!("resume {root}"))
    }),
    ("rounds open", |bench| Line::of(format!("rounds open {}", bench.issue("Scope")))),
    ("rounds verdict", |bench| {
        bench.attempted(3);
        Line::of(format!("rounds verdict {} needs_work --note so", bench.ready("review"))).by("bob")
    }),
    ("rounds withdraw", |bench| {
        bench.judged(3, "pass");
        let reviews = bench.run("issues list --tag flow:review");
        Line::of(format!("rounds withdraw {}", reviews[0]["id"].as_str().unwrap())).by("bob")
    }),
    ("answer", |bench| {
        bench.escalated();
        Line::of(format!("answer {} accept --note so", bench.ask()))
    }),
    ("answer --withdraw", |bench| {
        bench.answered("accept");
        Line::of(format!("answer {} --withdraw", bench.ask()))
    }),
    ("asks assign", |bench| {
        bench.escalated();
        Line::of(format!("asks assign {} --to hugh --due 2d --timeout 7d --default accept", bench.ask()))
    }),
    ("tick: remind", |bench| {
        let root = bench.escalated();
        bench.run(format!("asks assign {} --due 1h", bench.ask()));
        tick(root).later(LATER)
    }),
    ("tick: time_out", |bench| {
        let root = bench.escalated();
        bench.run(format!("asks assign {} --timeout 1h --default accept", bench.ask()));
        tick(root).later(LATER)
    }),
    ("tick: moot", |bench| {
        let root = bench.id("issues create Root --tag kind:root");
        let work = bench.id(format!("issues create Work --parent {root}"));
        bench.id(format!("issues create Which? --parent {work} --tag kind:ask"));
        bench.run(format!("issues close {work} --outcome skipped --reason moot"));
        tick(root)
    }),
    ("tick: open_round", |bench| tick(bench.scope(3).0)),
    ("tick: adopt_round", |bench| {
        let (root, scope) = bench.scope(3);
        let made = |tag: &str, kind: &str, ctx: &str| {
            bench.id(format!(
                "issues create Made --parent {scope} --tag {tag} --tag {kind} --tag {ctx} \
                 --tag proto:hierarchical-work-v1"
            ))
        };
        let attempt = made("flow:attempt", "kind:spawn", "ctx:clean");
        let review = made("flow:review", "kind:fork", "ctx:inherit");
        bench.run(format!("issues dep {attempt} blocks {review}"));
        tick(root)
    }),
    ("tick: next_round", |bench| tick(bench.judged(3, "needs_work"))),
    ("tick: accept_round", |bench| tick(bench.judged(3, "pass"))),
    ("tick: escalate", |bench| tick(bench.judged(1, "needs_work"))),
    ("tick: grant_rounds", |bench| tick(bench.answered("open-extra-round"))),
    ("tick: waive", |bench| tick(bench.answered("accept"))),
    ("tick: hand_off", |bench| tick(bench.answered("stop-and-handoff"))),
    ("tick: abandon", |bench| tick(bench.answered("abandon"))),
    ("tick: retry", |bench| tick(bench.failed("retry"))),
    ("tick: skip", |bench| tick(bench.failed("skip"))),
    ("tick: reclaim", |bench| {
        let root = bench.opened(3);
        bench.run(format!("issues claim {}", bench.ready("attempt")));
        tick(root).later(LATER)
    }),
    ("tick: roll_up", |bench| {
        let root = bench.id("issues create Root --tag kind:root");
        let work = bench.id(format!("issues create Work --parent {root}"));
        bench.run(format!("issues close {work}"));
        tick(root)
    }),
    ("tick: finish", |bench| {
        let root = bench.id("issues create Root --tag kind:root");
        let work = bench.id(format!("issues create Work --parent {root}"));
        bench.run(format!("issues close {work}"));
        bench.run(format!("tick --root {root}"));
        tick(root)
    }),
    ("tick --all", |bench| {
        bench.scope(3);
        Line::of("tick --all")
    }),
    ("heartbeats create", |bench| {
        Line::of(format!("heartbeats create --root {} --reason so", bench.opened(3)))
    }),
    ("heartbeats update", |bench| {
        let root = bench.opened(3);
        bench.run(format!("heartbeats create --root {root}"));
        Line::of(format!("heartbeats update {root} --every 10m --title Slowly"))
    }),
    ("heartbeats disable", |bench| {
        let root = bench.opened(3);
        bench.run(format!("heartbeats create --root {root}"));
        Line::of(format!("heartbeats disable {root} --reason so"))
    }),
    ("heartbeats trigger", |bench| {
        let root = bench.judged(3, "pass");
        bench.run(format!("heartbeats create --root {root} --every 0"));
        Line::of(format!("heartbeats trigger {root} --reason so"))
    }),
    ("cron create", |bench| {
        Line::of(format!("cron create --root {} --expr @daily --tz Europe/Berlin", bench.opened(3)))
    }),
    ("cron delete", |bench| {
        let id = bench.id(format!("cron create --root {} --every 6h", bench.opened(3)));
        Line::of(format!("cron delete {id}"))
    }),
    ("a tick that ends what ticks its root", |bench| {
        let root = bench.id("issues create Root --tag kind:root");
        let work = bench.id(format!("issues create Work --parent {root}"));
        bench.run(format!("heartbeats create --root {root}"));
        bench.run(format!("issues close {work}"));
        bench.run(format!("tick --root {root}"));
        tick(root)
    }),
    ("plan apply", |bench| {
        bench.write("plan.toml", PLAN);
        Line::of("plan apply plan.toml")
    }),
    ("plan apply, again", |bench| {
        bench.write("plan.toml", PLAN);
        bench.run("plan apply plan.toml");
        bench.write("plan.toml", &PLAN.replace("the parser", "the whole parser"));
        Line::of("plan apply plan.toml")
    }),
    ("import", |_| {
        let export = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/import/beads-odd.jsonl");
        Line::of(format!("import --format beads {export}"))
    }),
    ("ui remove", |bench| {
        bench.attempted(3);
        Line::of("ui remove ui:control-flow")
    }),
    ("import, with something there", |bench| {
        bench.issue("Work");
        let export = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/import/beads-small-slice.jsonl");
        Line::of(format!("import --format beads {export}"))
    }),
    ("issues create, of a question", |bench| {
        let root = bench.id("issues create Root --tag kind:root");
        Line::of(format!("issues create Which? --parent {root} --tag kind:ask"))
    }),
    ("heartbeats enable", |bench| {
        let root = bench.opened(3);
        bench.run(format!("heartbeats create --root {root}"));
        bench.run(format!("heartbeats disable {root} --reason so"));
        Line::of(format!("heartbeats enable {root}"))
    }),
    ("heartbeats delete", |bench| {
        let root = bench.opened(3);
        bench.run(format!("heartbeats create --root {root}"));
        Line::of(format!("heartbeats delete {root}"))
    }),
    ("cron update", |bench| {
        let id = bench.id(format!("cron create --root {} --every 6h", bench.opened(3)));
        Line::of(format!("cron update {id} --every 12h"))
    }),
    ("cron disable", |bench| {
        let id = bench.id(format!("cron create --root {} --every 6h", bench.opened(3)));
        Line::of(format!("cron disable {id} --reason so"))
    }),
    ("cron enable", |bench| {
        let id = bench.id(format!("cron create --root {} --every 6h", bench.opened(3)));
        bench.run(format!("cron disable {id} --reason so"));
        Line::of(format!("cron enable {id}"))
    }),
    ("cron trigger", |bench| {
        let id = bench.id(format!("cron create --root {} --every 6h", bench.judged(3, "pass")));
        Line::of(format!("cron trigger {id} --reason so"))
    }),
    ("notify retry", |bench| Line::of(format!("notify retry {}", bench.undelivered()))),
    ("notify drop", |bench| Line::of(format!("notify drop {}", bench.undelivered()))),
];

const PLAN: &str = r#"
[root]
key = "parser"
title = "Ship the parser"

[defaults]
flow = "review-gated-v1"

[workers.attempt]
command = ["sh", "./attempt.sh"]
[workers.review]
command = ["sh", "./review.sh"]

[[goal]]
key = "lexer"
title = "Write the lexer"
accept = ["it reads"]

[[goal]]
key = "grammar"
title = "Write the grammar"
accept = ["it is whole"]
after = ["lexer"]
"#;

/// What reads only, or leaves the database alone.
const READERS: [&str; 32] = [
    "issues get",
    "issues list",
    "issues search",
    "issues children",
    "issues ready",
    "issues validate",
    "issues explain",
    "issues history",
    "forum read",
    "forum topics",
    "rounds show",
    "asks list",
    "asks show",
    "heartbeats list",
    "heartbeats get",
    "cron list",
    "cron get",
    "cron install",
    "notify list",
    "status",
    "ui list",
    "ui get",
    "ui snapshot",
    "ui log",
    "log",
    "graph",
    "plan check",
    "backup",
    "config get",
    "config set",
    "config list",
    "completions",
];

/// What writes in more than one transaction, or makes, mends and replaces whole files: it may be found half
/// done, and what that means has tests of its own.
const NOT_AT_ONCE: [&str; 8] =
    ["run", "heartbeats run", "notify send", "watch", "init", "doctor", "restore", "compact"];

/// The commands that a help text lists.
fn listed(words: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_roundgate")).args(words).arg("--help").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let Some((_, commands)) = text.split_once("Commands:\n") else { return Vec::new() };
    let names = commands.lines().take_while(|line| line.starts_with("  "));
    names
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .filter(|name| name != "help")
        .collect()
}

/// Every command that does something, as it is typed.
fn commands() -> Vec<String> {
    let mut found = Vec::new();
    for group in listed(&[]) {
        let below = listed(&[&group]);
        if below.is_empty() {
            found.push(group);
        } else {
            found.extend(below.into_iter().map(|name| format!("{group} {name}")));
        }
    }
    found
}

#[test]
fn every_command_is_a_verb_here_or_known_not_to_be_one() {
    let commands = commands();
    assert!(commands.len() > 60, "{commands:?}");
    let is = |name: &str, command: &str| {
        name.strip_prefix(command).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',', ':']))
    };
    for command in &commands {
        let verb = VERBS.iter().any(|(name, _)| is(name, command));
        let lists = [READERS.as_slice(), &NOT_AT_ONCE].map(|list| list.contains(&command.as_str()));
        let listed = [verb].into_iter().chain(lists).filter(|&listed| listed).count();
        assert_eq!(listed, 1, "{command} is to be a verb, or one of the lists is to name it, and not both");
    }
    for other in READERS.iter().chain(&NOT_AT_ONCE) {
        assert!(commands.iter().any(|command| command == other), "{other} is no command");
    }
}
