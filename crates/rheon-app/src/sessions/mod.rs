//! Saved sessions: where they are, whether and how they are saved, and what happens to a session
//! that cannot be saved.

mod catalog;
mod entry;
mod env_vars;
mod error;
mod history;
mod import;
mod indexing;
mod manager;
mod notice;
mod notice_sink;
mod persistent_store;
mod session;
mod settings;
mod transcripts;
mod user_dirs;

pub use catalog::{DeletedSession, LIST_LINES_MAX, ListScope};
pub use entry::{SessionCreator, SessionDetails, SessionEntry};
pub use env_vars::EnvVars;
pub use error::SessionError;
pub use history::{ExportFormat, FileRewind, FileRewindReport, ReplayReport};
pub use manager::{ForkAt, SessionManager, SessionManagerParts};
pub use notice::SessionNotice;
pub use rheon_agent::replay::ReplayUntil;
pub use rheon_store::checkpoint::{CheckpointId, RestoreReport, TextChange};
pub use rheon_store::export::{ExportOptions, RedactionReport};
pub use rheon_store::rewind::{
    ChangedFile, ChangesSince, ConflictPolicy, FilesPlan, PointFiles, RestoreScope, RewindError,
    RewindOutcome, RewindPlan, RewindPoint, RewindTo, Speaker,
};
pub use rheon_store::sqlite::{EntryMatch, EntryRole, SessionStatus, Spend, ToolStats, UsageStats};
pub use session::SessionHandle;
pub(crate) use session::Unsaved;
pub use settings::{CheckpointMode, OnStorageFailure, Persistence, PersistenceSettings, Transcripts};
pub use user_dirs::{UserDirs, UserDirsError};

#[cfg(test)]
mod user_dirs_tests;
