//! Workers that act on their own issue by command, as agents do.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use roundgate::model::issue::Outcome;
use roundgate::model::record::Opinion;

use crate::run_fixture::Said;
use crate::{issue, rounds, steps, world};

#[test]
fn an_attempt_that_closed_its_issue_by_command_has_closed_it_whatever_it_prints() {
    for after in ["success", "exit 0", "exit 1", "failure 'no, it is not'"] {
        let script = format!(
            r#"[ $role = review ] && pass
            "$BIN" issues close "$ROUNDGATE_ISSUE" --reason "closed by command" >/dev/null || exit 9
            {after}"#
        );
        let world = world(&script, "");
        let said = world.run(0);
        assert!(!said.stderr.contains("taken away"), "{after}: {said:#?}");
        assert_eq!(steps(&world), ["a attempt 1", "a review 1"], "{after}");
        let attempt = issue(&world, "Attempt 1: Goal a");
        assert_eq!(attempt.state.outcome(), Some(Outcome::Success), "{after}");
        assert_eq!(attempt.state.reason(), Some("closed by command"), "{after}");
        assert_eq!(attempt.failed_steps, 0, "{after}");
    }
}

#[test]
fn an_attempt_can_expand_into_parts_that_workers_do_before_the_review() {
    let script = r#"
        [ $role = review ] && pass
        case $packet in *'"title":"Attempt 1'*)
            for part in one two; do
                "$BIN" issues create "Part $part" --parent "$ROUNDGATE_ISSUE" >/dev/null || exit 9
            done
            "$BIN" issues close "$ROUNDGATE_ISSUE" --outcome expanded >/dev/null || exit 9
        esac
        success"#;
    let world = world(script, "");
    world.run(0);
    assert_eq!(steps(&world), ["a attempt 1", "a attempt null", "a attempt null", "a review 1"]);
    assert_eq!(issue(&world, "Attempt 1: Goal a").state.outcome(), Some(Outcome::Expanded));
    for part in ["Part one", "Part two"] {
        assert_eq!(issue(&world, part).state.outcome(), Some(Outcome::Success));
    }
}

#[test]
fn parts_that_are_created_and_left_open_are_done_before_success_counts() {
    let script = r#"
        [ $role = review ] && pass
        case $packet in *'"title":"Attempt 1'*)
            [ -e made ] || "$BIN" issues create "Part one" --parent "$ROUNDGATE_ISSUE" >/dev/null || exit 9
            : >made
        esac
        success"#;
    let world = world(script, "");
    let said = world.run(0);
    assert!(said.stderr.contains("not resolved"), "{said:#?}");
    assert_eq!(steps(&world), ["a attempt 1", "a attempt null", "a attempt 1", "a review 1"]);
}

#[test]
fn the_first_verdict_stands_whether_by_command_or_by_answer() {
    for (by_command, printed, opinion) in [
        ("pass", "pass", Opinion::Pass),
        ("needs_work", "pass", Opinion::NeedsWork),
        ("pass", "needs_work 'on second thoughts'", Opinion::Pass),
        ("needs_work", "exit 1", Opinion::NeedsWork),
    ] {
        let script = format!(
            r#"[ $role = attempt ] && success
            [ $round = 1 ] || pass
            "$BIN" rounds verdict "$ROUNDGATE_ISSUE" {by_command} --note first >/dev/null || exit 9
            {printed}"#
        );
        let world = world(&script, "");
        world.run(0);
        let verdict = rounds(&world).remove(0).verdict.unwrap();
        assert_eq!((verdict.opinion, verdict.reason.as_str()), (opinion, "first"), "{by_command}, {printed}");
    }
}

#[test]
fn an_answer_under_a_claim_that_ended_counts_for_nothing() {
    // Whoever gave the issue back and claimed it again, the runner's fencing number is an old one.
    let again = r#"
        if [ $role = again ] && mkdir once 2>/dev/null; then
            "$BIN" issues release "$ROUNDGATE_ISSUE" >/dev/null 2>&1 || exit 9
            "$BIN" issues claim "$ROUNDGATE_ISSUE" --lease 1s >/dev/null 2>&1 || exit 9
            success_or_pass early
        fi
        success_or_pass late"#;
    let answers = r#"
        success_or_pass() {
            [ $role = attempt ] && success "$1"
            printf '{"verdict":"pass","notes":"%s"}\n' "$1"; exit 0
        }"#;
    for role in ["attempt", "review"] {
        let world = world(&format!("{answers}{}", again.replace("again ]", &format!("{role} ]"))), "");
        let said = world.run(0);
        assert!(said.stderr.contains("taken away"), "{role}: {said:#?}");
        assert_eq!(steps(&world).len(), 3, "{role}: done once more");
        let verdict = rounds(&world).remove(0).verdict.unwrap();
        assert_eq!(verdict.reason, "late", "{role}");
        assert_eq!(issue(&world, "Attempt 1: Goal a").state.reason(), Some("late"), "{role}");
    }
}

#[test]
fn a_worker_cannot_judge_its_own_attempt() {
    let script = r#"
        [ $role = review ] && pass
        "$BIN" issues close "$ROUNDGATE_ISSUE" >/dev/null || exit 9
        review=$("$BIN" --json issues list --tag flow:review | sed 's/.*"id":"\([^"]*\)".*/\1/')
        "$BIN" rounds verdict "$review" pass 2>refused
        echo $? >code
        success"#;
    let world = world(script, "");
    world.run(0);
    assert_eq!(world.lines("code"), ["5"], "{:?}", world.lines("refused"));
}

#[test]
fn a_pause_during_a_step_lets_the_step_finish_and_starts_nothing_new() {
    let script = r#"
        [ $role = review ] && pass
        "$BIN" pause "$ROUNDGATE_ROOT" --reason "the disk is full" >/dev/null || exit 9
        success"#;
    let world = world(script, "");
    let said = world.run(11);
    assert!(said.stdout.contains("paused") && said.stdout.contains("roundgate resume rg-"), "{said:#?}");
    assert_eq!(steps(&world), ["a attempt 1"]);
    let attempt = issue(&world, "Attempt 1: Goal a");
    assert_eq!((attempt.state.outcome(), attempt.failed_steps), (Some(Outcome::Success), 0));
    assert!(world.run(11).stdout.contains("the disk is full"));
    let root = issue(&world, "The root").id.to_string();
    assert_eq!(world.says(&["resume", &root]).code, Some(0));
    world.run(0);
    assert_eq!(steps(&world), ["a attempt 1", "a review 1"]);
}

#[test]
fn a_scope_within_an_attempt_has_a_reviewer_of_its_own_and_what_cannot_be_done_keeps_nothing_else_waiting() {
    let script = r#"
        echo "$ROUNDGATE_ACTOR $role" >>actors
        [ $role = review ] && pass
        case $packet in *'"title":"Attempt 1: Goal a"'*)
            "$BIN" issues create "Inner" --parent "$ROUNDGATE_ISSUE" --tag flow:review-gated-v1 \
                --tag kind:goal --tag proto:hierarchical-work-v1 >/dev/null || exit 9
            "$BIN" issues close "$ROUNDGATE_ISSUE" --outcome expanded >/dev/null || exit 9
        esac
        success"#;
    let world = world(script, "");
    world.run(0);
    assert_eq!(
        world.lines("actors"),
        ["ann.attempt attempt", "ann.attempt attempt", "ann.review-2 review", "ann.review review"]
    );
}

#[test]
fn parts_are_done_by_the_worker_of_what_they_are_parts_of() {
    let script = r#"
        [ $role = review ] && pass
        case $packet in *'"title":"Attempt 1'*)
            "$BIN" issues create "Part one" --parent "$ROUNDGATE_ISSUE" >/dev/null || exit 9
            "$BIN" issues close "$ROUNDGATE_ISSUE" --outcome expanded >/dev/null || exit 9
        esac
        success"#;
    let world = world(script, "");
    let plan = std::fs::read_to_string(world.path("plan.toml")).unwrap();
    let plan = plan.replace("[workers.attempt]", "[workers.coder]") + "attempt = \"coder\"\n";
    std::fs::write(world.path("plan.toml"), plan).unwrap();
    // Work beside it that no worker of the plan does.
    assert_eq!(world.says(&["plan", "apply", "plan.toml"]).code, Some(0));
    let root = issue(&world, "The root").id.to_string();
    let add = ["issues", "create", "By hand", "--parent", &root, "--priority", "1"];
    assert_eq!(world.says(&add).code, Some(0));
    let said = world.run(2);
    assert!(said.stderr.contains("no worker for the role attempt"), "{said:#?}");
    assert_eq!(steps(&world), ["a attempt 1", "a attempt null", "a review 1"]);
}

#[test]
fn an_attempt_that_was_given_up_with_its_scope_gets_no_result() {
    let script = r#"
        scope=$("$BIN" --json issues get "$ROUNDGATE_ISSUE" | sed 's/.*"parent":"\([^"]*\)".*/\1/')
        "$BIN" --as boss issues close "$scope" --outcome skipped --cascade --reason "not wanted" >/dev/null || exit 9
        success late"#;
    let world = world(script, "");
    let said = world.run(0);
    assert!(said.stderr.contains("skipped: closed by command"), "{said:#?}");
    let attempt = issue(&world, "Attempt 1: Goal a");
    assert_eq!(attempt.state.outcome(), Some(Outcome::Skipped));
    let topic = world.says(&["forum", "read", &format!("issue:{}", attempt.id)]).stdout;
    assert!(topic.contains("START") && !topic.contains("RESULT"), "{topic}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_worker_finds_a_store_of_which_the_path_is_not_utf_8() {
    let script = r#"
        "$BIN" issues get "$ROUNDGATE_ISSUE" >/dev/null || exit 9
        [ $role = review ] && pass
        success"#;
    let world = world(script, "");
    let store = world.path(".").join(OsStr::from_bytes(b"caf\xe9"));
    let said = Said::of(world.command(&["run", "plan.toml", "--store"]).arg(store).output().unwrap());
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert_eq!(steps(&world), ["a attempt 1", "a review 1"]);
}
