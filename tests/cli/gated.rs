//! A root with one review-gated goal, brought to where a test begins.

use serde_json::Value;

use crate::stage::Stage;

/// A stage with a scope on it.
pub struct Gated {
    pub stage: Stage,
    pub root: String,
    pub goal: String,
}

impl Gated {
    /// Round 1 is open; the attempt waits for a worker.
    pub fn opened(max_rounds: u32) -> Self {
        let stage = Stage::new();
        let root =
            stage.id("issues create 'Ship the parser' --tag kind:root --tag proto:hierarchical-work-v1");
        let goal = stage.id(&format!(
            "issues create 'Write the lexer' --parent {root} --tag kind:goal --tag flow:review-gated-v1 \
             --tag proto:hierarchical-work-v1 --max-review-rounds {max_rounds}"
        ));
        stage.ok(&format!("tick --root {root}"));
        Gated { stage, root, goal }
    }

    /// The attempt of the round is done, and the review waits: its id.
    pub fn attempted(&self) -> String {
        let attempt = self.stage.ready("attempt");
        self.stage.cmd(&format!("issues close {attempt}")).by("worker").ok();
        self.stage.ready("review")
    }

    /// The review of the next round said needs_work, and a tick acted on it.
    pub fn fails(&self, note: &str) {
        let review = self.attempted();
        let line = format!("rounds verdict {review} needs_work --note '{note}' --tick");
        self.stage.cmd(&line).by("reviewer").ok();
    }

    /// A human is asked, after one failed round of one: the ask's id. `beyond` waits for the goal.
    pub fn escalated() -> (Self, String, String) {
        let gated = Gated::opened(1);
        let beyond = gated.stage.id(&format!("issues create 'Write the parser' --parent {}", gated.root));
        gated.stage.ok(&format!("issues dep {} blocks {beyond}", gated.goal));
        gated.fails("tabs count as one column");
        let ask = gated.stage.json("asks list")[0]["id"].as_str().unwrap().to_owned();
        (gated, ask, beyond)
    }

    /// The scope's rounds.
    pub fn rounds(&self) -> Value {
        self.stage.json(&format!("rounds show {}", self.goal))
    }

    /// Whether something is ready.
    pub fn is_ready(&self, id: &str) -> bool {
        self.stage.json(&format!("issues explain {id}"))["ready"] == true
    }
}
