//! What programs read: the keys of each command and their types. More may be added, none renamed.

use serde_json::Value;

use crate::gated::Gated;
use crate::stage::Stage;

/// Checks that an object has all these keys, each of its type: `name:type` or `name:type?` for one that
/// may be null.
fn has(value: &Value, shape: &str) {
    for field in shape.split_whitespace() {
        let (name, wanted) = field.split_once(':').unwrap();
        let (wanted, nullable) = wanted.strip_suffix('?').map_or((wanted, false), |wanted| (wanted, true));
        let found = value.get(name).unwrap_or_else(|| panic!("there is no {name} in {value}"));
        let fits = match wanted {
            "text" => found.is_string(),
            "number" => found.is_u64(),
            "bool" => found.is_boolean(),
            "list" => found.is_array(),
            "object" => found.is_object(),
            other => panic!("{other} is not a type"),
        };
        assert!(fits || (nullable && found.is_null()), "{name} is not {wanted} in {value}");
    }
}

/// Checks every element of a list that must not be empty.
fn each(value: &Value, shape: &str) {
    let list = value.as_array().unwrap();
    assert!(!list.is_empty());
    list.iter().for_each(|element| has(element, shape));
}

const ISSUE: &str = "id:text title:text body:text status:text outcome:text? tags:list deps:list priority:number \
     created_at:number updated_at:number revision:number parent:text? claim:object?";
const TICK: &str = "root:text decision:text transition:object? applied:bool primitives:list state:text? \
     round:number? max_rounds:number? waiting_on:object? next:text final:bool";
const ASK: &str = "id:text root:text scope:text? question:text choices:list status:text answer:text? \
     answered_by:text? assignee:text? due_at:number? evidence:list";
const VERDICT: &str = "review:text scope:text round:number verdict:text? notes:text by:text? changed:bool";

#[test]
fn issues_create_get_update_claim_open_and_close_print_the_issue() {
    let stage = Stage::new();
    let made = stage.json("issues create 'Write it' --body now --tag area:lexer");
    has(&made, ISSUE);
    let id = made["id"].as_str().unwrap();
    let other = stage.id("issues create 'Test it'");
    stage.ok(&format!("issues dep {id} blocks {other}"));
    let claimed = stage.json(&format!("issues claim {id}"));
    has(&claimed["claim"], "actor:text epoch:number expires_at:number");
    assert_eq!(claimed["status"], "in_progress");
    for line in [
        format!("issues get {id}"),
        format!("issues update {id} --title 'Write it well'"),
        format!("issues renew {id}"),
        format!("issues release {id}"),
        format!("issues close {id}"),
        format!("issues open {id}"),
        format!("issues close {id} --outcome failure --reason 'too hard'"),
        format!("issues retry {id} --note 'in small steps'"),
    ] {
        let issue = stage.json(&line);
        has(&issue, ISSUE);
        each(&issue["tags"], "");
    }
    each(&stage.json(&format!("issues get {id}"))["deps"], "type:text target:text");
}

#[test]
fn issues_list_ready_and_children_print_arrays_of_issues() {
    let gated = Gated::opened(3);
    let stage = &gated.stage;
    each(&stage.json("issues list"), ISSUE);
    each(&stage.json(&format!("issues children {}", gated.goal)), ISSUE);
    let ready = stage.json("issues ready");
    each(&ready, &format!("{ISSUE} round:number? role:text?"));
    assert_eq!((&ready[0]["role"], &ready[0]["round"]), (&"attempt".into(), &1.into()));
    assert_eq!(stage.json("issues ready --role review"), Value::Array(Vec::new()));
}

#[test]
fn issues_validate_prints_what_is_in_the_way() {
    let (gated, ..) = Gated::escalated();
    let shape = "is_final:bool reason:text pending:number needs_work:list expanded_without_children:list \
         waiting_on_human:list stuck:list";
    has(&gated.stage.json(&format!("issues validate {}", gated.root)), shape);
}

#[test]
fn issues_explain_prints_reasons() {
    let gated = Gated::opened(3);
    let explained = gated.stage.json(&format!("issues explain {}", gated.goal));
    has(&explained, "ready:bool reasons:list");
    each(&explained["reasons"], "code:text text:text issue:text?");
}

#[test]
fn tick_prints_its_decision_for_one_root_and_an_array_for_all() {
    let gated = Gated::opened(3);
    let stage = &gated.stage;
    let waits = stage.json(&format!("tick --root {}", gated.root));
    has(&waits, TICK);
    has(&waits["waiting_on"], "actor:text issue:text");
    assert_eq!((&waits["decision"], &waits["applied"]), (&"wait".into(), &false.into()));
    let review = gated.attempted();
    stage.cmd(&format!("rounds verdict {review} pass")).by("reviewer").ok();
    let would = stage.json(&format!("tick --root {} --dry-run", gated.root));
    assert_eq!((&would["decision"], &would["applied"]), (&"act".into(), &false.into()));
    let acts = stage.json("tick --all");
    each(&acts, TICK);
    assert_eq!(acts[0]["applied"], true);
    has(&acts[0]["transition"], "kind:text issue:text");
    each(&acts[0]["primitives"], "primitive:text text:text");
}

#[test]
fn rounds_open_and_show_print_the_rounds() {
    let stage = Stage::new();
    let goal = stage.id("issues create 'Write the lexer'");
    let shape = "scope:text max_rounds:number rounds:list state:text ask:text?";
    let mut opened = stage.json(&format!("rounds open {goal} --max-review-rounds 2"));
    has(&opened, shape);
    let shown = stage.json(&format!("rounds show {goal}"));
    has(&shown, shape);
    each(&shown["rounds"], "round:number attempt:text review:text verdict:text? notes:text");
    assert_eq!(opened["changed"], true);
    opened.as_object_mut().unwrap().remove("changed");
    assert_eq!(opened, shown);
}

#[test]
fn rounds_verdict_and_withdraw_print_what_was_recorded() {
    let gated = Gated::opened(3);
    let review = gated.attempted();
    let judge = format!("rounds verdict {review} needs_work --note no");
    for (line, changed) in
        [(judge.as_str(), true), (&judge, false), (&format!("rounds withdraw {review}"), true)]
    {
        let recorded = gated.stage.cmd(line).by("reviewer").json();
        has(&recorded, VERDICT);
        assert_eq!(recorded["changed"], changed, "{line}");
    }
}

#[test]
fn asks_and_answer_print_the_ask() {
    let (gated, ask, _) = Gated::escalated();
    let stage = &gated.stage;
    each(&stage.json("asks list"), ASK);
    let shown = stage.json(&format!("asks show {ask}"));
    has(&shown, ASK);
    each(&shown["choices"], "id:text label:text effect:text");
    let ids: Vec<&str> =
        shown["choices"].as_array().unwrap().iter().map(|c| c["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["open-extra-round", "stop-and-handoff", "accept", "abandon"]);
    let answer = format!("answer {ask} accept");
    for (line, changed) in
        [(answer.as_str(), true), (&answer, false), (&format!("answer {ask} --withdraw"), true)]
    {
        let recorded = stage.json(line);
        has(&recorded, &format!("{ASK} changed:bool"));
        assert_eq!(recorded["changed"], changed, "{line}");
    }
}

#[test]
fn the_other_commands_print_json_too() {
    let gated = Gated::opened(3);
    let stage = &gated.stage;
    let (root, goal) = (&gated.root, &gated.goal);
    has(&stage.json("init"), "store:text changed:bool");
    has(
        &stage.json(&format!("forum post issue:{goal} -m hello")),
        "topic:text author:text body:text created_at:number",
    );
    each(
        &stage.json(&format!("forum read issue:{goal}")),
        "topic:text author:text body:text created_at:number",
    );
    each(&stage.json("forum topics"), "topic:text messages:number last_at:number");
    has(&stage.json("status"), "store:text issues:number closed:number ready:number asks:number roots:list");
    has(
        &stage.json(&format!("status {root}")),
        "root:text final:bool open:number next:text scopes:list asks:list",
    );
    each(&stage.json("log"), "seq:number at:number actor:text cause:text change:text");
    each(
        &stage.json(&format!("issues history {goal}")),
        "seq:number at:number actor:text cause:text change:text",
    );
    has(&stage.json(&format!("graph {root}")), "graph:text");
    each(&stage.json("config list"), "key:text value:text about:text set:bool");
    has(&stage.json("config get lease"), "key:text value:text");
    has(&stage.json("config set lease 2h"), "key:text value:text changed:bool");
    let other = stage.id("issues create 'Later'");
    let edge = "ok:bool changed:bool src:text type:text dst:text";
    has(&stage.json(&format!("issues dep {goal} blocks {other}")), edge);
    has(&stage.json(&format!("issues undep {goal} blocks {other}")), edge);
}

#[test]
fn an_empty_result_is_json_and_nothing_else() {
    let stage = Stage::new();
    let empty = ["issues list", "issues ready", "forum topics", "forum read nothing", "asks list", "log"];
    for line in empty.into_iter().chain(["asks list --all", "tick --all", "tick --all --dry-run"]) {
        assert_eq!(stage.json(line), Value::Array(Vec::new()), "{line}");
    }
    let leaf = stage.id("issues create leaf");
    assert_eq!(stage.json(&format!("issues children {leaf}")), Value::Array(Vec::new()));
    has(&stage.json(&format!("tick --root {leaf}")), TICK);
    has(&stage.json(&format!("status {leaf}")), "root:text");
    has(&Stage::new().json("status"), "store:text roots:list");
}

#[test]
fn every_verb_says_in_json_what_went_wrong() {
    let stage = Stage::new();
    stage.ok("issues create something");
    let none = "rg-none";
    let verbs = [
        "issues create ''",
        "issues create it --parent NONE",
        "issues get NONE",
        "issues list --root NONE",
        "issues update NONE --title it",
        "issues update NONE",
        "issues claim NONE",
        "issues claim --next --root NONE",
        "issues renew NONE",
        "issues release NONE",
        "issues open NONE",
        "issues close NONE",
        "issues close NONE --cascade",
        "issues retry NONE",
        "issues dep NONE blocks NONE",
        "issues undep NONE parent NONE",
        "issues children NONE",
        "issues ready --root NONE",
        "issues validate NONE",
        "issues explain NONE",
        "issues history NONE",
        "forum post issue:NONE -m hello",
        "forum post 'two words' -m hello",
        "forum read issue:NONE",
        "forum topics --limit x",
        "rounds open NONE",
        "rounds show NONE",
        "rounds verdict NONE pass",
        "rounds withdraw NONE",
        "asks list --root NONE",
        "asks show NONE",
        "answer NONE accept",
        "answer NONE --withdraw",
        "tick --root NONE",
        "tick",
        "status NONE",
        "log --after x",
        "graph NONE",
        "plan check none.toml",
        "plan apply none.toml",
        "run none.toml",
        "run --root NONE",
        "import --format beads none.jsonl",
        "config get none",
        "config set none 1",
        "config list --none",
        "completions none",
        "init --none",
        "none",
        "issues",
    ];
    for verb in verbs {
        let ran = stage.cmd(&verb.replace("NONE", none)).arg("--json").run();
        assert!([2, 3].contains(&ran.exit), "{verb}: {ran:?}");
        let error = ran.error();
        assert_eq!(error["retryable"], false, "{verb}: {error}");
    }
}
