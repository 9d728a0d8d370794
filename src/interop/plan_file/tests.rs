//! Which texts are plans, and what is said of those that are not.

use proptest::prelude::*;

use super::*;

const ROOT: &str = "[root]\nkey = \"demo\"\ntitle = \"A demonstration\"\n";

fn complaints(text: &str) -> Vec<String> {
    parse(text).unwrap_err().iter().map(PlanError::to_string).collect()
}

#[test]
fn a_full_plan_is_read_as_written() {
    let text = r#"
[root]
key = "parser"
title = "Ship the parser"
body = "All of it."
priority = 1

[defaults]
max_review_rounds = 4
step_retries = 0
time_limit = "10m"

[workers.attempt]
command = ["sh", "./workers/attempt.sh"]
[workers.review]
command = ["./review"]
time_limit = "30s"
[workers.writer]
command = ["write"]

[[goal]]
key = "lexer"
title = "Write the lexer"
body = "What is wanted."
accept = ["every fixture tokenises", "no panics"]
verify = [["sh", "./checks/lexer.sh"], ["true"]]
priority = 2
max_review_rounds = 0x10
no_progress = 0
allow_self_review = true
tags = ["area:front", "x"]

[[goal]]
key = "docs"
title = "Write the documents"
after = ["lexer"]
flow = "none"
attempt = "writer"
"#;
    let plan = parse(text).unwrap();
    assert_eq!((plan.root.key.as_str(), plan.root.body.as_str()), ("parser", "All of it."));
    assert_eq!(plan.root.priority.get(), 1);
    assert_eq!(plan.workers["attempt"].command, ["sh", "./workers/attempt.sh"]);
    assert_eq!(plan.workers["attempt"].time_limit, 600_000);
    assert_eq!(plan.workers["review"].time_limit, 30_000);
    let [lexer, docs] = &plan.goals[..] else { panic!("{plan:?}") };
    assert!(lexer.gated && !docs.gated);
    assert_eq!(lexer.line, 21);
    assert_eq!(lexer.accept, ["every fixture tokenises", "no panics"]);
    assert_eq!(lexer.verify, [vec!["sh", "./checks/lexer.sh"], vec!["true"]]);
    assert_eq!(lexer.tags, ["area:front", "x"].map(|tag| tag.parse().unwrap()));
    assert_eq!((lexer.priority.get(), docs.priority.get()), (2, 3));
    assert_eq!((lexer.attempt.as_str(), lexer.review.as_str()), ("attempt", "review"));
    assert_eq!((docs.attempt.as_str(), docs.after.as_slice()), ("writer", &["lexer".to_owned()][..]));
}

#[test]
fn what_a_goal_wants_of_its_asks_stands_over_the_defaults_and_0_takes_it_away() {
    let text = format!(
        "{ROOT}[defaults]\nflow = \"none\"\nask_assignee = \"hugh\"\nask_due = \"2d\"\nask_remind = \"1d\"\n\
         ask_timeout = \"7d\"\nask_default = \"accept\"\n\
         [[goal]]\nkey = \"a\"\ntitle = \"A\"\n\
         [[goal]]\nkey = \"b\"\ntitle = \"B\"\nask_assignee = \"ann\"\nask_due = \"0\"\nask_timeout = \"0\"\n"
    );
    let plan = parse(&text).unwrap();
    let [a, b] = [0, 1].map(|n| plan.goals[n].policy.ask.clone());
    let day = 86_400_000;
    assert_eq!((a.assignee, a.due, a.remind), ("hugh".parse().ok(), Some(2 * day), Some(day)));
    assert_eq!(
        a.timeout.map(|timeout| (timeout.after, timeout.choice)),
        Some((7 * day, "accept".to_owned()))
    );
    assert_eq!((b.assignee, b.due, b.remind), ("ann".parse().ok(), Some(0), Some(day)));
    assert_eq!(b.timeout.map(|timeout| timeout.after), Some(0));
    assert!(plan.root.ask.is_empty());
}

#[test]
fn a_root_says_what_it_wants_of_the_asks_about_it() {
    let text = format!("{ROOT}ask_assignee = \"hugh\"\nask_timeout = \"7d\"\nask_default = \"skip\"\n");
    let ask = parse(&text).unwrap().root.ask;
    assert_eq!((ask.assignee, ask.due, ask.remind), ("hugh".parse().ok(), None, None));
    assert_eq!(ask.timeout.map(|timeout| timeout.choice), Some("skip".to_owned()));
    let alone = parse(&format!("{ROOT}ask_default = \"skip\"\n")).unwrap_err();
    assert_eq!(
        alone[0].complaint(),
        "root, field ask_default: wants an ask_timeout beside it: after how long it is chosen"
    );
}

#[test]
fn a_goals_bounds_stand_over_the_defaults_and_what_neither_says_stays_open() {
    let text = format!(
        "{ROOT}[defaults]\nflow = \"none\"\nmax_review_rounds = 4\nstep_retries = 1\n\
         [[goal]]\nkey = \"a\"\ntitle = \"A\"\nmax_review_rounds = 7\n"
    );
    let plan = parse(&text).unwrap();
    let policy = &plan.goals[0].policy;
    assert_eq!((policy.max_review_rounds, policy.step_retries), (Some(7), Some(1)));
    assert_eq!((policy.no_progress, policy.allow_self_review), (None, None));
}

#[test]
fn a_plan_may_have_no_goals_and_no_workers() {
    let plan = parse(ROOT).unwrap();
    assert!(plan.goals.is_empty() && plan.workers.is_empty());
}

#[test]
fn without_any_workers_roles_are_only_words_and_with_some_each_needs_one() {
    let goal = "[[goal]]\nkey = \"a\"\ntitle = \"A\"\naccept = [\"it is done\"]\nattempt = \"smith\"\n";
    assert_eq!(parse(&format!("{ROOT}{goal}")).unwrap().goals[0].attempt, "smith");
    assert_eq!(
        complaints(&format!("{ROOT}[workers]\n{goal}")),
        [
            "line 5, goal \"a\", field review: there is no [workers.review], the role it has by default",
            "line 9, goal \"a\", field attempt: there is no [workers.smith]",
        ]
    );
}

#[test]
fn a_complaint_names_line_table_and_field() {
    let errors =
        parse(&format!("{ROOT}priority = 9\n[[goal]]\nkey = \"a\"\ntitle = \"Ä\"\nbdy = 1")).unwrap_err();
    let places: Vec<_> =
        errors.iter().map(|e| (e.line, e.column, e.section.as_str(), e.field.as_str())).collect();
    assert_eq!(
        places,
        [
            (4, 12, "root", "root.priority"),
            (5, 1, "goal \"a\"", "goal \"a\".accept"),
            (8, 1, "goal \"a\"", "goal \"a\".bdy"),
        ]
    );
    assert_eq!(errors[2].to_string(), "line 8, goal \"a\", field bdy: unknown field; did you mean \"body\"?");
}

#[test]
fn columns_count_characters_and_windows_line_ends_do_not_shift_lines() {
    let errors = parse("root = { key = \"ä\", title = 1 }\r\nx = 1\r\n").unwrap_err();
    let places: Vec<_> = errors.iter().map(|e| (e.line, e.column)).collect();
    assert_eq!(places, [(1, 16), (1, 29), (2, 1)]);
}

#[test]
fn no_control_character_of_the_plan_reaches_a_message() {
    let hostile = "a\\u001b[31m\\u0007";
    let text = format!(
        "\"{hostile}\" = 1\n[workers.\"{hostile}\"]\ncommand = 1\n[root]\nkey = \"{hostile}\"\ntitle = 3\n\
         [[goal]]\nkey = \"{hostile}\"\ntitle = \"T\"\nafter = [\"{hostile}x\"]\nflow = \"{hostile}\"\n\
         attempt = \"{hostile}\"\ntags = [\"{hostile}\"]\n"
    );
    for error in parse(&text).unwrap_err() {
        assert!(!error.to_string().chars().any(char::is_control), "{error:?}");
    }
}

#[test]
fn a_plan_of_more_than_four_mebibytes_is_refused_unread() {
    let text = "#".repeat(MAX_PLAN_BYTES + 1);
    assert_eq!(complaints(&text), ["line 1: a plan has at most 4194304 bytes, this one has 4194305"]);
}

#[test]
fn past_a_hundred_errors_the_rest_is_counted() {
    let text = format!("{ROOT}{}", "[[goal]]\n".repeat(200));
    let errors = complaints(&text);
    assert_eq!(errors.len(), 101);
    // Three for each goal: no key, no title, no criteria.
    assert_eq!(errors[100], "line 37: and 500 more from here on");
}

#[test]
fn a_long_circle_and_a_long_chain_need_no_deep_stack() {
    let goals = |count: usize, last: usize| {
        let goal = |n: usize| {
            let after = if n + 1 < count { n + 1 } else { last };
            format!("[[goal]]\nkey = \"g{n}\"\ntitle = \"G\"\nafter = [\"g{after}\"]\n")
        };
        format!("{ROOT}[defaults]\nflow = \"none\"\n{}", (0..count).map(goal).collect::<String>())
    };
    let errors = complaints(&goals(20_000, 0));
    assert_eq!(errors.len(), 1);
    assert!(errors[0].ends_with("g0 after g1 after g2 after g3 after g4 after g5 after g6 after g7 after g8 after g9 after g10 after g11 after ... after g0"), "{errors:?}");
    let chain = goals(20_000, 0).trim_end().strip_suffix("after = [\"g0\"]").unwrap().to_owned();
    assert_eq!(parse(&chain).unwrap().goals.len(), 20_000);
}

#[test]
fn separate_circles_are_each_told_once() {
    let goal = |key: &str, after: &str| {
        format!("[[goal]]\nkey = \"{key}\"\ntitle = \"G\"\nflow = \"none\"\nafter = [{after}]\n")
    };
    let text = [
        ROOT.to_owned(),
        goal("x", "\"a\", \"c\""),
        goal("a", "\"b\""),
        goal("b", "\"a\""),
        goal("c", "\"d\""),
        goal("d", "\"c\""),
    ]
    .concat();
    assert_eq!(
        complaints(&text),
        [
            "line 13, goal \"a\", field after[0]: these goals wait for each other in a circle: a after b after a",
            "line 23, goal \"c\", field after[0]: these goals wait for each other in a circle: c after d after c",
        ]
    );
}

#[test]
fn a_goal_cannot_share_its_key_with_the_root() {
    let text = format!("{ROOT}[[goal]]\nkey = \"demo\"\ntitle = \"A\"\nflow = \"none\"\n");
    assert_eq!(complaints(&text), ["line 5, goal \"demo\", field key: the root has this key already"]);
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    for text in ["[".repeat(100_000), format!("a = {}", "[".repeat(100_000)), "a.".repeat(100_000) + "a = 1"]
    {
        assert_eq!(complaints(&text).len(), 1);
    }
}

fn tomlish() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("key"),
        Just("title"),
        Just("body"),
        Just("accept"),
        Just("verify"),
        Just("after"),
        Just("flow"),
        Just("tags"),
        Just("priority"),
        Just("command"),
        Just("time_limit"),
        Just("attempt"),
        Just("step_retries"),
    ];
    let value = prop_oneof![
        Just("\"a\""),
        Just("\"b\""),
        Just("\"\""),
        Just("1"),
        Just("-1"),
        Just("[]"),
        Just("[\"a\"]"),
        Just("[\"a\", \"b\"]"),
        Just("[[\"a\"]]"),
        Just("[[], 1]"),
        Just("{}"),
        Just("true"),
        Just("1.5"),
        Just("\"none\""),
        Just("\"5m\""),
        Just("2026-01-01"),
        Just("[{}]"),
        Just("'é\u{7f}'"),
    ];
    let header = prop_oneof![
        Just("[root]\n".to_owned()),
        Just("[defaults]\n".to_owned()),
        Just("[workers.a]\n".to_owned()),
        Just("[[goal]]\n".to_owned()),
        Just("[[root]]\n".to_owned()),
        Just("[goal]\n".to_owned()),
    ];
    let line = (word, value).prop_map(|(word, value)| format!("{word} = {value}\n"));
    let table = (header, prop::collection::btree_set(line, 0..6));
    prop::collection::vec(table, 0..6)
        .prop_map(|tables| tables.into_iter().map(|(h, lines)| h + &String::from_iter(lines)).collect())
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics_and_is_never_refused_without_a_reason(text in any::<String>()) {
        if let Err(errors) = parse(&text) {
            prop_assert!(!errors.is_empty());
        }
    }

    #[test]
    fn what_looks_like_a_plan_is_read_or_refused_within_its_own_lines(text in tomlish()) {
        match parse(&text) {
            Ok(plan) => prop_assert!(plan.goals.iter().all(|g| !g.key.is_empty() && (!g.gated || !g.accept.is_empty()))),
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                prop_assert!(errors.is_sorted_by_key(|e| (e.line, e.column)));
                prop_assert!(errors.iter().all(|e| e.line <= text.lines().count() + 1 && !e.message.is_empty()));
            }
        }
    }
}
