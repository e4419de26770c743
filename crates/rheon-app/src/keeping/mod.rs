//! How a program keeps sessions, decided in one place: where they are, whether and how they are kept, and what becomes of a session
//! that cannot be.

mod back;
mod catalogue;
mod environment;
mod error;
mod folders;
mod import;
mod indexing;
mod keeper;
mod kept_store;
mod line;
mod notice;
mod session;
mod settings;
mod tell;
mod transcripts;

pub use back::{Doing, ExportFormat, FilesRewound, ReplayReport};
pub use catalogue::{Deleted, LIST_LINES_MAX, Scope};
pub use environment::Environment;
pub use error::KeepingError;
pub use folders::{FolderError, Folders};
pub use keeper::{ForkAt, Keeper, KeeperParts};
pub use line::{Maker, SessionDetails, SessionLine};
pub use notice::Notice;
pub use rheon_agent::replay::ReplayUntil;
pub use rheon_store::checkpoint::{CheckpointId, RestoreReport};
pub use rheon_store::export::{ExportOptions, RedactionReport};
pub use rheon_store::rewind::{
    ConflictPolicy, FilesPlan, PointFiles, RestoreScope, RewindError, RewindOutcome, RewindPlan, RewindPoint,
    RewindTo, Speaker,
};
pub use rheon_store::sqlite::{EntryMatch, EntryRole, SessionStatus, Spend, ToolStats, UsageStats};
pub use session::KeptSession;
pub(crate) use session::Unsaved;
pub use settings::{CheckpointMode, KeepingSettings, OnTrouble, Persistence, Transcripts};

#[cfg(test)]
mod folders_tests;
