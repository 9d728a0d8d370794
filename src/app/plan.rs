//! Plans: a file becomes a valid graph in one transaction, and applying it again changes nothing
//! (section 8). Roots and goals are found again by their keys.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

mod said;

use serde::{Deserialize, Serialize};

use super::{AppError, Changed, Session, Work};
use crate::interop::plan_file::{MAX_PLAN_BYTES, PlanFile, PlanGoal, parse};
use crate::model::act::create::{self, NewIssue};
use crate::model::act::update::{self, Update};
use crate::model::duty::AskPolicy;
use crate::model::gate;
use crate::model::graph::EdgeKind;
use crate::model::id::IssueId;
use crate::model::issue::{Policy, Work as WorkFields};
use crate::model::primitive::Primitive;
use crate::model::record::{PlanRecord, WorkerSpec};
use crate::model::snapshot::Snapshot;
use crate::model::tag::{FLOW_REVIEW_GATED, Kind, PROTOCOL, Tag, Tags};

/// A plan that was read and found acceptable, with the folder its `./` stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What it says.
    pub file: PlanFile,
    /// Its own folder, absolute.
    pub folder: PathBuf,
}

impl Plan {
    /// The workers by role, as they are stored.
    pub fn workers(&self) -> BTreeMap<String, WorkerSpec> {
        let each = self.file.workers.iter().map(|(role, worker)| {
            let spec = WorkerSpec { command: worker.command.clone(), time_limit: worker.time_limit };
            (role.clone(), spec)
        });
        each.collect()
    }
}

impl Plan {
    /// The first goal for which no worker is named, with the role that it wants.
    pub fn unstaffed(&self) -> Option<(&str, &str)> {
        self.file.goals.iter().find_map(|goal| {
            let review = goal.gated.then_some(&goal.review);
            let mut roles = [Some(&goal.attempt), review].into_iter().flatten();
            let role = roles.find(|role| !self.file.workers.contains_key(*role))?;
            Some((goal.key.as_str(), role.as_str()))
        })
    }
}

/// What applying a plan did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanReport {
    /// The root.
    pub root: String,
    /// Ids by key: the root's and every goal's.
    pub ids: BTreeMap<String, String>,
    /// Keys of what was created.
    pub created: Vec<String>,
    /// Keys of what was changed.
    pub updated: Vec<String>,
    /// Keys of what is as the plan says.
    pub unchanged: Vec<String>,
    /// Keys of goals that are stored and not in the plan any more; they stay.
    pub gone: Vec<String>,
    /// Whether the workers, or the folder that their `./` stands for, are others than before.
    #[serde(default)]
    pub workers_updated: bool,
}

/// The same, with the store that was made for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The report.
    #[serde(flatten)]
    pub report: PlanReport,
    /// The store's folder, where there was none before.
    pub new_store: Option<PathBuf>,
}

/// Reads a plan.
///
/// # Errors
/// When the file cannot be read, or is not an acceptable plan: every complaint with its line.
pub fn read(path: &Path) -> Result<Plan, AppError> {
    let file_error =
        |source: std::io::Error| AppError::File { what: format!("read the plan {}", path.display()), source };
    let text = read_text(path).map_err(file_error)?;
    let file = parse(&text).map_err(|errors| AppError::Plan { file: path.to_owned(), errors })?;
    let absolute = path.canonicalize().map_err(file_error)?;
    let folder = absolute.parent().map_or_else(|| absolute.clone(), Path::to_owned);
    if folder.to_str().is_none() {
        let folder = folder.display();
        return Err(AppError::Usage(format!("a plan's folder is stored as text, and {folder} is not UTF-8")));
    }
    Ok(Plan { file, folder })
}

/// What a plan's file says, and no more than tells that it is too long.
fn read_text(path: &Path) -> std::io::Result<String> {
    let most = u64::try_from(MAX_PLAN_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    // What was cut in the middle of a letter is too long, and refused for that.
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if error.as_bytes().len() > MAX_PLAN_BYTES => {
            Ok(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(std::io::Error::new(ErrorKind::InvalidData, format!("it is not UTF-8 at byte {at}")))
        }
    }
}

/// Applies a plan in one transaction.
///
/// # Errors
/// When the plan wants to change what has begun; then nothing is written.
pub fn apply(session: &mut Session, plan: &Plan) -> Result<Changed<PlanReport>, AppError> {
    session.change("plan apply", |work| carry_out(work, plan))
}

/// The same in a store that may have been made for it.
///
/// # Errors
/// As [`apply`].
pub fn apply_in(
    session: &mut Session,
    plan: &Plan,
    new_store: Option<PathBuf>,
) -> Result<Changed<Applied>, AppError> {
    session.change("plan apply", |work| Ok(Applied { report: carry_out(work, plan)?, new_store }))
}

/// What applying a plan would do.
///
/// # Errors
/// As [`apply`].
pub fn preview(session: &Session, plan: &Plan) -> Result<PlanReport, AppError> {
    session.rehearse("plan apply", |work| carry_out(work, plan))
}

fn carry_out(work: &mut Work, plan: &Plan) -> Result<PlanReport, AppError> {
    let mut report = PlanReport::default();
    let said = said::said(&plan.file);
    let root = root(work, plan, &said, &mut report)?;
    report.root = root.to_string();
    report.ids.insert(plan.file.root.key.clone(), root.to_string());
    let mut conflicts = Vec::new();
    let known = goals_of(&work.snapshot, &root);
    let last = work.snapshot.plan(&root).map(|plan| plan.said.clone()).unwrap_or_default();
    let said_before = |key: &String| known.contains_key(key) && last.get(key) == said.get(key);
    let mut ids: BTreeMap<String, IssueId> = BTreeMap::new();
    let mut new_ids =
        ids_in_order(work, plan.file.goals.iter().filter(|goal| !known.contains_key(&goal.key)));
    for goal in &plan.file.goals {
        let id = match known.get(&goal.key) {
            Some(id) => {
                if !said_before(&goal.key) {
                    existing(work, id, goal, &mut report, &mut conflicts)?;
                }
                id.clone()
            }
            None => {
                let id = new_ids.next().unwrap_or_else(|| work.new_id());
                new_goal(work, id, &root, goal, &mut report)?
            }
        };
        report.ids.insert(goal.key.clone(), id.to_string());
        ids.insert(goal.key.clone(), id);
    }
    let mut edges = Vec::new();
    for goal in plan.file.goals.iter().filter(|goal| !said_before(&goal.key)) {
        edges.extend(order(&work.snapshot, goal, &ids, &mut report, &mut conflicts));
    }
    // All at once: each time, a circle is looked for along all that waits.
    work.apply(&edges)?;
    if !conflicts.is_empty() {
        return Err(AppError::PlanConflict(conflicts));
    }
    report.gone = known.keys().filter(|key| !ids.contains_key(*key)).cloned().collect();
    report.unchanged = report
        .ids
        .keys()
        .filter(|k| !report.created.contains(k) && !report.updated.contains(k))
        .cloned()
        .collect();
    report.workers_updated = work
        .snapshot
        .plan(&root)
        .is_some_and(|last| last.workers != plan.workers() || last.folder != plan.folder);
    store_plan(work, &root, plan, said)?;
    Ok(report)
}

/// The root with the plan's key, made where there is none.
fn root(
    work: &mut Work,
    plan: &Plan,
    said: &BTreeMap<String, String>,
    report: &mut PlanReport,
) -> Result<IssueId, AppError> {
    let wanted = &plan.file.root;
    let container = |id: &IssueId| work.snapshot.graph().get(id).is_some_and(|issue| issue.tags.container());
    let found = work.snapshot.roots_keyed(&wanted.key).into_iter().find(container);
    if let Some(id) = found {
        let last = work.snapshot.plan(&id).and_then(|plan| plan.said.get(&wanted.key));
        if last == said.get(&wanted.key) {
            return Ok(id);
        }
        let change = Update {
            title: Some(wanted.title.clone()),
            body: Some(wanted.body.clone()),
            priority: Some(wanted.priority),
            policy: Some(asking(&wanted.ask)),
            ..Update::default()
        };
        let primitives = update::update(&work.snapshot, &id, &change, work.now)?;
        if !primitives.is_empty() {
            report.updated.push(wanted.key.clone());
        }
        work.apply(&primitives)?;
        return Ok(id);
    }
    let id = work.new_id();
    let new = NewIssue {
        title: wanted.title.clone(),
        body: wanted.body.clone(),
        tags: Tags::new().with(Kind::Root.tag()).with(PROTOCOL),
        priority: wanted.priority,
        key: Some(wanted.key.clone()),
        policy: asking(&wanted.ask),
        ..NewIssue::default()
    };
    let primitives = create::create(&work.snapshot, &id, new, work.now)?;
    work.apply(&primitives)?;
    report.created.push(wanted.key.clone());
    Ok(id)
}

fn asking(ask: &AskPolicy) -> Policy {
    Policy { ask: ask.clone(), ..Policy::default() }
}

/// The goals of a root, by key. A successor has none: each key is there once.
fn goals_of(snapshot: &Snapshot, root: &IssueId) -> BTreeMap<String, IssueId> {
    let graph = snapshot.graph();
    let children = graph.ix(root).map(|ix| graph.children(ix).to_vec()).unwrap_or_default();
    let keyed = children.into_iter().filter_map(|ix| {
        let issue = graph.issue(ix);
        Some((issue.key.clone()?, issue.id.clone()))
    });
    keyed.collect()
}

fn tags_of(goal: &PlanGoal) -> Tags {
    let mut tags = Tags::new().with(Kind::Goal.tag()).with("ctx:clean").with(PROTOCOL);
    if goal.gated {
        tags.insert(Tag::known(FLOW_REVIEW_GATED));
    }
    goal.tags.iter().for_each(|tag| {
        tags.insert(tag.clone());
    });
    tags.completed()
}

fn work_of(goal: &PlanGoal) -> WorkFields {
    WorkFields {
        accept: goal.accept.clone(),
        verify: goal.verify.clone(),
        notes: Vec::new(),
        attempt: Some(goal.attempt.clone()),
        review: Some(goal.review.clone()),
    }
}

/// Ids for new goals, such that the total order, which ends with the id, has them as the file has them.
fn ids_in_order<'g>(
    work: &mut Work,
    goals: impl Iterator<Item = &'g PlanGoal>,
) -> std::vec::IntoIter<IssueId> {
    let mut ids: Vec<IssueId> = goals.map(|_| work.new_id()).collect();
    ids.sort();
    ids.into_iter()
}

fn new_goal(
    work: &mut Work,
    id: IssueId,
    root: &IssueId,
    goal: &PlanGoal,
    report: &mut PlanReport,
) -> Result<IssueId, AppError> {
    let new = NewIssue {
        title: goal.title.clone(),
        body: goal.body.clone(),
        tags: tags_of(goal),
        priority: goal.priority,
        parent: Some(root.clone()),
        policy: goal.policy.clone(),
        work: work_of(goal),
        key: Some(goal.key.clone()),
        choices: Vec::new(),
        due_at: None,
        configured: AskPolicy::default(),
    };
    let primitives = create::create(&work.snapshot, &id, new, work.now)?;
    work.apply(&primitives)?;
    report.created.push(goal.key.clone());
    Ok(id)
}

/// A goal that is stored already gets what the plan says anew. Where it has begun, that is a conflict.
fn existing(
    work: &mut Work,
    id: &IssueId,
    goal: &PlanGoal,
    report: &mut PlanReport,
    conflicts: &mut Vec<String>,
) -> Result<(), AppError> {
    let issue = work.snapshot.graph().get(id).ok_or_else(|| AppError::NoIssue(id.to_string()))?;
    // A plan says nothing of what was posted: a bound set that way stays. So does what it does not say of asks.
    let posted = issue.policy.max_review_rounds_posted;
    let ask = goal.policy.ask.clone().or(&issue.policy.ask);
    let policy = Policy { max_review_rounds_posted: posted, ask, ..goal.policy.clone() };
    let same = issue.title == goal.title
        && issue.body == goal.body
        && issue.priority == goal.priority
        && issue.work == work_of(goal)
        && issue.policy == policy
        && issue.tags == tags_of(goal);
    if same {
        return Ok(());
    }
    if let Some(begun) = begun(&work.snapshot, id) {
        conflicts.push(format!("goal \"{}\" ({id}) {begun}, and the plan changes it", goal.key));
        return Ok(());
    }
    let change = Update {
        title: Some(goal.title.clone()),
        body: Some(goal.body.clone()),
        priority: Some(goal.priority),
        tags: Some(tags_of(goal)),
        work: Some(work_of(goal)),
        ..Update::default()
    };
    let mut primitives = update::update(&work.snapshot, id, &change, work.now)?;
    if issue.policy != policy {
        create::check_policy(&policy)?;
        let fields = vec![crate::model::change::Field::Policy(policy)];
        primitives.push(Primitive::Edit { id: id.clone(), fields });
    }
    work.apply(&primitives)?;
    report.updated.push(goal.key.clone());
    Ok(())
}

/// Why a goal may not change any more, if it may not.
fn begun(snapshot: &Snapshot, id: &IssueId) -> Option<&'static str> {
    if snapshot.scope(id).is_some() {
        return Some("has opened its rounds");
    }
    let issue = snapshot.graph().get(id)?;
    if issue.state.closed() {
        return Some("is closed");
    }
    issue.state.claim().map(|_| "is in progress")
}

/// The new `after` edges of a goal. They are added while the goal has not begun; those that left the
/// plan stay, since a plan deletes nothing.
fn order(
    snapshot: &Snapshot,
    goal: &PlanGoal,
    ids: &BTreeMap<String, IssueId>,
    report: &mut PlanReport,
    conflicts: &mut Vec<String>,
) -> Vec<Primitive> {
    let mut edges = Vec::new();
    let Some(id) = ids.get(&goal.key) else { return edges };
    for key in &goal.after {
        let Some(blocker) = ids.get(key) else { continue };
        if gate::has_edge(snapshot, blocker, EdgeKind::Blocks, id) {
            continue;
        }
        if let Some(begun) = begun(snapshot, id) {
            conflicts
                .push(format!("goal \"{}\" ({id}) {begun}, and the plan puts it after \"{key}\"", goal.key));
            continue;
        }
        edges.push(Primitive::Serial { blocker: blocker.clone(), blocked: id.clone() });
        let known = report.created.contains(&goal.key) || report.updated.contains(&goal.key);
        if !known {
            report.updated.push(goal.key.clone());
        }
    }
    edges
}

/// Keeps the workers and the folder, so that `run --root` knows them, and what the plan said.
fn store_plan(
    work: &mut Work,
    root: &IssueId,
    plan: &Plan,
    said: BTreeMap<String, String>,
) -> Result<(), AppError> {
    let (folder, workers) = (plan.folder.clone(), plan.workers());
    let record = PlanRecord { root: root.clone(), folder, workers, said };
    if work.snapshot.plan(root) != Some(&record) {
        work.apply(&[Primitive::SetPlan { plan: Box::new(record) }])?;
    }
    Ok(())
}
