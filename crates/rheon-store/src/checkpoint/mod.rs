//! Files as they were before a turn's first change, by content, for undo. Nothing of git is read but its ignore rules, and
//! nothing of it is written, so that it works in any folder and no index, ref or hook is ever touched.

mod beneath;
mod catalogue;
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

pub use change::{Against, Change, ChangeKind, TextChange};
pub use checkpoints::{Captured, Checkpoints, Pruned};
pub use error::CheckpointError;
pub use id::{CheckpointId, Listed, Moment};
pub use limits::Limits;
pub use manifest::NotKept;
pub use plan::{KeptBack, Plan, Restore, Step};
pub use restore::Restored;
pub use turn::{OnFailure, TurnCheckpoints};

#[cfg(test)]
mod checkpoint_tests;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod restore_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod turn_tests;
