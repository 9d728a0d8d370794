//! A question to a human, asked in mu's words by an agent in the middle of its work.

use insta::assert_snapshot;

use crate::stage::Stage;

#[test]
fn an_agent_asks_a_human_and_its_work_waits_for_the_answer() {
    let stage = Stage::new();
    let root = stage.id("issues create 'Root: Move the data' --tag node:root --tag kind:root --tag proto:hierarchical-work-v1");
    let goal = stage.id(&format!(
        "issues create 'Copy the tables' --parent {root} --tag kind:goal --tag ctx:clean --tag proto:hierarchical-work-v1"
    ));
    let ask = stage.id(&format!(
        "issues create 'Which region?' --parent {root} --tag proto:hierarchical-work-v1 --priority 1"
    ));
    stage.show(&format!("issues update {ask} --remove-tag node:agent --add-tag kind:ask --add-tag ctx:human --add-tag actor:user"));
    stage.show(&format!("issues dep {ask} blocks {goal}"));
    stage.show(&format!(
        "forum post issue:{ask} -m 'QUESTION: eu or us? The contract names both.' --author worker"
    ));
    stage.show(&format!("issues ready --root {root} --tag proto:hierarchical-work-v1 --pretty"));
    stage.show("asks list");
    stage.show(&format!("asks show {ask}"));
    stage.show(&format!("tick --root {root} --exit-status"));
    stage.refused(5, &format!("issues close {ask}"));
    stage.refused(5, &format!("issues claim {ask}"));
    stage.show(&format!("answer {ask} done --note 'eu: the customer is there'"));
    stage.show(&format!("tick --root {root}"));
    stage.show(&format!("issues ready --root {root}"));
    stage.show(&format!("forum read issue:{ask}"));
    assert_snapshot!(stage.transcript());
}

#[test]
fn a_question_can_name_its_choices() {
    let stage = Stage::new();
    let ask = stage.id("issues create 'Which region?' --tag kind:ask --tag proto:hierarchical-work-v1 --choice eu --choice us");
    stage.show(&format!("asks show {ask}"));
    stage.refused(2, &format!("answer {ask} asia"));
    stage.show(&format!("answer {ask} us"));
    stage.refused(2, "issues create 'Write it' --choice eu");
    stage.refused(2, "issues create 'Which?' --tag kind:ask --choice 'the first one'");
    assert_snapshot!(stage.transcript());
}

#[test]
fn shell_snippets_run_unchanged() {
    let stage = Stage::new();
    let script = r#"
        set -e
        id() { sed -n 's/^.*"id":"\([^"]*\)","title.*$/\1/p'; }
        root=$(roundgate issues create "Root: Ship it" --tag node:root --tag kind:root --tag proto:hierarchical-work-v1 --json | id)
        roundgate issues update "$root" --remove-tag node:agent
        goal=$(roundgate issues create "Write it" --parent "$root" --tag kind:goal --tag ctx:clean --tag proto:hierarchical-work-v1 --priority 2 --json | id)
        roundgate issues ready --root "$root" --tag proto:hierarchical-work-v1 --json | grep -q "$goal"
        roundgate issues claim "$goal"
        roundgate forum post "issue:$goal" -m "START: at it" --author worker
        roundgate forum post "issue:$goal" -m "RESULT: done" --author worker
        roundgate forum read "issue:$goal" --limit 1
        roundgate issues close "$goal" --outcome success
        roundgate tick --root "$root"
        roundgate issues validate "$root" --json | grep -q '"is_final":true'
    "#;
    let ran = stage.script(script);
    assert_eq!(ran.exit, 0, "{ran:?}");
    assert_snapshot!(format!("{}\n-- stderr\n{}", ran.stdout, ran.stderr));
}

#[test]
fn a_choice_is_offered_once_and_skip_means_what_it_says() {
    let stage = Stage::new();
    let ask = stage.id(
        "issues create 'Which colour?' --tag kind:ask --tag proto:hierarchical-work-v1 --choice skip --choice red --choice red",
    );
    let choices = stage.json(&format!("asks show {ask}"))["choices"].clone();
    let ids: Vec<&str> = choices.as_array().unwrap().iter().map(|c| c["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["red", "skip"]);
    assert!(choices[1]["effect"].as_str().unwrap().starts_with("closes the question without an answer"));
}

#[test]
fn a_tag_that_the_protocol_does_not_have_is_refused() {
    let stage = Stage::new();
    for tag in ["flow:review-gated-v2", "flow:review-gated", "flow:other", "ctx:clear", "node:agents"] {
        let ran = stage.refused(2, &format!("issues create 'Write it' --tag {tag} --accept x"));
        assert!(ran.stderr.contains(&format!("{tag} is not a tag of the protocol")), "{}", ran.stderr);
    }
}
