//! Asks with somebody to answer them, a due time, reminders and a default, by command line; and an ask
//! answered on a terminal.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::json;

use crate::gated::Gated;
use crate::stage::Stage;

#[test]
fn an_ask_is_assigned_shown_reminded_of_and_answered_by_nobody() {
    let (gated, ask, beyond) = Gated::escalated();
    let (stage, root) = (&gated.stage, &gated.root);
    stage.refused(2, &format!("asks assign {ask}"));
    stage.refused(2, &format!("asks assign {ask} --timeout 1d"));
    stage.refused(2, &format!("asks assign {ask} --timeout 1d --default open-extra-round"));
    stage.refused(2, &format!("asks assign {ask} --timeout 1d --default nonsense"));
    let assign = format!("asks assign {ask} --to hugh --due 2d --remind 12h --timeout 4d --default abandon");
    stage.show(&assign);
    stage.show("asks list");
    stage.show(&format!("asks show {ask}"));
    stage.hours_pass(49);
    stage.show(&format!("tick --root {root}"));
    stage.show(&format!("tick --root {root}"));
    stage.hours_pass(25);
    stage.show(&format!("tick --root {root}"));
    stage.hours_pass(24);
    stage.show(&format!("tick --root {root}"));
    stage.refused(4, &format!("answer {ask} accept"));
    stage.show(&format!("asks show {ask}"));
    stage.show(&format!("tick --root {root}"));
    stage.show(&format!("issues history {ask}"));
    assert!(gated.is_ready(&beyond));
    assert_snapshot!(stage.transcript());
}

#[test]
fn an_ask_is_due_at_a_moment_or_a_local_time_that_is_still_to_come() {
    let stage = Stage::new();
    let ask = stage.id(
        "issues create 'Which region?' --tag kind:ask --ask-due 2026-03-29T03:30 --tz Europe/Berlin --ask-remind 1h",
    );
    let due = |line: &str| stage.json(line)["due_at"].as_i64().unwrap();
    // The local times from 2 to 3 are left out that day.
    assert_eq!(due(&format!("asks show {ask}")), 1_774_747_800_000);
    assert_eq!(stage.json(&format!("asks show {ask}"))["remind_every_ms"], json!(3_600_000));
    for (when, at) in [
        ("--due 2026-12-05T09:00:00Z", 1_796_461_200_000),
        ("--due 2026-12-05T09:00:00+01:00", 1_796_457_600_000),
        ("--due '2026-12-05 09:00'", 1_796_461_200_000),
        ("--due 2026-03-29T02:30 --tz Europe/Berlin", 1_774_746_000_000),
    ] {
        assert_eq!(due(&format!("asks assign {ask} {when}")), at, "{when}");
    }
    for wrong in [
        // The stage's clock stands at 2026-02-26 01:00.
        "--due 2026-02-26T01:00:00Z",
        "--due 2026-02-26T01:30 --tz Europe/Berlin",
        "--due 2026-12",
        "--due tomorrow",
        "--due -2d",
        "--due 2026-12-05T09:00 --tz Middle/Earth",
        "--due 2d --tz Europe/Berlin",
        "--tz Europe/Berlin",
    ] {
        stage.refused(2, &format!("asks assign {ask} {wrong}"));
    }
    stage.refused(2, "issues create X --tag kind:ask --ask-due 2026-02-26T01:00:00Z");
    stage.refused(2, "issues create X --tag kind:ask --ask-due 2d --tz Europe/Berlin");
    stage.refused(2, "issues create X --ask-due 2026-12-05T09:00:00Z");
    stage.refused(2, &format!("rounds open {ask} --ask-due 2026-12-05T09:00:00Z"));
    assert_snapshot!(stage.transcript());
}

#[test]
fn a_scope_says_what_becomes_of_its_asks() {
    let stage = Stage::new();
    let goal = stage.id(
        "issues create 'Write the lexer' --tag kind:goal --tag flow:review-gated-v1 --max-review-rounds 1 \
         --ask-assignee hugh --ask-due 2d --ask-remind 12h --ask-timeout 4d --ask-default stop-and-handoff",
    );
    stage.refused(
        2,
        "issues create X --tag flow:review-gated-v1 --ask-timeout 1d --ask-default open-extra-round",
    );
    stage.refused(2, "issues create X --ask-timeout 1d");
    stage.ok(&format!("tick --root {goal}"));
    let attempt = stage.ready("attempt");
    stage.cmd(&format!("issues close {attempt}")).by("worker").ok();
    let review = stage.ready("review");
    stage.cmd(&format!("rounds verdict {review} needs_work --note no --tick")).by("reviewer").ok();
    let ask = stage.json("asks list")[0].clone();
    assert_eq!((&ask["assignee"], &ask["remind_every_ms"]), (&json!("hugh"), &json!(43_200_000)));
    let asked = ask["timeout"]["at"].as_i64().unwrap() - 4 * 86_400_000;
    assert_eq!(ask["due_at"], json!(asked + 2 * 86_400_000));
    assert_eq!(ask["timeout"]["choice"], "stop-and-handoff");
    stage.show(&format!("issues update {goal} --ask-assignee bob"));
    stage.refused(5, &format!("issues update {goal} --max-review-rounds 2"));
    let id = ask["id"].as_str().unwrap();
    stage.refused(5, &format!("issues update {id} --ask-due 1h"));
    stage.ok(&format!("asks assign {id} --to-anybody --no-due --remind 0 --no-timeout"));
    assert_eq!(stage.json(&format!("asks show {id}"))["timeout"], json!(null));
}

#[test]
fn the_configuration_says_what_becomes_of_asks_where_no_issue_does() {
    let stage = Stage::new();
    stage.refused(2, "config set ask_timeout 4d");
    stage.refused(2, "config set ask_default open-extra-round");
    stage.refused(2, "config set ask_assignee 'hugh smith'");
    for set in ["assignee hugh", "due 2d", "remind 12h", "default stop-and-handoff", "timeout 4d"] {
        stage.ok(&format!("config set ask_{set}"));
    }
    stage.refused(2, "config set ask_default ''");
    let asked = |more: &str| {
        let goal = stage.id(&format!(
            "issues create 'Write the lexer' --tag kind:goal --tag flow:review-gated-v1 --max-review-rounds 1 {more}"
        ));
        stage.ok(&format!("tick --root {goal}"));
        let attempt = stage.ready("attempt");
        stage.cmd(&format!("issues close {attempt}")).by("worker").ok();
        let review = stage.ready("review");
        stage.cmd(&format!("rounds verdict {review} needs_work --note no --tick")).by("reviewer").ok();
        stage.json(&format!("asks list --root {goal}"))[0].clone()
    };
    let ask = asked("");
    let day = 86_400_000;
    assert_eq!((&ask["assignee"], &ask["remind_every_ms"]), (&json!("hugh"), &json!(day / 2)));
    assert_eq!(ask["timeout"]["choice"], "stop-and-handoff");
    let at = ask["timeout"]["at"].as_i64().unwrap() - 4 * day;
    assert_eq!(ask["due_at"], json!(at + 2 * day));
    // What an issue says goes before, and it may want nothing of it.
    let ask = asked("--ask-assignee ann --ask-due 0 --ask-remind 0 --ask-timeout 0");
    assert_eq!(
        (&ask["assignee"], &ask["due_at"], &ask["timeout"]),
        (&json!("ann"), &json!(null), &json!(null))
    );
    assert_eq!(ask["remind_every_ms"], json!(null));
    // A question by hand is an ask, too; it does not offer the default.
    let question = stage.id("issues create 'Which region?' --tag kind:ask");
    let question = stage.json(&format!("asks show {question}"));
    assert_eq!((&question["assignee"], &question["timeout"]), (&json!("hugh"), &json!(null)));
    for set in ["timeout 0", "default ''", "assignee ''"] {
        stage.ok(&format!("config set ask_{set}"));
    }
    let ask = asked("");
    assert_eq!((&ask["assignee"], &ask["timeout"]), (&json!(null), &json!(null)));
    stage.write(".roundgate/config.toml", "ask_timeout = \"4d\"\n");
    stage.refused(2, "tick --all");
}

#[test]
fn an_issue_that_becomes_a_question_takes_what_is_wanted_above_and_what_is_configured() {
    let stage = Stage::new();
    stage.ok("config set ask_remind 12h");
    let root = stage.id("issues create Root --tag kind:root --ask-assignee hugh --ask-due 2d");
    let ask = stage.id(&format!("issues create 'Which region?' --parent {root} --ask-due 1d"));
    stage.ok(&format!("issues update {ask} --tags kind:ask"));
    let ask = stage.json(&format!("asks show {ask}"));
    assert_eq!((&ask["assignee"], &ask["remind_every_ms"]), (&json!("hugh"), &json!(43_200_000)));
    let events = stage.json("log --all");
    let made = events.as_array().unwrap().iter().find(|event| event["change"] == "ask_opened").unwrap();
    assert_eq!(ask["due_at"], json!(made["at"].as_i64().unwrap() + 86_400_000));
    // Its own default must be one of its choices, as with a new question.
    let work = stage.id("issues create 'Move the data' --ask-timeout 1d --ask-default accept");
    let said = stage.refused(2, &format!("issues update {work} --tags kind:ask"));
    assert!(said.stderr.contains("accept"), "{}", said.stderr);
}

#[test]
fn what_an_issue_wants_of_its_asks_can_be_taken_away_again() {
    let stage = Stage::new();
    let root =
        stage.id("issues create Root --tag kind:root --ask-assignee hugh --ask-due 2d --ask-remind 1d");
    let below = stage.id(&format!(
        "issues create Below --parent {root} --tag kind:goal --ask-assignee ann --ask-due 0 --ask-remind 1h \
         --ask-timeout 1d --ask-default skip --max-review-rounds 2"
    ));
    let asked = || {
        let ask = stage.id(&format!("issues create 'Which region?' --tag kind:ask --parent {below}"));
        stage.json(&format!("asks show {ask}"))
    };
    let ask = asked();
    assert_eq!((&ask["assignee"], &ask["due_at"]), (&json!("ann"), &json!(null)));
    assert_eq!(ask["timeout"]["choice"], "skip");
    let events = stage.events();
    stage.refused(2, &format!("issues update {below} --unset nonsense"));
    assert_eq!(stage.events(), events);
    stage.ok(&format!("issues update {below} --unset ask-assignee --unset ask-due --unset ask-timeout"));
    let ask = asked();
    assert_eq!((&ask["assignee"], &ask["timeout"]), (&json!("hugh"), &json!(null)));
    assert!(ask["due_at"].is_i64(), "{ask}");
    assert_eq!(ask["remind_every_ms"], json!(3_600_000));
    // What is taken away and set at once is set; and again it is no change.
    let events = stage.events();
    stage.ok(&format!("issues update {below} --unset ask-remind --ask-remind 1h --unset ask-assignee"));
    assert_eq!(stage.events(), events);
    stage.ok(&format!("issues update {below} --unset ask-remind --unset max-review-rounds"));
    assert_eq!(asked()["remind_every_ms"], json!(86_400_000));
}

#[test]
fn a_human_sees_four_things_to_weigh_at_most_and_where_the_rest_is() {
    let stage = Stage::new();
    let ask = stage.id(&format!(
        "issues create 'Which region?' --tag kind:ask --choice eu --choice us --body '{}'",
        "The contract names both. ".repeat(40)
    ));
    let shown = stage.ok(&format!("asks show {ask}"));
    assert!(shown.contains('…') && shown.lines().all(|line| line.chars().count() < 420), "{shown}");
    assert!(shown.contains(&format!("everything: roundgate forum read issue:{ask}")), "{shown}");
    assert_eq!(stage.json(&format!("asks show {ask}"))["evidence"][0].as_str().unwrap().len(), 1_000);

    let gated = Gated::opened(3);
    for note in ["tabs count as one", "no end of input", "nested comments"] {
        gated.fails(note);
    }
    let ask = gated.stage.json("asks list")[0]["id"].as_str().unwrap().to_owned();
    let hand_off = format!("answer {ask} stop-and-handoff --note 'I do it' --tick");
    gated.stage.ok(&hand_off);
    let second = gated.stage.json("asks list")[0]["id"].as_str().unwrap().to_owned();
    let shown = gated.stage.ok(&format!("asks show {second}"));
    assert_eq!(shown.matches("\n  - ").count(), 4, "{shown}");
    assert_eq!(shown.matches("everything: roundgate rounds show").count(), 1, "{shown}");
    assert!(shown.starts_with(&format!("{second}  open  in {}\nfor ana\n", gated.root)), "{shown}");
}

#[test]
fn without_a_choice_and_a_terminal_the_choices_are_named() {
    let (gated, ask, _) = Gated::escalated();
    gated.stage.refused(2, &format!("answer {ask}"));
    assert!(gated.stage.transcript().contains("open-extra-round, stop-and-handoff, accept, abandon"));
}

/// Runs a command on a terminal of its own, where somebody types these lines. `None` where the machine
/// has no `script` to make one.
fn typed(stage: &Stage, line: &str, lines: &str) -> Option<(i32, String)> {
    let plain = stage.cmd(line).command();
    let quoted = |word: &OsStr| format!("'{}'", word.to_str().unwrap());
    let words: Vec<String> =
        std::iter::once(plain.get_program()).chain(plain.get_args()).map(quoted).collect();
    let mut command = Command::new("script");
    command.args(["-qec", &words.join(" "), "/dev/null"]).current_dir(plain.get_current_dir().unwrap());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = match command.spawn() {
        Ok(running) => running,
        Err(error) => {
            eprintln!("there is no script here, so nothing was looked at: {error}");
            return None;
        }
    };
    running.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let ended = running.wait_with_output().unwrap();
    Some((ended.status.code().unwrap(), String::from_utf8_lossy(&ended.stdout).into_owned()))
}

#[test]
fn on_a_terminal_a_human_is_shown_the_ask_and_answers_by_number_or_word() {
    for said in ["9\nsomething\n3\ngood enough\ny\n", "accept\ngood enough\ny\n"] {
        let (gated, ask, _) = Gated::escalated();
        let Some((exit, shown)) = typed(&gated.stage, &format!("answer {ask}"), said) else { return };
        assert_eq!(exit, 0, "{shown}");
        assert!(shown.contains("Max review rounds were reached"), "{shown}");
        assert_eq!(shown.contains("there is no choice something"), said.starts_with('9'), "{shown}");
        let answered = gated.stage.json(&format!("asks show {ask}"));
        assert_eq!((&answered["answer"], &answered["note"]), (&json!("accept"), &json!("good enough")));
        assert_eq!(answered["answered_by"], "ana");
    }
}

#[test]
fn whoever_says_nothing_or_is_not_sure_leaves_it_open() {
    let (gated, ask, _) = Gated::escalated();
    let events = gated.stage.events();
    for said in ["\n", "accept\n\nn\n", "accept\n\n\n"] {
        let Some((exit, shown)) = typed(&gated.stage, &format!("answer {ask}"), said) else { return };
        assert!(exit == 0 && shown.contains("was not answered"), "{shown}");
    }
    assert_eq!(gated.stage.events(), events);
    gated.stage.ok(&format!("answer {ask} accept"));
    let Some((exit, shown)) = typed(&gated.stage, &format!("answer {ask}"), "abandon\n\ny\n") else { return };
    assert!(exit == 4 && shown.contains("already answered accept by ana"), "{shown}");
}

#[test]
fn an_ask_below_something_that_was_skipped_closes_as_moot() {
    let stage = Stage::new();
    let root = stage.id("issues create Root --tag kind:root --tag proto:hierarchical-work-v1");
    let work = stage.id(&format!("issues create 'Move the data' --parent {root}"));
    let ask = stage.id(&format!("issues create 'Which region?' --tag kind:ask --parent {work}"));
    stage.ok(&format!("issues close {work} --outcome skipped --reason 'no data'"));
    stage.show("tick --all");
    stage.show(&format!("asks show {ask}"));
    stage.show("asks list");
    stage.show(&format!("issues history {ask}"));
    assert_snapshot!(stage.transcript());
}

#[test]
fn a_reminder_is_one_event_an_interval_and_a_heartbeat_makes_it() {
    let (gated, ask, _) = Gated::escalated();
    let stage = &gated.stage;
    stage.ok(&format!("asks assign {ask} --to hugh --remind 1d"));
    stage.ok(&format!("heartbeats create --root {} --every 6h", gated.root));
    for _ in 0..40 {
        stage.hours_pass(6);
        stage.ok("heartbeats run --once");
    }
    let reminded: Vec<_> = stage.json("log --all").as_array().unwrap().clone();
    let reminded: Vec<_> = reminded.iter().filter(|event| event["change"] == "ask_reminded").collect();
    assert_eq!(reminded.len(), 10);
    assert_eq!(reminded[9]["duty"]["reminder"]["count"], 10);
    assert_eq!(reminded[9]["duty"]["assignee"], "hugh");
    assert_eq!((&reminded[9]["id"], &reminded[9]["duty"]["reminder"]["skipped"]), (&json!(ask), &json!(0)));
    assert_eq!(stage.json(&format!("asks show {ask}"))["status"], "open");
}

#[test]
fn a_date_is_the_end_of_that_day_in_its_zone() {
    let stage = Stage::new();
    let ask = stage.id("issues create 'Which region?' --tag kind:ask --ask-due 2026-12-24");
    let due = |line: &str| stage.json(line)["due_at"].as_i64().unwrap();
    assert_eq!(due(&format!("asks show {ask}")), 1_798_156_799_000);
    assert!(stage.ok(&format!("asks show {ask}")).contains("due 2026-12-24 23:59:59Z"));
    for (when, at) in [
        ("--due 2026-12-24 --tz Europe/Berlin", 1_798_153_199_000),
        // The first hour of the next day is there twice: the day ends before the first.
        ("--due 2026-10-31 --tz America/Havana", 1_793_505_599_000),
        // The next day begins at one: its clocks go forward at midnight.
        ("--due 2026-04-23 --tz Africa/Cairo", 1_776_981_599_000),
    ] {
        assert_eq!(due(&format!("asks assign {ask} {when}")), at, "{when}");
    }
    let over = stage.refused(2, &format!("asks assign {ask} --due 2026-02-25"));
    assert!(over.stderr.contains("2026-02-25 is over"), "{}", over.stderr);
    for wrong in ["2026-02-30", "2026-13-01", "24-12-2026", "2026-12-24T", "10000-01-01"] {
        let ran = stage.refused(2, &format!("asks assign {ask} --due {wrong}"));
        for form in [
            "2026-10-25T02:30 (with --tz ZONE)",
            "2026-10-25T02:30:00+01:00",
            "2026-10-25 for the end of that day",
        ] {
            assert!(ran.stderr.contains(form), "{wrong}: {}", ran.stderr);
        }
    }
    assert!(stage.ok("asks assign --help").contains("2026-12-05 for the end of that day"));
}

#[test]
fn a_plan_gives_each_of_its_asks_so_long_and_says_so_to_a_date() {
    let stage = Stage::new();
    let plan = "[root]\nkey = \"r\"\ntitle = \"Ship it\"\nask_due = \"2026-12-24\"\n\n\
                [[goal]]\nkey = \"g\"\ntitle = \"Write it\"\naccept = [\"it is there\"]\n";
    stage.write("plan.toml", plan);
    let ran = stage.refused(2, "plan check plan.toml");
    for said in
        ["ask_due", "a duration such as 2d", "\"2026-12-24\" is a moment", "asks assign ASK --due WHEN"]
    {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
}
