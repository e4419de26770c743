//! Files as they were before a turn's first change, by content, for undo. Nothing of git is read but its ignore rules, and
//! nothing of it is written, so that it works in any folder and no index, ref or hook is ever touched.

mod catalog;
mod change;
mod checkpoints;
mod error;
mod id;
mod limits;
mod manifest;
mod path;
mod plan;
mod probe;
mod restore;
mod scan;
mod turn;
mod workspace_dir;

pub use change::{ChangeKind, DiffTarget, PathChange, TextChange};
pub use checkpoints::{CheckpointResult, Checkpoints, PruneReport};
pub use error::CheckpointError;
pub use id::{CheckpointId, CheckpointMoment, CheckpointSummary};
pub use limits::CheckpointLimits;
pub use manifest::SkipReason;
pub use plan::{RestorePlan, RestoreSelection, RestoreStep, SkippedChange};
pub use restore::RestoreReport;
pub use turn::{CheckpointFailurePolicy, TurnCheckpoints};

#[cfg(test)]
mod checkpoint_tests;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod restore_tests;
#[cfg(test)]
mod turn_tests;
