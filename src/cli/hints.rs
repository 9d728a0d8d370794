//! The way out of each error.

use std::io::ErrorKind;

use super::command_line::Program;
use crate::app::shell::shell_word;
use crate::app::{AppError, ScheduleError, place};
use crate::model::apply::ApplyError;
use crate::model::id::{Actor, IssueId};
use crate::model::issue::Outcome;
use crate::model::refusal::Refusal;
use crate::store::StoreError;

/// What helps, where something does.
pub fn hint(error: &AppError, program: &Program) -> Option<String> {
    let call = |words: &str| program.line(words);
    let text = match error {
        AppError::Refusal(refusal) => return refused(refusal, program),
        AppError::Store(store) => return stored(store, program),
        AppError::NoDocument(_) => format!("{} shows every document", call("ui list")),
        AppError::NoIssue(_) | AppError::BadId { .. } => {
            format!("{} shows every issue", call("issues list --all"))
        }
        AppError::Ambiguous { prefix, candidates } => {
            match candidates.iter().any(|candidate| candidate.starts_with(prefix.as_str())) {
                true => "give more of the id".to_owned(),
                false => "name the one that is meant by its own id".to_owned(),
            }
        }
        AppError::NoStore(_) => {
            format!("{} makes one here; --store or ROUNDGATE_STORE names another", call("init"))
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
                "add [workers.{role}] to the plan and apply it, or claim the work by hand: {}",
                call("issues claim --next")
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
            format!("nothing was done now; {} shows what was done then", call("log"))
        }
        AppError::NoNotice(_) => format!("{} shows what was not delivered", call("notify list")),
        AppError::NotDelivered { .. } => {
            format!(
                "it is tried again by itself; {} lets everything be tried at once",
                call("notify retry --all")
            )
        }
        AppError::ClockRuns(_) => "one is enough: it ticks every heartbeat that is due".to_owned(),
        AppError::ClockLocked(file) => format!(
            "no roundgate of this machine has it: fuser {} names what has, unless that runs in another container",
            shell_word(file)
        ),
        AppError::Stopped(_) => "the same call goes on from there".to_owned(),
        AppError::File { source, .. } if source.kind() == ErrorKind::PermissionDenied => {
            "make it readable and writable for this user, or call as the user that it belongs to".to_owned()
        }
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

fn stored(error: &StoreError, program: &Program) -> Option<String> {
    let call = |words: &str| program.line(words);
    let text = match error {
        StoreError::Missing { path } if place::is_store(&path.join(place::FOLDER)) => {
            format!("the store is the folder in it: --store {}", shell_word(path.join(place::FOLDER)))
        }
        StoreError::Missing { path } => format!("{} makes one", Program::at(Some(path)).line("init")),
        StoreError::Lost { mark, .. } => format!(
            "nothing was written; {} puts a backup in place; to begin anew, remove {} first",
            call("restore FILE --force"),
            mark.display()
        ),
        StoreError::Exists { .. } => "it is ready to be used".to_owned(),
        StoreError::Newer { .. } => "use the roundgate that wrote it, or a newer one".to_owned(),
        StoreError::Older { .. } => {
            format!(
                "any command that writes brings it up to date, after a backup beside it; so does {}",
                call("doctor --fix")
            )
        }
        StoreError::Foreign { .. } => {
            "the file was left as it is; name another store with --store".to_owned()
        }
        StoreError::Damaged { .. } => {
            format!(
                "nothing was written; {} says what is wrong, {} puts a backup in place",
                call("doctor"),
                call("restore FILE --force")
            )
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
            format!(
                "{} shows whether it is there; with --operation the same call can be made again, and applies once",
                call("log")
            )
        }
        StoreError::Full => "make room, and do it again".to_owned(),
        StoreError::Limit { .. } => "raise the limit with ulimit -f, and do it again".to_owned(),
        _ => return None,
    };
    Some(text)
}

fn refused(refusal: &Refusal, program: &Program) -> Option<String> {
    let call = |words: &str| program.line(words);
    let about = |words: &str, id: &IssueId| call(words).arg(id.as_str());
    let text = match refusal {
        Refusal::NoIssue(_) => format!("{} shows every issue", call("issues list --all")),
        Refusal::HeldBy { id, .. } | Refusal::NotReady { id, .. } => {
            format!("{} says what it waits for", about("issues explain", id))
        }
        Refusal::NotHolder { id, .. } => format!("{} takes it, if it is free", about("issues claim", id)),
        Refusal::Fenced { id, .. } => format!("{} shows who holds it now", about("issues get", id)),
        Refusal::WorkStaysWork { id, .. } => {
            format!("{} --tag kind:ask asks below it", about("issues create QUESTION --parent", id))
        }
        Refusal::NothingReady(_) => format!("{} shows what everything waits for", call("status")),
        Refusal::AlreadyClosed { id, outcome: Outcome::Expanded } => format!(
            "{} --outcome skipped --cascade --reason TEXT gives up what goes on below it",
            about("issues close", id)
        ),
        Refusal::AlreadyClosed { id, .. } => {
            format!("{} reopens it, where nothing is decided by it", about("issues open", id))
        }
        Refusal::ChildInTheWay { child, .. } => format!("close {child} first"),
        Refusal::SkipNeedsReason(_) => "say why with --reason TEXT".to_owned(),
        Refusal::AskIsAnswered(id) | Refusal::AskStaysAsk(id) => {
            format!("{} lists the choices; {} CHOICE decides", about("asks show", id), about("answer", id))
        }
        Refusal::ReviewIsJudged { id, .. } | Refusal::ReviewNeedsOutcome(id) => {
            format!("{} pass|needs_work --note TEXT", about("rounds verdict", id))
        }
        Refusal::AttemptPending { attempt, .. } => {
            format!("{} says what the attempt waits for", about("issues explain", attempt))
        }
        Refusal::SelfReview { .. } => {
            "let somebody else judge it (--as NAME), or open the scope with --allow-self-review".to_owned()
        }
        Refusal::AlreadyJudged { review, used: true, .. } => {
            format!("a tick has acted on it; {} shows what came of it", about("rounds show", review))
        }
        Refusal::AlreadyAnswered { ask, used: true, .. } => {
            format!("a tick has acted on it; {} shows what came of it", about("issues history", ask))
        }
        Refusal::AlreadyJudged { review, by, .. } => {
            format!("until a tick acts on it, {by} may withdraw it: {}", about("rounds withdraw", review))
        }
        Refusal::AlreadyAnswered { ask, by, .. } if *by == Actor::engine() => {
            format!("nobody had answered in time; {} shows what was to be known", about("asks show", ask))
        }
        Refusal::AlreadyAnswered { ask, by, .. } => {
            format!("until a tick acts on it, {by} may withdraw it: {} --withdraw", about("answer", ask))
        }
        Refusal::NoSuchChoice { ask, .. } => format!("{} says what each will do", about("asks show", ask)),
        Refusal::BoundsFixed(id) => format!("an answer to its ask can open further rounds of {id}"),
        Refusal::RoundNode { scope, .. } | Refusal::RoundDecided { scope, .. } => {
            format!("{} shows its rounds", about("rounds show", scope))
        }
        Refusal::Superseded { by, .. } => format!("go on with {by}"),
        Refusal::BelowEnded { ancestor, .. } => format!("{} first", about("issues open", ancestor)),
        Refusal::ScopeIsOpened(id) => format!("{} shows what it waits for", about("rounds show", id)),
        Refusal::NoHeartbeat { kind: "cron entry", .. } => format!("{} shows them all", call("cron list")),
        Refusal::NoHeartbeat { .. } => format!("{} shows them all", call("heartbeats list")),
        Refusal::HasHeartbeat { heartbeat, .. } => {
            format!(
                "{} changes it; {} makes further ones",
                call("heartbeats update").arg(heartbeat.to_string()),
                call("cron create")
            )
        }
        Refusal::RootIsFinal(id) => format!("{} brings it back", about("issues open", id)),
        Refusal::MomentOver(id) => {
            format!("{} --at MOMENT gives it another", call("cron update").arg(id.to_string()))
        }
        Refusal::NotByTimeout(_) => "let a human decide it: leave the timeout out".to_owned(),
        Refusal::AskIsAssigned(id) => format!("{} --to NAME --due 2d", about("asks assign", id)),
        Refusal::PauseNeedsReason(_) => "say why with --reason TEXT".to_owned(),
        Refusal::NothingToRetry { id, .. } | Refusal::NothingToPause { id, .. } => {
            format!("{} shows where it stands", about("issues get", id))
        }
        Refusal::Shape(ApplyError::Deadlock(_)) => {
            format!("take one of these edges out first: {}", call("issues undep A blocks B"))
        }
        Refusal::Shape(ApplyError::NothingExpanded(id)) => {
            format!("create a child first: {}", about("issues create TITLE --parent", id))
        }
        _ => return None,
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use super::*;

    #[test]
    fn a_lock_of_another_user_says_whose_it_must_be() {
        let of = |kind| {
            let what = "lock /srv/store/heartbeats.lock".to_owned();
            hint(&AppError::File { what, source: Error::from(kind) }, &Program::default())
        };
        assert!(of(ErrorKind::PermissionDenied).unwrap().contains("the user that it belongs to"));
        assert_eq!(of(ErrorKind::NotFound), None);
    }
}
