//! Saves the files before the first change of each turn, by content hash, for undo. It reads git's ignore rules and
//! nothing else of git, and never writes to it. So it works in any directory and never touches an index, ref or
//! hook.

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
