//! A story with every kind of change and every field of an issue in it.

use roundgate::model::change::{Change, Field};
use roundgate::model::document::{DocumentEdit, Head, Part, PartEdit, PartText, Prompt, PromptText};
use roundgate::model::duty::{AskPolicy, AskTimeout, Duty, Fallback, Reminder};
use roundgate::model::graph::{Edge, EdgeKind};
use roundgate::model::issue::{Claim, Issue, Millis, Outcome, Pause, Policy, Priority, Process, State, Work};
use roundgate::model::operation::Operation;
use roundgate::model::record::{
    Annotation, Answer, Ask, AskKind, Bounds, Ceiling, Choice, Failure, Gap, Halt, Halted, Heartbeat,
    HeartbeatKind, Notice, NoticeEnd, Opinion, Overlap, PlanRecord, Rhythm, Round, RoundEnd, Scope, ScopeEnd,
    Trigger, Verdict, WorkerSpec,
};

use crate::store_fixture::{actor, created, id, plain, post};

/// An issue in which every field says something.
fn rich(name: &str, at: Millis) -> Issue {
    Issue {
        body: "Line one\nline two: \"quoted\", 'single', \u{1b}[31m, ünïcödé \u{1f980}".to_owned(),
        tags: ["kind:goal", "node:agent", "free"].iter().map(|t| t.parse().expect("a tag")).collect(),
        priority: Priority::try_from(1).expect("a priority"),
        revision: 7,
        epoch: 5,
        hands: [actor("ann"), actor("bob")].into(),
        failed_steps: 2,
        policy: policy(),
        work: work(),
        key: Some("lexer".to_owned()),
        ..plain(name, at)
    }
}

fn policy() -> Policy {
    Policy {
        max_review_rounds: Some(4),
        max_review_rounds_posted: Some(5),
        no_progress: Some(0),
        allow_self_review: Some(true),
        step_retries: Some(1),
        ask: AskPolicy {
            assignee: Some(actor("hugh")),
            due: Some(20),
            remind: Some(0),
            timeout: Some(AskTimeout { after: 50, choice: "skip".to_owned() }),
        },
    }
}

fn work() -> Work {
    Work {
        accept: vec!["every fixture tokenises".to_owned()],
        verify: vec![vec!["sh".to_owned(), "./check.sh".to_owned()]],
        notes: vec!["not yet".to_owned()],
        attempt: Some("attempt".to_owned()),
        review: Some("review".to_owned()),
    }
}

pub fn edge(from: &str, kind: EdgeKind, to: &str) -> Edge {
    Edge { from: id(from), kind, to: id(to) }
}

fn process(pid: u32) -> Process {
    Process { boot_id: "b00t".to_owned(), pid, started: 123_456, pid_namespace: Some(4_026_531_836) }
}

fn states() -> Vec<State> {
    let claim = Claim { actor: actor("ann"), epoch: 1, expires_at: 99, runner: None, worker: None };
    let run = Claim { epoch: 2, runner: Some(process(10)), worker: Some(process(11)), ..claim.clone() };
    let mut states = vec![State::InProgress { claim }, State::InProgress { claim: run }, State::Open];
    for outcome in Outcome::ALL {
        states.push(State::Closed { outcome, reason: None });
        states.push(State::Closed { outcome, reason: Some(format!("because {outcome}")) });
    }
    states
}

fn changed(name: &str, after: Vec<Field>) -> Change {
    // What it was before is for readers; no store looks at it.
    Change::IssueChanged { id: id(name), before: after.clone(), after }
}

fn moved(name: &str, after: Option<&str>) -> Change {
    Change::ParentSet { id: id(name), before: None, after: after.map(id) }
}

fn scopes() -> Vec<Scope> {
    let bounds = Bounds { max_rounds: 9, no_progress: 0, allow_self_review: true, step_retries: 7 };
    let open = Scope {
        id: id("rg-goal"),
        policy: "review-gated-v1".to_owned(),
        bounds: Bounds::default(),
        end: None,
    };
    let ends = [ScopeEnd::Passed, ScopeEnd::Waived, ScopeEnd::Abandoned].map(Some);
    let ended = ends.into_iter().map(|end| Scope { end, bounds: bounds.clone(), ..open.clone() });
    std::iter::once(open.clone()).chain(ended).collect()
}

fn rounds() -> Vec<Round> {
    let open = Round {
        scope: id("rg-goal"),
        number: 1,
        attempt: id("rg-a1"),
        review: id("rg-r1"),
        verdict: None,
        end: None,
    };
    let verdict = |opinion| Verdict {
        opinion,
        reason: "it does not build".to_owned(),
        by: actor("bob"),
        at: 77,
        evidence: vec!["log.txt".to_owned()],
    };
    let failed = |signature| Some(RoundEnd::Failed { notes: "again".to_owned(), signature });
    let judged = Round { verdict: Some(verdict(Opinion::NeedsWork)), ..open.clone() };
    let unsigned = Round { end: failed(None), ..judged.clone() };
    let signed = Round { end: failed(Some("it does not build".to_owned())), ..judged.clone() };
    let second = Round { number: 2, attempt: id("rg-a2"), review: id("rg-r2"), ..open.clone() };
    let passed =
        Round { verdict: Some(verdict(Opinion::Pass)), end: Some(RoundEnd::Passed), ..second.clone() };
    vec![open, judged, unsigned, signed, second, passed]
}

fn duty() -> Duty {
    Duty {
        assignee: Some(actor("hugh")),
        since: 70,
        due_at: Some(90),
        remind_every: Some(10),
        default: Some(Fallback { at: 120, choice: "skip".to_owned(), since: 75 }),
        reminder: None,
        earlier: 2,
    }
}

fn asks() -> Vec<Ask> {
    let choice = Choice { id: "skip".to_owned(), label: "Skip".to_owned(), effect: "skips it".to_owned() };
    let full = Ask {
        id: id("rg-q0"),
        kind: AskKind::Rounds,
        scope: Some(id("rg-goal")),
        round: Some(2),
        about: Some(id("rg-a2")),
        question: "What now?".to_owned(),
        evidence: vec!["two rounds".to_owned()],
        choices: vec![choice],
        answer: None,
        duty: Some(duty()),
    };
    let kinds = [AskKind::Handoff, AskKind::Failure, AskKind::Steps, AskKind::Question];
    let bare = kinds.into_iter().enumerate().map(|(n, kind)| Ask {
        id: id(&format!("rg-q{}", n + 1)),
        kind,
        scope: None,
        round: None,
        about: None,
        evidence: Vec::new(),
        choices: Vec::new(),
        duty: None,
        ..full.clone()
    });
    std::iter::once(full.clone()).chain(bare).collect()
}

fn answers() -> [Option<Box<Answer>>; 3] {
    let plain = Answer {
        choice: "skip".to_owned(),
        note: String::new(),
        by: actor("eve"),
        at: 5,
        rounds: None,
        with_dependents: false,
    };
    let full = Answer { rounds: Some(2), with_dependents: true, ..plain.clone() };
    [Some(Box::new(plain)), Some(Box::new(full)), None]
}

fn plans() -> [PlanRecord; 2] {
    let bare =
        PlanRecord { root: id("rg-root"), folder: "/plans/a b".into(), workers: [].into(), said: [].into() };
    let spec = WorkerSpec { command: vec!["sh".to_owned(), "-c".to_owned()], time_limit: 60_000 };
    let full = PlanRecord { workers: [("attempt".to_owned(), spec)].into(), ..bare.clone() };
    [bare, full]
}

fn heartbeats() -> Vec<Change> {
    let bare = Heartbeat {
        id: "hb-a".parse().expect("an id"),
        kind: HeartbeatKind::Heartbeat,
        root: id("rg-root"),
        title: "the clock".to_owned(),
        reason: String::new(),
        rhythm: Rhythm::Triggered,
        ceiling: Ceiling { lasts: 1, ticks: None },
        overlap: Overlap::Skip,
        anchor: -5,
        halted: None,
        last_run: None,
        skipped: 0,
        gap: None,
        trigger: None,
        created_by: actor("ann"),
        created_at: 4,
    };
    let reasons = [Halt::ByHand, Halt::Final, Halt::Ceiling, Halt::Spent];
    let halted = reasons.map(|why| Some(Halted { why, by: actor("eve"), at: 9, note: "enough".to_owned() }));
    let rhythms = [
        Rhythm::Every { interval: 15_000 },
        Rhythm::At { at: 77 },
        Rhythm::Cron { expr: "0 3 * * MON".to_owned(), zone: "Europe/Berlin".to_owned() },
        Rhythm::Triggered,
    ];
    let full = halted.into_iter().zip(rhythms).map(|(halted, rhythm)| Heartbeat {
        halted,
        rhythm,
        reason: "nobody looks at night".to_owned(),
        ceiling: Ceiling { lasts: 99, ticks: Some(7) },
        overlap: Overlap::Queue,
        last_run: Some(80),
        skipped: 3,
        gap: Some(Gap { count: 3, at_least: true, first: 10, last: 70 }),
        trigger: Some(Trigger { by: actor("bob"), at: 8, reason: "smoke".to_owned() }),
        ..bare.clone()
    });
    let cron = |name: &str| Heartbeat {
        id: name.parse().expect("an id"),
        kind: HeartbeatKind::Cron,
        ..bare.clone()
    };
    let set = |after: Heartbeat| Change::HeartbeatSet { before: None, after: after.into() };
    let mut changes: Vec<Change> = vec![set(bare.clone()), set(cron("hb-c")), set(cron("hb-d"))];
    changes.extend(full.map(set));
    changes.push(Change::HeartbeatRemoved { heartbeat: cron("hb-c").into() });
    changes
}

/// A notice that is due at a moment, and failed at another.
pub fn notice(name: &str, due_at: Millis, failed_at: Option<Millis>) -> Notice {
    let failure = failed_at.map(|at| Failure { at, why: "it exited with 1: \u{202e}no".to_owned() });
    Notice { due_at, failure, ..Notice::new(name.parse().expect("an id"), 3) }
}

pub fn noticed(after: &Notice) -> Change {
    Change::NoticeSet { before: None, after: Box::new(after.clone()) }
}

fn notices() -> Vec<Change> {
    let kinds = ["asked:1", "reminder:1", "reminder:2", "due:1", "timeout:1", "moot:1"];
    let all = kinds.map(|kind| notice(&format!("rg-q0:{kind}"), -7, None));
    let mut changes: Vec<Change> = all.iter().map(noticed).collect();
    let taken = Notice { sender: Some(actor("bob")), attempts: 3, ..all[1].clone() };
    let failed = Notice { failures: 2, attempts: 4, ..notice("rg-q0:reminder:2", 99, Some(-1)) };
    changes.extend([noticed(&taken), noticed(&failed), noticed(&notice("rg-q4:asked:1", 5, None))]);
    for (gone, end) in [(&all[0], NoticeEnd::Delivered), (&all[3], NoticeEnd::Dropped)] {
        changes.push(Change::NoticeEnded { notice: Box::new(gone.clone()), end });
    }
    changes
}

/// Changes that fold one after the other from nothing, in bundles as a store commits them. Every kind
/// of change and every field of an issue is among them.
pub fn story() -> Vec<Vec<Change>> {
    let mut begin = vec![created(plain("rg-root", 1), None), created(rich("rg-goal", -5), Some("rg-root"))];
    for (name, parent) in [
        ("rg-r1", "rg-goal"),
        ("rg-a1", "rg-goal"),
        ("rg-r2", "rg-r1"),
        ("rg-a2", "rg-r1"),
        ("rg-z", "rg-root"),
        ("rg-b", "rg-root"),
    ] {
        begin.push(created(plain(name, 2), Some(parent)));
    }
    begin.extend((0..5).map(|n| created(plain(&format!("rg-q{n}"), 3), Some("rg-r2"))));

    let fields = [
        Field::Title("Another title".to_owned()),
        Field::Body("Another body".to_owned()),
        Field::Tags(["x", "kind:fork"].iter().map(|t| t.parse().expect("a tag")).collect()),
        Field::Priority(Priority::try_from(5).expect("a priority")),
        Field::Epoch(41),
        Field::Hands([actor("zoe")].into()),
        Field::FailedSteps(3),
        Field::Policy(policy()),
        Field::Work(work()),
        Field::Key(Some("key".to_owned())),
    ];
    let mut change: Vec<Change> = fields.iter().map(|f| changed("rg-a1", vec![f.clone()])).collect();
    change.push(changed("rg-a2", fields.to_vec()));
    change.push(changed("rg-goal", vec![Field::Key(None), Field::Policy(Policy::default())]));
    let pause = Pause { by: actor("zoe"), at: 7, reason: "no\nmoney".to_owned() };
    for name in ["rg-a1", "rg-a2"] {
        change.push(changed(name, vec![Field::Pause(Some(pause.clone()))]));
    }
    change.push(changed("rg-a2", vec![Field::Pause(None)]));
    change.push(changed("rg-z", vec![Field::Title("First".to_owned()), Field::Title("Last".to_owned())]));
    change.push(changed("rg-z", Vec::new()));
    change.extend(states().into_iter().map(|state| changed("rg-b", vec![Field::State(state)])));

    let moves = vec![
        moved("rg-z", None),
        moved("rg-z", Some("rg-goal")),
        moved("rg-a1", Some("rg-goal")),
        moved("rg-b", None),
    ];

    let all = [
        edge("rg-z", EdgeKind::Blocks, "rg-r1"),
        edge("rg-a1", EdgeKind::Blocks, "rg-r1"),
        edge("rg-b", EdgeKind::Blocks, "rg-r1"),
        edge("rg-a2", EdgeKind::Supersedes, "rg-a1"),
        edge("rg-b", EdgeKind::Supersedes, "rg-a1"),
    ];
    let mut edges: Vec<Change> = all.iter().map(|edge| Change::EdgeAdded { edge: edge.clone() }).collect();
    edges.push(Change::EdgeRemoved { edge: all[0].clone() });
    edges.push(Change::EdgeRemoved { edge: all[3].clone() });
    edges.push(Change::EdgeAdded { edge: all[0].clone() });

    let mut records = Vec::new();
    records.extend(rounds().into_iter().map(|after| Change::RoundSet { before: None, after: after.into() }));
    records.extend(scopes().into_iter().map(|after| Change::ScopeSet { before: None, after: after.into() }));
    records.extend(asks().into_iter().map(|ask| Change::AskOpened { ask: ask.into() }));
    for after in answers() {
        records.push(Change::AnswerSet { id: id("rg-q0"), before: None, after: after.clone() });
        records.push(Change::AnswerSet { id: id("rg-q4"), before: after.clone(), after });
    }
    let [answer, ..] = answers();
    records.push(Change::AnswerSet { id: id("rg-q3"), before: None, after: answer });
    let assigned = |name, before: Option<Duty>, after: Option<Duty>| Change::DutySet {
        id: id(name),
        before: before.map(Box::new),
        after: after.map(Box::new),
    };
    let reminder = Some(Reminder { count: 1, due: 90, skipped: 0 });
    let reminded = Duty { reminder, ..duty() };
    records.push(assigned("rg-q1", None, Some(Duty::since(3))));
    records.push(assigned("rg-q1", Some(Duty::since(3)), None));
    records.push(assigned("rg-q2", None, Some(duty())));
    records.push(Change::AskReminded { id: id("rg-q2"), duty: Box::new(reminded) });
    records.extend(plans().into_iter().map(|after| Change::PlanSet { before: None, after: after.into() }));

    let note = |kind: &str| Change::Annotated {
        annotation: Annotation { issue: id("rg-gone"), kind: kind.to_owned(), text: "…".to_owned() },
    };
    let finished = |name, finished| Change::RootFinished { id: id(name), finished };
    let rest = vec![
        post("issue:rg-a1", "START", 10),
        post("issue:rg-a1", "RESULT\nsecond line", 11),
        post("issue:rg-b", "QUESTION", 12),
        finished("rg-root", true),
        finished("rg-root", true),
        finished("rg-b", true),
        finished("rg-b", false),
        finished("rg-b", false),
        Change::IdReserved { id: id("rg-gone") },
        Change::IdReserved { id: id("rg-gone") },
        note("second"),
        note("first"),
        note("first"),
        done("an-operation", 0, "a reply"),
        done("an-operation", 1, "another"),
    ];
    vec![begin, change, moves, edges, records, heartbeats(), notices(), rest, documents()]
}

/// A step of an operation, with a text for its reply.
pub fn done(name: &str, step: u32, reply: &str) -> Change {
    let operation = Operation {
        id: name.parse().expect("an operation"),
        step,
        request: "request".to_owned(),
        changed: true,
        reply: reply.into(),
    };
    Change::OperationDone { operation: Box::new(operation) }
}

/// Documents that come, change, are hidden, move to another root, and go.
fn documents() -> Vec<Change> {
    let head = |root: &str, version, shown| Head {
        root: id(root),
        ui_id: "ui:control-flow".to_owned(),
        version,
        updated_at: 7,
        shown,
    };
    let part = |scope: &str, root: &str, place, abroad| Part {
        scope: id(scope),
        root: id(root),
        place,
        name: format!("policy:{scope}"),
        abroad,
        text: PartText {
            title: "Review gate".to_owned(),
            policy: "flow:review-gated-v1".to_owned(),
            round: "1/3".to_owned(),
            attempt: "rg-a1".to_owned(),
            review: "rg-r1".to_owned(),
            state: "attempt_pending".to_owned(),
            next: "Run attempt_1".to_owned(),
        },
    };
    let boxed = |part: &Part| Some(Box::new(part.clone()));
    let status = |after: Head, parts: Vec<PartEdit>| Change::DocumentSet {
        edit: Box::new(DocumentEdit::Status { before: None, after: Box::new(after), parts }),
    };
    let prompt = |ask: &str, ui_id: &str, version| Change::DocumentSet {
        edit: Box::new(DocumentEdit::Prompt {
            before: None,
            after: Box::new(Prompt {
                ask: id(ask),
                root: id("rg-root"),
                ui_id: ui_id.to_owned(),
                version,
                updated_at: 8,
                shown: true,
                text: PromptText {
                    title: "Question".to_owned(),
                    summary: "…".to_owned(),
                    question: "Which \"one\"?".to_owned(),
                    actions: vec![("done".to_owned(), "Done".to_owned())],
                },
            }),
        }),
    };
    let removed = |root: &str, ui_id: &str, hidden| Change::DocumentRemoved {
        root: id(root),
        ui_id: ui_id.to_owned(),
        hidden,
    };
    let (here, there) = (part("rg-goal", "rg-root", 1, true), part("rg-goal", "rg-b", 1, false));
    let other = part("rg-a2", "rg-root", 2, false);
    vec![
        status(
            head("rg-root", 1, true),
            vec![
                PartEdit { before: None, after: boxed(&here) },
                PartEdit { before: None, after: boxed(&other) },
            ],
        ),
        status(head("rg-b", 1, true), vec![PartEdit { before: None, after: boxed(&there) }]),
        status(head("rg-root", 2, true), vec![PartEdit { before: boxed(&here), after: None }]),
        status(head("rg-z", 4, true), Vec::new()),
        removed("rg-z", "ui:control-flow", true),
        prompt("rg-q0", "ui:control-flow:escalation", 1),
        prompt("rg-q1", "ui:control-flow:escalation:rg-q1", 1),
        prompt("rg-q2", "ui:control-flow:escalation:rg-q2", 1),
        prompt("rg-q1", "ui:control-flow:escalation:rg-q1", 2),
        removed("rg-root", "ui:control-flow:escalation", false),
        removed("rg-root", "ui:control-flow:escalation:rg-q2", true),
        removed("rg-root", "ui:control-flow", false),
        removed("rg-root", "ui:none", false),
    ]
}
