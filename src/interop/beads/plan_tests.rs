//! What the lines of a file become, one odd thing a test.

use crate::model::id::IssueId;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::interop::beads::parse;
use crate::model::apply::{Author, apply};
use crate::model::change::Field;
use crate::model::issue::State;
use crate::model::waits::Waits;

const NOW: Millis = 1_800_000_000_000;

fn author() -> Author {
    Author { actor: "importer".parse().unwrap(), at: NOW }
}

fn lines(values: &[Value]) -> Vec<BeadsIssue> {
    let text: Vec<String> = values.iter().map(Value::to_string).collect();
    parse(text.join("\n").as_bytes()).unwrap()
}

/// A line with these dependencies, given as (type, target).
fn line(id: &str, deps: &[(&str, &str)]) -> Value {
    let entry = |(kind, on): &(&str, &str)| json!({"issue_id": id, "depends_on_id": on, "type": kind});
    let deps: Vec<Value> = deps.iter().map(entry).collect();
    json!({
        "id": id, "title": id, "status": "open", "priority": 2, "issue_type": "task", "dependencies": deps,
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
    })
}

fn with(mut line: Value, name: &str, value: Value) -> Value {
    line[name] = value;
    line
}

fn import(snapshot: &mut Snapshot, lines: &[BeadsIssue]) -> Report {
    let (primitives, report) = compile(snapshot, lines, NOW, &author().actor);
    for primitive in &primitives {
        apply(snapshot, primitive, &author()).unwrap();
    }
    report
}

fn imported(values: &[Value]) -> (Snapshot, Report) {
    let mut snapshot = Snapshot::default();
    let report = import(&mut snapshot, &lines(values));
    (snapshot, report)
}

fn parent(snapshot: &Snapshot, id: &str) -> Option<String> {
    let graph = snapshot.graph();
    let ix = graph.ix(&id.parse().unwrap()).unwrap();
    graph.parent(ix).map(|p| graph.id(p).to_string())
}

fn edges(snapshot: &Snapshot) -> Vec<String> {
    snapshot.graph().edges().iter().map(ToString::to_string).collect()
}

fn issue<'s>(snapshot: &'s Snapshot, id: &str) -> &'s Issue {
    snapshot.graph().get(&id.parse().unwrap()).unwrap()
}

fn kinds(snapshot: &Snapshot, id: &str) -> Vec<String> {
    let of_issue = snapshot.annotations().iter().filter(|a| a.issue.as_str() == id);
    of_issue.map(|a| a.kind.clone()).collect()
}

fn change(snapshot: &mut Snapshot, primitive: &Primitive) {
    apply(snapshot, primitive, &Author { at: NOW + 1, ..author() }).unwrap();
}

fn close(id: &str, outcome: Outcome) -> Primitive {
    Primitive::Close { id: id.parse().unwrap(), outcome, reason: None, by: None }
}

#[test]
fn only_task_bug_feature_and_chore_are_executable_and_an_epic_is_a_container() {
    for (kind, executable, container) in [
        ("task", true, false),
        ("bug", true, false),
        ("feature", true, false),
        ("chore", true, false),
        ("epic", false, true),
        ("gate", false, false),
        ("my type", false, false),
    ] {
        let (snapshot, report) = imported(&[with(line("a", &[]), "issue_type", kind.into())]);
        let tags = &issue(&snapshot, "a").tags;
        assert_eq!((tags.executable(), tags.container()), (executable, container), "{kind}");
        assert!(tags.has(&format!("type:{}", kind.replace(' ', "_"))), "{kind}");
        assert_eq!(report.count("unknown_type"), usize::from(!executable && !container), "{kind}");
        assert!(tags.check().is_ok());
    }
}

#[test]
fn a_status_becomes_a_state_and_an_unknown_one_a_tag() {
    let (snapshot, report) = imported(&[
        with(line("a", &[]), "status", "open".into()),
        with(with(line("b", &[]), "status", "closed".into()), "close_reason", "done".into()),
        with(with(line("c", &[]), "status", "in_progress".into()), "assignee", "some one".into()),
        with(line("d", &[]), "status", "in_progress".into()),
        with(line("e", &[]), "status", "hooked".into()),
        with(line("f", &[]), "status", "tombstone".into()),
    ]);
    assert_eq!(issue(&snapshot, "a").state, State::Open);
    assert_eq!(issue(&snapshot, "b").state.outcome(), Some(Outcome::Success));
    assert_eq!(issue(&snapshot, "b").state.reason(), Some("done"));
    let claim = issue(&snapshot, "c").state.claim().unwrap();
    assert_eq!((claim.actor.as_str(), claim.epoch, claim.expires_at), ("some_one", 1, NOW + 3_600_000));
    assert_eq!(issue(&snapshot, "d").state.claim().unwrap().actor, author().actor);
    assert!(issue(&snapshot, "e").tags.has("status:hooked") && issue(&snapshot, "e").state == State::Open);
    assert!(snapshot.taken(&"f".parse().unwrap()) && snapshot.graph().len() == 5);
    assert_eq!(report.odd["unknown_status"].values["hooked"], 1);
    assert_eq!((report.count("tombstone"), report.created, report.reserved), (1, 5, 1));
}

#[test]
fn priorities_move_up_by_one_and_stay_in_range() {
    for (written, priority, odd) in [(0, 1, 0), (4, 5, 0), (-3, 1, 1), (9, 5, 1)] {
        let (snapshot, report) = imported(&[with(line("a", &[]), "priority", written.into())]);
        assert_eq!(issue(&snapshot, "a").priority.get(), priority);
        assert_eq!(report.count("priority_out_of_range"), odd);
    }
}

#[test]
fn no_label_gets_into_a_family_that_the_engine_acts_on() {
    let labels =
        json!(["kind:ask", " flow:review-gated-v1", "import:open-below-closed", "plain", "two words"]);
    let (snapshot, report) = imported(&[with(line("a", &[]), "labels", labels)]);
    let tags: Vec<&str> = issue(&snapshot, "a").tags.iter().map(|t| t.as_str()).collect();
    let free = ["plain", "two_words", "type:task"];
    let moved = ["label:flow:review-gated-v1", "label:import:open-below-closed", "label:kind:ask"];
    let wanted: Vec<&str> = moved.into_iter().chain(["node:agent"]).chain(free).collect();
    assert_eq!(tags, wanted);
    assert_eq!(report.count("label_changed"), 4);
}

#[test]
fn the_target_of_blocks_and_of_blocked_by_is_the_blocker() {
    let (snapshot, _) =
        imported(&[line("a", &[("blocks", "b")]), line("c", &[("blocked-by", "b")]), line("b", &[])]);
    assert_eq!(edges(&snapshot), ["b blocks a", "b blocks c"]);
}

#[test]
fn the_first_usable_parent_is_kept_and_the_others_are_annotations() {
    let deps =
        [("parent-child", "nowhere"), ("parent_child", "p"), ("parent-child", "q"), ("parent-child", "p")];
    let (snapshot, report) = imported(&[line("a", &deps), line("q", &[]), line("p", &[])]);
    assert_eq!(parent(&snapshot, "a").as_deref(), Some("p"));
    assert_eq!(kinds(&snapshot, "a"), ["dangling_dependency", "further_parent", "duplicate_dependency"]);
    assert_eq!((report.count("further_parent"), report.parents), (1, 1));
}

#[test]
fn a_circle_of_parents_is_broken_at_its_last_line() {
    let (snapshot, report) = imported(&[
        line("top", &[]),
        line("tail", &[("parent-child", "a")]),
        line("a", &[("parent-child", "b")]),
        line("b", &[("parent-child", "c")]),
        line("c", &[("parent-child", "a"), ("parent-child", "top")]),
        line("self", &[("parent-child", "self")]),
    ]);
    let parents = ["tail", "a", "b", "c", "self"].map(|id| parent(&snapshot, id));
    assert_eq!(parents, [Some("a".into()), Some("b".into()), Some("c".into()), None, None]);
    assert_eq!(kinds(&snapshot, "c"), ["cyclic_dependency", "further_parent"]);
    assert_eq!((report.count("cyclic_dependency"), report.count("ancestor_dependency")), (1, 1));
}

#[test]
fn two_issues_that_block_each_other_come_in_with_one_edge_and_one_annotation() {
    let (snapshot, report) = imported(&[line("a", &[("blocks", "b")]), line("b", &[("blocks", "a")])]);
    assert_eq!(edges(&snapshot), ["b blocks a"]);
    assert_eq!(kinds(&snapshot, "b"), ["cyclic_dependency"]);
    assert_eq!(report.odd["cyclic_dependency"].examples, ["b blocks a"]);
}

#[test]
fn a_circle_of_waiting_through_parents_is_found() {
    let (snapshot, report) = imported(&[
        line("x", &[]),
        line("y", &[]),
        line("x1", &[("parent-child", "x"), ("blocks", "y")]),
        line("y1", &[("parent-child", "y"), ("blocks", "x")]),
    ]);
    assert_eq!(edges(&snapshot), ["y blocks x1"]);
    assert_eq!(report.count("cyclic_dependency"), 1);
}

#[test]
fn what_is_closed_waits_for_nothing_so_its_circles_stay() {
    let closed = |id, on| with(line(id, &[("blocks", on)]), "status", "closed".into());
    let (snapshot, report) = imported(&[closed("a", "b"), closed("b", "a")]);
    assert_eq!(edges(&snapshot), ["a blocks b", "b blocks a"]);
    assert_eq!(report.count("cyclic_dependency"), 0);
}

#[test]
fn an_edge_to_oneself_or_an_ancestor_is_an_annotation() {
    let (snapshot, report) = imported(&[
        line("p", &[("blocks", "c")]),
        line("c", &[("parent-child", "p"), ("blocks", "p"), ("blocks", "c")]),
    ]);
    assert!(edges(&snapshot).is_empty());
    assert_eq!(report.count("ancestor_dependency"), 3);
}

#[test]
fn other_dependencies_are_annotations_and_those_of_no_known_type_are_reported_as_unknown() {
    let deps =
        [("discovered-from", "b"), ("supersedes", "b"), ("validates", "b"), ("tracks", "external:x:y")];
    let (snapshot, report) = imported(&[line("a", &deps), line("b", &[])]);
    let wanted = [
        "dependency:discovered-from",
        "dependency:supersedes",
        "dependency:validates",
        "dangling_dependency",
    ];
    assert_eq!(kinds(&snapshot, "a"), wanted);
    assert_eq!(report.odd["unknown_dependency_type"].examples, ["a validates b"]);
    assert_eq!(report.odd["dangling_dependency"].values["tracks"], 1);
}

#[test]
fn open_work_below_closed_work_stays_workable() {
    let (snapshot, report) = imported(&[
        with(line("p", &[]), "status", "closed".into()),
        line("c", &[("parent-child", "p")]),
        line("d", &[("parent-child", "c")]),
    ]);
    assert!(issue(&snapshot, "c").tags.has(IMPORT_OPEN_BELOW_CLOSED));
    assert!(!issue(&snapshot, "d").tags.has(IMPORT_OPEN_BELOW_CLOSED));
    let finished = snapshot.graph().indices().any(|ix| snapshot.relation().finished(ix));
    assert!(!finished && report.count("open_below_closed") == 1);
}

#[test]
fn what_an_issue_has_no_place_for_is_kept_as_annotations() {
    let line = with(with(line("a", &[]), "owner", "me".into()), "await_id", json!({"x": [1, null]}));
    let line = with(with(line, "original_size", 0.into()), "close_reason", "not closed".into());
    let (snapshot, report) = imported(&[line]);
    let kept: Vec<String> = snapshot.annotations().iter().map(|a| format!("{}={}", a.kind, a.text)).collect();
    let wanted =
        ["field:await_id={\"x\":[1,null]}", "field:owner=\"me\"", "field:close_reason=\"not closed\""];
    assert_eq!(kept, wanted);
    assert_eq!(report.odd["unknown_field"].examples, ["a: await_id"]);
    assert_eq!(report.odd["empty_field"].values["original_size"], 1);
    assert_eq!(report.kept_fields["owner"], 1);
}

#[test]
fn a_second_import_writes_nothing() {
    let file = lines(&[
        with(line("a", &[("blocks", "b"), ("parent-child", "c"), ("tracks", "x")]), "owner", "me".into()),
        with(line("b", &[("blocks", "a")]), "status", "in_progress".into()),
        with(line("c", &[]), "status", "closed".into()),
        with(line("d", &[]), "status", "tombstone".into()),
    ]);
    let mut snapshot = Snapshot::default();
    import(&mut snapshot, &file);
    let (primitives, report) = compile(&snapshot, &file, NOW + 5, &"another".parse().unwrap());
    assert_eq!(primitives, []);
    assert_eq!((report.unchanged, report.stale, report.created, report.odd.len()), (4, 0, 0, 0));
}

#[test]
fn what_was_closed_since_stays_closed_and_the_row_is_reported_as_stale() {
    let file = lines(&[line("a", &[("blocks", "b")]), line("b", &[]), line("c", &[])]);
    let mut snapshot = Snapshot::default();
    import(&mut snapshot, &file);
    change(&mut snapshot, &close("b", Outcome::Success));
    let edit = Field::Title("Other".into());
    change(&mut snapshot, &Primitive::Edit { id: "c".parse().unwrap(), fields: vec![edit] });
    change(&mut snapshot, &Primitive::Undep { blocker: "b".parse().unwrap(), blocked: "a".parse().unwrap() });
    let (primitives, report) = compile(&snapshot, &file, NOW + 5, &author().actor);
    assert_eq!(primitives, []);
    assert_eq!((report.stale, report.unchanged), (3, 0));
    assert_eq!(report.odd["stale_row"].examples, ["a: dependencies", "b: status", "c: title"]);
}

#[test]
fn a_tombstone_never_takes_a_live_issue_away_and_a_reserved_id_never_comes_back() {
    let (mut snapshot, _) = imported(&[line("a", &[]), with(line("b", &[]), "status", "tombstone".into())]);
    let file = lines(&[
        with(line("a", &[]), "status", "tombstone".into()),
        line("b", &[]),
        line("c", &[("blocks", "b"), ("blocks", "a")]),
    ]);
    let report = import(&mut snapshot, &file);
    assert_eq!((report.created, report.stale, report.reserved), (1, 1, 0));
    assert_eq!((report.count("reserved_id"), report.count("dangling_dependency")), (1, 1));
    assert_eq!(edges(&snapshot), ["a blocks c"]);
}

#[test]
fn a_stored_parent_takes_imported_children_only_where_that_reopens_nothing() {
    let (mut snapshot, _) = imported(&[
        line("open", &[]),
        line("expanded", &[]),
        with(line("done", &[("parent-child", "expanded")]), "status", "closed".into()),
        line("skipped", &[]),
    ]);
    change(&mut snapshot, &close("expanded", Outcome::Expanded));
    change(&mut snapshot, &close("skipped", Outcome::Skipped));
    change(&mut snapshot, &Primitive::FinishRoot { id: "expanded".parse().unwrap(), finished: true });
    let report = import(
        &mut snapshot,
        &lines(&[
            line("a", &[("parent-child", "open")]),
            line("b", &[("parent-child", "expanded")]),
            line("c", &[("parent-child", "skipped")]),
            line("d", &[("parent-child", "done")]),
        ]),
    );
    let parents = ["a", "b", "c", "d"].map(|id| parent(&snapshot, id));
    assert_eq!(parents, [Some("open".into()), None, None, Some("done".into())]);
    assert_eq!(report.count("refused_parent"), 2);
    assert!(!snapshot.root_finished(&"expanded".parse().unwrap()), "open work below it wakes a root");
}

#[test]
fn a_long_chain_with_many_circles_is_settled_in_one_walk() {
    let id = |n: usize| format!("n{n}");
    let chain = |n: usize| {
        let (next, back) = (id(n + 1), id(n.saturating_sub(1)));
        if n.is_multiple_of(2) {
            line(&id(n), &[("blocks", &next)])
        } else {
            line(&id(n), &[("blocks", &next), ("blocks", &back)])
        }
    };
    let mut values: Vec<Value> = (0..20_000).map(chain).collect();
    values.push(line(&id(20_000), &[]));
    let (_, report) = compile(&Snapshot::default(), &lines(&values), NOW, &author().actor);
    assert_eq!((report.count("cyclic_dependency"), report.edges), (10_000, 20_000));
}

fn any_line(n: usize) -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec!["blocks", "parent-child", "blocked-by", "related", "odd"]);
    let deps = prop::collection::vec((kind, 0..10_usize), 0..4);
    let status = prop::sample::select(vec!["open", "open", "closed", "in_progress", "hooked", "tombstone"]);
    (deps, status).prop_map(move |(deps, status)| {
        let named: Vec<(&str, String)> = deps.into_iter().map(|(k, on)| (k, format!("n{on}"))).collect();
        let deps: Vec<(&str, &str)> = named.iter().map(|(k, on)| (*k, on.as_str())).collect();
        with(line(&format!("n{n}"), &deps), "status", status.into())
    })
}

proptest! {
    /// `apply` refuses every circle, so that it takes the whole import shows there are none; and an
    /// edge that was left out really would have closed one.
    #[test]
    fn any_file_applies_whole_and_only_once(values in (0..9_usize).prop_flat_map(|n| (0..n).map(any_line).collect::<Vec<_>>())) {
        let file = lines(&values);
        let mut snapshot = Snapshot::default();
        let report = import(&mut snapshot, &file);
        prop_assert_eq!(report.created + report.reserved, values.len());
        prop_assert!(Waits::of(snapshot.graph()).cycle().is_none());
        for cut in snapshot.annotations().iter().filter(|a| a.kind == "cyclic_dependency") {
            let entry: Value = serde_json::from_str(&cut.text).unwrap();
            let id = |name: &str| entry[name].as_str().unwrap().parse::<IssueId>().unwrap();
            if entry["type"] != "parent-child" {
                let edge = Primitive::Serial { blocker: id("depends_on_id"), blocked: id("issue_id") };
                prop_assert!(apply(&mut snapshot.clone(), &edge, &author()).is_err());
            }
        }
        let (again, report) = compile(&snapshot, &file, NOW + 1, &author().actor);
        prop_assert_eq!(again, Vec::<Primitive>::new());
        prop_assert_eq!(report.unchanged, values.len());
    }
}
