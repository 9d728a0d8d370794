//! Scopes whose fate hangs on what lies elsewhere: a part of the attempt failed, and what is left of it
//! waits for work that is no part of the scope; or something beside the scope takes the place of what it lies in.

use roundgate::model::act::{create, edges};
use roundgate::model::graph::Ix;
use roundgate::model::id::IssueId;
use roundgate::model::issue::{Issue, Outcome, State};
use roundgate::model::primitive::Primitive;
use roundgate::model::record::Round;
use roundgate::model::tag::IMPORT_OPEN_BELOW_CLOSED;

use crate::world::World;

impl World {
    /// Makes one out of an attempt that nobody has begun, and lets what lies elsewhere end.
    pub fn tangle(&mut self) -> Option<()> {
        if self.rng.f64() < 0.2 {
            return self.imported_below_a_failure();
        }
        let attempt = self.untouched_attempt()?;
        let (failed, left) = (self.part(Some(&attempt))?, self.part(Some(&attempt))?);
        self.close(&attempt, Outcome::Expanded, false);
        let place = Some(self.root.clone()).filter(|_| self.rng.bool());
        self.wait_elsewhere(&failed, &left, place.as_ref())
    }

    fn untouched_attempt(&mut self) -> Option<IssueId> {
        let graph = self.snapshot.graph();
        let untouched = |round: &&Round| {
            let ix = graph.ix(&round.attempt).unwrap();
            !round.decided() && graph.issue(ix).state == State::Open && graph.children(ix).is_empty()
        };
        let rounds = self.snapshot.all_rounds().filter(untouched);
        let attempts: Vec<IssueId> = rounds.map(|round| round.attempt.clone()).collect();
        self.rng.choice(attempts)
    }

    fn part(&mut self, parent: Option<&IssueId>) -> Option<IssueId> {
        let id = self.id();
        let new = create::NewIssue { title: id.to_string(), parent: parent.cloned(), ..Default::default() };
        let made = create::create(&self.snapshot, &id, new, self.now);
        self.act(made).then_some(id)
    }

    /// A scope as an import may bring it: open below something that failed and that something beside it
    /// takes the place of. Once that comes to a good end, the scope is let go.
    fn imported_below_a_failure(&mut self) -> Option<()> {
        let (root, scope) = (self.root.clone(), self.id());
        let (failed, successor) = (self.part(Some(&root))?, self.part(Some(&root))?);
        let tags = ["proto:hierarchical-work-v1", "kind:goal", "ctx:clean", "flow:review-gated-v1"];
        let tags = tags.iter().chain(&[IMPORT_OPEN_BELOW_CLOSED]).map(|tag| tag.parse().unwrap()).collect();
        let issue = Box::new(Issue::new(scope.clone(), scope.to_string(), tags, self.now));
        let (outcome, reason) = (Outcome::Failure, Some("no tests".to_owned()));
        let imported = vec![
            Primitive::Create { issue, parent: Some(failed.clone()) },
            Primitive::Close { id: failed.clone(), outcome, reason, by: None },
            Primitive::Supersede { new: successor, old: failed },
        ];
        self.act(Ok(imported)).then_some(())
    }

    /// Whether an issue is open in an imported scope that was let go: nobody closes a review there.
    pub fn left_by_an_import(&self, ix: Ix) -> bool {
        let graph = self.snapshot.graph();
        let imported = |up: Ix| graph.issue(up).tags.has(IMPORT_OPEN_BELOW_CLOSED);
        self.snapshot.relation().let_go(ix) && graph.self_and_ancestors(ix).any(imported)
    }

    /// What is left waits for something elsewhere, and that waits for what failed, until it is skipped.
    fn wait_elsewhere(&mut self, failed: &IssueId, left: &IssueId, place: Option<&IssueId>) -> Option<()> {
        let beside = self.part(place)?;
        for (blocker, blocked) in [(failed, &beside), (&beside, left)] {
            let act = edges::block(&self.snapshot, blocker, blocked);
            self.act(act);
        }
        self.close(failed, Outcome::Failure, false);
        self.look();
        self.close(&beside, Outcome::Skipped, false);
        self.look();
        Some(())
    }

    /// Looks whether everything holds before anything else happens.
    fn look(&mut self) {
        if let Err(why) = self.check() {
            self.broken = Some(why);
        }
    }
}
