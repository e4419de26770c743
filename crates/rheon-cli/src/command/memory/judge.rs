//! `rheon memory approve` and `rheon memory reject`.

use rheon_app::memory::{LearningId, LearningStatus};
use rheon_text::inert;

use super::manager::manager;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Approve a learning: sessions use it where it applies
#[derive(Debug, clap::Args)]
pub(crate) struct Approve {
    /// The number of the learning
    learning: i64,
}

impl Approve {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        judge(self.learning, LearningStatus::Validated)
    }
}

/// Reject a learning: no session uses it again
#[derive(Debug, clap::Args)]
pub(crate) struct Reject {
    /// The number of the learning
    learning: i64,
}

impl Reject {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        judge(self.learning, LearningStatus::Rejected)
    }
}

fn judge(number: i64, status: LearningStatus) -> Result<Exit, Failure> {
    let learning = manager()?.judge_learning(LearningId(number), status).map_err(Failure::error)?;
    let text = learning.proposal.text.replace('\n', " ");
    print(&format!("learning {number} is {}: {}\n", learning.status.as_str(), inert(&text)))
}
