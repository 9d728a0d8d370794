//! Ways round a rule that somebody could try.

use roundgate::model::apply::ApplyError;
use roundgate::model::issue::Outcome::{Expanded, Failure, Skipped, Success};
use roundgate::model::issue::Policy;
use roundgate::model::record::Opinion::{NeedsWork, Pass};
use roundgate::model::record::{Answer, ScopeEnd};
use roundgate::model::refusal::Refusal;
use roundgate::model::tag::TagSetError;

use crate::stage::{LEASE, Stage, id, who};

#[test]
fn whoever_skipped_the_attempt_may_not_judge_it() {
    let mut stage = Stage::with_round();
    stage.close("t-1", Skipped, "ann").unwrap();
    let refused = stage.judge("t-2", Pass, "ann").unwrap_err();
    assert!(matches!(refused, Refusal::SelfReview { .. }), "{refused:?}");
    stage.judge("t-2", Pass, "bob").unwrap();
}
