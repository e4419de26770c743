//! `rheon memory approve` and `rheon memory reject`.

use rheon_app::memory::{LearningId, LearningStatus};
use rheon_text::inert;

use super::desk::desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Say that a learning holds: sessions are told it where it fits
#[derive(Debug, clap::Args)]
pub(crate) struct Approve {
    /// Its number
    learning: i64,
}

impl Approve {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        judge(self.learning, LearningStatus::Validated)
    }
}

/// Say that a learning does not hold: no session is told it again
#[derive(Debug, clap::Args)]
pub(crate) struct Reject {
    /// Its number
    learning: i64,
}

impl Reject {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        judge(self.learning, LearningStatus::Rejected)
    }
}

fn judge(number: i64, status: LearningStatus) -> Result<Exit, Failure> {
    let learning = desk()?.judge_learning(LearningId(number), status).map_err(Failure::error)?;
    let text = learning.proposal.text.replace('\n', " ");
    print(&format!("learning {number} is {}: {}\n", learning.status.as_str(), inert(&text)))
}
