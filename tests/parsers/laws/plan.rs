//! Plans: a plan that passes its check can be applied, and applied again it changes nothing.

use std::path::PathBuf;

use roundgate::app::Session;
use roundgate::app::config::duration;
use roundgate::app::plan::{Plan, apply};
use roundgate::interop::plan_file::{PlanFile, PlanGoal, parse};
use toml::{Table, Value};

use super::{Behind, Held, Target, hold, speaks, taken, text};

pub const TARGET: Target = Target {
    name: "plan",
    law,
    words: &[
        "[root]\n",
        "[defaults]\n",
        "[workers.a]\n",
        "[[goal]]\n",
        "key = ",
        "title = ",
        "body = ",
        "accept = ",
        "verify = ",
        "after = ",
        "priority = ",
        "attempt = ",
        "review = ",
        "tags = ",
        "flow = ",
        "command = ",
        "time_limit = ",
        "max_review_rounds = ",
        "no_progress = ",
        "step_retries = ",
        "allow_self_review = ",
        "ask_assignee = ",
        "ask_due = ",
        "ask_remind = ",
        "ask_timeout = ",
        "ask_default = ",
        "\"accept\"",
        "\"0\"",
        "\"review-gated-v1\"",
        "\"none\"",
        "\"a\"",
        "[\"a\"]",
        "[[\"sh\", \"./a\"]]",
        "\"1h\"",
        "true",
        "\"\"\"",
        "max_review_rounds=101",
        "\\u0000",
        "\\n",
        "3",
    ],
};

fn law(input: &[u8], behind: Behind) -> Held {
    let text = &*text(input);
    let plan = match parse(text) {
        Ok(plan) => plan,
        Err(errors) => {
            hold(!errors.is_empty(), || "refused without a reason".to_owned())?;
            let lines = text.lines().count() + 1;
            return errors.iter().try_for_each(|error| {
                let readable = !error.message.is_empty() && !error.to_string().contains(char::is_control);
                hold(readable && (1..=lines).contains(&error.line), || format!("the complaint {error:?}"))?;
                speaks(error)
            });
        }
    };
    let printed = print(&plan)?;
    match parse(&printed) {
        Err(errors) => return Err(format!("printed, it is refused: {errors:?}\n{printed}")),
        Ok(again) => hold(without_lines(&again) == without_lines(&plan), || {
            format!("printed, it is another: {again:?}, and not {plan:?}")
        })?,
    }
    behind.session(|session| applied(session, plan))
}

fn applied(session: &mut Session, file: PlanFile) -> Held {
    let plan = Plan { file, folder: PathBuf::from("/plan") };
    let first = taken(apply(session, &plan))?;
    hold(first.changed, || "applied, and nothing changed".to_owned())?;
    let again = taken(apply(session, &plan))?;
    hold(!again.changed, || format!("applied again, it changes {:?}", again.value))
}

fn without_lines(plan: &PlanFile) -> PlanFile {
    let goals = plan.goals.iter().map(|goal| PlanGoal { line: 0, ..goal.clone() }).collect();
    PlanFile { goals, ..plan.clone() }
}

/// The plan as TOML, with every default said.
fn print(plan: &PlanFile) -> Result<String, String> {
    let mut root = Table::new();
    put(&mut root, "key", &plan.root.key);
    put(&mut root, "title", &plan.root.title);
    put(&mut root, "body", &plan.root.body);
    root.insert("priority".to_owned(), i64::from(plan.root.priority.get()).into());
    let workers: Table = plan
        .workers
        .iter()
        .map(|(role, worker)| {
            let mut table = Table::new();
            table.insert("command".to_owned(), worker.command.clone().into());
            put(&mut table, "time_limit", &duration(worker.time_limit));
            (role.clone(), Value::Table(table))
        })
        .collect();
    let mut document = Table::from_iter([("root".to_owned(), Value::Table(root))]);
    if !workers.is_empty() {
        document.insert("workers".to_owned(), workers.into());
    }
    let goals: Vec<Value> = plan.goals.iter().map(|goal| Value::Table(goal_table(goal, plan))).collect();
    document.insert("goal".to_owned(), goals.into());
    toml::to_string(&document).map_err(|error| error.to_string())
}

fn goal_table(goal: &PlanGoal, plan: &PlanFile) -> Table {
    let mut table = Table::new();
    put(&mut table, "key", &goal.key);
    put(&mut table, "title", &goal.title);
    put(&mut table, "body", &goal.body);
    put(&mut table, "flow", if goal.gated { "review-gated-v1" } else { "none" });
    // A role without a worker may be had by default, and not be named.
    let told = |role: &str| plan.workers.is_empty() || plan.workers.contains_key(role);
    for (field, role) in [("attempt", &goal.attempt), ("review", &goal.review)] {
        if told(role) {
            put(&mut table, field, role);
        }
    }
    for (field, texts) in [("accept", &goal.accept), ("after", &goal.after)] {
        table.insert(field.to_owned(), texts.clone().into());
    }
    table.insert("verify".to_owned(), goal.verify.clone().into());
    let tags: Vec<String> = goal.tags.iter().map(ToString::to_string).collect();
    table.insert("tags".to_owned(), tags.into());
    table.insert("priority".to_owned(), i64::from(goal.priority.get()).into());
    let bounds = [
        ("max_review_rounds", goal.policy.max_review_rounds),
        ("no_progress", goal.policy.no_progress),
        ("step_retries", goal.policy.step_retries),
    ];
    for (field, bound) in bounds.into_iter().filter_map(|(field, bound)| Some((field, bound?))) {
        table.insert(field.to_owned(), i64::from(bound).into());
    }
    if let Some(allowed) = goal.policy.allow_self_review {
        table.insert("allow_self_review".to_owned(), allowed.into());
    }
    let ask = &goal.policy.ask;
    let timeout = ask.timeout.as_ref();
    let lasts = [("ask_due", ask.due), ("ask_remind", ask.remind), ("ask_timeout", timeout.map(|t| t.after))];
    for (field, length) in lasts.into_iter().filter_map(|(field, length)| Some((field, length?))) {
        put(&mut table, field, &duration(length));
    }
    if let Some(actor) = &ask.assignee {
        put(&mut table, "ask_assignee", &actor.to_string());
    }
    if let Some(timeout) = timeout.filter(|timeout| timeout.after > 0) {
        put(&mut table, "ask_default", &timeout.choice);
    }
    table
}

fn put(table: &mut Table, field: &str, text: &str) {
    table.insert(field.to_owned(), text.into());
}
