//! The way out of each error.

use crate::app::{AppError, ScheduleError, place};
use crate::model::apply::ApplyError;
use crate::model::id::Actor;
use crate::model::issue::Outcome;
use crate::model::refusal::Refusal;
use crate::store::StoreError;

/// What helps, where something does.
pub fn hint(error: &AppError) -> Option<String> {
    let text = match error {
        AppError::Refusal(refusal) => return refused(refusal),
        AppError::Store(store) => return stored(store),
        AppError::NoDocument(_) => "roundgate ui list shows every document".to_owned(),
        AppError::NoIssue(_) | AppError::BadId { .. } => {
            "roundgate issues list --all shows every issue".to_owned()
        }
        AppError::Ambiguous { prefix, candidates } => {
            match candidates.iter().any(|candidate| candidate.starts_with(prefix.as_str())) {
                true => "give more of the id".to_owned(),
                false => "name the one that is meant by its own id".to_owned(),
            }
        }
        AppError::NoStore(_) => {
            "roundgate init makes one here; --store or ROUNDGATE_STORE names another".to_owned()
        }
        AppError::StoreInPlace(_) => "--force keeps it aside under another name".to_owned(),
        AppError::BadActor { .. } => "name the actor with --as or ROUNDGATE_ACTOR".to_owned(),
        AppError::Plan { .. } => "mend what is named there; nothing was applied".to_owned(),
        AppError::PlanConflict(_) => {
            "give the changed goal a new key, or answer and finish the old one first".to_owned()
        }
        AppError::Import { .. } => "nothing was imported; mend that line and import again".to_owned(),
        AppError::Config { .. } => {
            "mend that line, or remove the file: then every key has its default".to_owned()
        }
        AppError::NoWorker { role, .. } => {
            format!(
                "add [workers.{role}] to the plan and apply it, or claim the work by hand: roundgate issues claim --next"
            )
        }
        AppError::WorkerFile { .. } => {
            "see that no worker of a run that died is still at work (ps), end it, and delete the file"
                .to_owned()
        }
        AppError::OperationUsed { .. } => {
            "nothing was done; give each request an --operation of its own, and a retry that of the first"
                .to_owned()
        }
        AppError::ReplyUnreadable { .. } => {
            "nothing was done now; roundgate log shows what was done then".to_owned()
        }
        AppError::NoNotice(_) => "roundgate notify list shows what was not delivered".to_owned(),
        AppError::NotDelivered { .. } => {
            "it is tried again by itself; roundgate notify retry --all lets everything be tried at once"
                .to_owned()
        }
        AppError::ClockRuns(_) => "one is enough: it ticks every heartbeat that is due".to_owned(),
        AppError::InUse { clock: Some(pid), .. } => {
            format!(
                "stop roundgate heartbeats run (process {pid}) and whatever else has it open, and try again"
            )
        }
        AppError::InUse { clock: None, .. } => {
            "stop whatever has it open (roundgate run, heartbeats run), and try again".to_owned()
        }
        AppError::DatabaseReplaced(_) => "start it again: then it works on the one that is there".to_owned(),
        AppError::Schedule(ScheduleError::NoZone(_)) => {
            "zones are those of the IANA database, with capital letters".to_owned()
        }
        AppError::Schedule(ScheduleError::OverBefore) => {
            "--for DURATION lets it go on for longer (90d; cron entries 366d)".to_owned()
        }
        AppError::Unprinted(_) => "the command was carried out; only its output is missing".to_owned(),
        AppError::Schedule(_) | AppError::Usage(_) | AppError::File { .. } | AppError::Broken { .. } => {
            return None;
        }
    };
    Some(text)
}

fn stored(error: &StoreError) -> Option<String> {
    let text = match error {
        StoreError::Missing { path } if place::is_store(&path.join(place::FOLDER)) => {
            format!("the store is the folder in it: --store {}", path.join(place::FOLDER).display())
        }
        StoreError::Missing { path } => format!("roundgate init --store {} makes one", path.display()),
        StoreError::Lost { mark, .. } => format!(
            "nothing was written; roundgate restore FILE --force puts a backup in place; to begin anew, remove {} first",
            mark.display()
        ),
        StoreError::Exists { .. } => "it is ready to be used".to_owned(),
        StoreError::Newer { .. } => "use the roundgate that wrote it, or a newer one".to_owned(),
        StoreError::Older { .. } => {
            "any command that writes brings it up to date, after a backup beside it; so does roundgate doctor --fix"
                .to_owned()
        }
        StoreError::Foreign { .. } => {
            "the file was left as it is; name another store with --store".to_owned()
        }
        StoreError::Damaged { .. } => {
            "nothing was written; roundgate doctor says what is wrong, roundgate restore FILE --force puts a backup in place"
                .to_owned()
        }
        StoreError::Taken { .. } => "nothing is ever written over; name a new file".to_owned(),
        StoreError::Network { .. } => {
            "name a folder on a local disk with --store, or set ROUNDGATE_ALLOW_NETWORK_FS=1 to use it all the same"
                .to_owned()
        }
        StoreError::OldSqlite { .. } => "build with the bundled SQLite".to_owned(),
        StoreError::Busy { .. } => "try again".to_owned(),
        StoreError::ReadOnly { .. } => "make the folder and the file writable for this user".to_owned(),
        StoreError::Unsettled { .. } => {
            "roundgate log shows whether it is there; with --operation the same call can be made again, and applies once"
                .to_owned()
        }
        StoreError::Full => "make room, and do it again".to_owned(),
        StoreError::Limit { .. } => "raise the limit with ulimit -f, and do it again".to_owned(),
        _ => return None,
    };
    Some(text)
}

fn refused(refusal: &Refusal) -> Option<String> {
    let text = match refusal {
        Refusal::NoIssue(_) => "roundgate issues list --all shows every issue".to_owned(),
        Refusal::HeldBy { id, .. } | Refusal::NotReady { id, .. } => {
            format!("roundgate issues explain {id} says what it waits for")
        }
        Refusal::NotHolder { id, .. } => format!("roundgate issues claim {id} takes it, if it is free"),
        Refusal::Fenced { id, .. } => format!("roundgate issues get {id} shows who holds it now"),
        Refusal::WorkStaysWork { id, .. } => {
            format!("roundgate issues create QUESTION --parent {id} --tag kind:ask asks below it")
        }
        Refusal::NothingReady(_) => "roundgate status shows what everything waits for".to_owned(),
        Refusal::AlreadyClosed { id, outcome: Outcome::Expanded } => format!(
            "roundgate issues close {id} --outcome skipped --cascade --reason TEXT gives up what goes on below it"
        ),
        Refusal::AlreadyClosed { id, .. } => {
            format!("roundgate issues open {id} reopens it, where nothing is decided by it")
        }
        Refusal::ChildInTheWay { child, .. } => format!("close {child} first"),
        Refusal::SkipNeedsReason(_) => "say why with --reason TEXT".to_owned(),
        Refusal::AskIsAnswered(id) | Refusal::AskStaysAsk(id) => {
            format!("roundgate asks show {id} lists the choices; roundgate answer {id} CHOICE decides")
        }
        Refusal::ReviewIsJudged { id, .. } | Refusal::ReviewNeedsOutcome(id) => {
            format!("roundgate rounds verdict {id} pass|needs_work --note TEXT")
        }
        Refusal::AttemptPending { attempt, .. } => {
            format!("roundgate issues explain {attempt} says what the attempt waits for")
        }
        Refusal::SelfReview { .. } => {
            "let somebody else judge it (--as NAME), or open the scope with --allow-self-review".to_owned()
        }
        Refusal::AlreadyJudged { review, used: true, .. } => {
            format!("a tick has acted on it; roundgate rounds show {review} shows what came of it")
        }
        Refusal::AlreadyAnswered { ask, used: true, .. } => {
            format!("a tick has acted on it; roundgate issues history {ask} shows what came of it")
        }
        Refusal::AlreadyJudged { review, by, .. } => {
            format!("until a tick acts on it, {by} may withdraw it: roundgate rounds withdraw {review}")
        }
        Refusal::AlreadyAnswered { ask, by, .. } if *by == Actor::engine() => {
            format!("nobody had answered in time; roundgate asks show {ask} shows what was to be known")
        }
        Refusal::AlreadyAnswered { ask, by, .. } => {
            format!("until a tick acts on it, {by} may withdraw it: roundgate answer {ask} --withdraw")
        }
        Refusal::NoSuchChoice { ask, .. } => format!("roundgate asks show {ask} says what each will do"),
        Refusal::BoundsFixed(id) => format!("an answer to its ask can open further rounds of {id}"),
        Refusal::RoundNode { scope, .. } | Refusal::RoundDecided { scope, .. } => {
            format!("roundgate rounds show {scope} shows its rounds")
        }
        Refusal::Superseded { by, .. } => format!("go on with {by}"),
        Refusal::BelowEnded { ancestor, .. } => format!("roundgate issues open {ancestor} first"),
        Refusal::ScopeIsOpened(id) => format!("roundgate rounds show {id} shows what it waits for"),
        Refusal::NoHeartbeat { kind: "cron entry", .. } => "roundgate cron list shows them all".to_owned(),
        Refusal::NoHeartbeat { .. } => "roundgate heartbeats list shows them all".to_owned(),
        Refusal::HasHeartbeat { heartbeat, .. } => {
            format!(
                "roundgate heartbeats update {heartbeat} changes it; roundgate cron create makes further ones"
            )
        }
        Refusal::RootIsFinal(id) => format!("roundgate issues open {id} brings it back"),
        Refusal::MomentOver(id) => format!("roundgate cron update {id} --at MOMENT gives it another"),
        Refusal::NotByTimeout(_) => "let a human decide it: leave the timeout out".to_owned(),
        Refusal::AskIsAssigned(id) => format!("roundgate asks assign {id} --to NAME --due 2d"),
        Refusal::PauseNeedsReason(_) => "say why with --reason TEXT".to_owned(),
        Refusal::NothingToRetry { id, .. } | Refusal::NothingToPause { id, .. } => {
            format!("roundgate issues get {id} shows where it stands")
        }
        Refusal::Shape(ApplyError::Deadlock(_)) => {
            "take one of these edges out first: roundgate issues undep A blocks B".to_owned()
        }
        Refusal::Shape(ApplyError::NothingExpanded(id)) => {
            format!("create a child first: roundgate issues create TITLE --parent {id}")
        }
        _ => return None,
    };
    Some(text)
}
