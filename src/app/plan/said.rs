//! What a plan says of its root and its goals, so small that it can be kept: what it says again is told
//! from what it changed, whatever became of the issues in between.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::interop::plan_file::{PlanFile, PlanGoal, PlanRoot};

/// A digest of what a plan says, by key: of the root and of every goal.
pub(super) fn said(file: &PlanFile) -> BTreeMap<String, String> {
    let goals = file.goals.iter().map(|goal| (goal.key.clone(), digest(&of_goal(goal))));
    goals.chain([(file.root.key.clone(), digest(&of_root(&file.root)))]).collect()
}

fn of_root(root: &PlanRoot) -> Value {
    let PlanRoot { key, title, body, priority, ask } = root;
    let mut said = vec![json!(key), json!(title), json!(body), json!(priority)];
    // A root that says nothing of asks says what it said to a version that knew of none.
    said.extend((!ask.is_empty()).then(|| json!(ask)));
    json!(said)
}

fn of_goal(goal: &PlanGoal) -> Value {
    // Where it stands in the file is not what it says.
    let PlanGoal {
        key,
        title,
        body,
        accept,
        verify,
        after,
        priority,
        gated,
        policy,
        attempt,
        review,
        tags,
        line: _,
    } = goal;
    json!([key, title, body, accept, verify, after, priority, gated, policy, attempt, review, tags])
}

fn digest(said: &Value) -> String {
    Sha256::digest(said.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
}
