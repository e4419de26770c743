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
pub use rheon_store::checkpoint::{CheckpointId, Restored};
pub use rheon_store::export::{ExportOptions, RedactionReport};
pub use rheon_store::rewind::{
    FilesPlan, Others, Point, PointFiles, RewindError, RewindPlan, Rewound, Speaker, To, What,
};
pub use rheon_store::sqlite::{Hit, Role, Spend, Stats, Status, ToolStats};
pub use session::KeptSession;
pub(crate) use session::Unsaved;
pub use settings::{CheckpointMode, KeepingSettings, OnTrouble, Persistence, Transcripts};

#[cfg(test)]
mod folders_tests;
