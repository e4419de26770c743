//! `SessionError`: why a session cannot be started, resumed, listed or deleted.

use std::io;
use std::path::PathBuf;

use rheon_agent::replay::ReplayError;
use rheon_store::SessionNameError;
use rheon_store::checkpoint::CheckpointError;
use rheon_store::claude::{TranscriptError, TranscriptFindError};
use rheon_store::journal::{JournalError, next_step};
use rheon_store::rewind::RewindError;
use rheon_store::sessions::{ResumeError, SessionFileError};
use rheon_store::sqlite::DatabaseError;
use rheon_types::{SessionId, StoreError};

use super::user_dirs::UserDirsError;

/// Why a session cannot be started, resumed, listed or deleted. No model was called yet.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// It is not known where sessions belong.
    #[error(transparent)]
    Directory(#[from] UserDirsError),
    /// The directory of the project cannot be used.
    #[error("cannot work in {}: {source}", path.display())]
    Project { path: PathBuf, source: io::Error },
    /// Sessions cannot be saved in the data directory.
    #[error("cannot save sessions: cannot {action} {}: {source}; {}", path.display(), next_step(source))]
    Unkeepable { action: &'static str, path: PathBuf, source: io::Error },
    /// Another process is writing to it.
    #[error("session {session_id} is in use by {holder}; close it there, open it read-only, or fork it")]
    InUse { session_id: SessionId, holder: String },
    #[error("no session to continue in {}; start one with `rheon`, or run `rheon sessions list --all`", project.display())]
    NoSession { project: PathBuf },
    #[error("{}; {}", missing(wanted), latest_hint(latest))]
    NoSuchSession {
        wanted: String,
        /// The latest ones of this directory, newest first.
        latest: Vec<SessionId>,
    },
    /// It belongs to Claude Code and must be imported first.
    #[error("session {wanted:?} belongs to Claude Code; import it first: rheon -r {wanted}")]
    ClaudeCodes { wanted: String },
    #[error("{} sessions match {wanted:?}: {}; write more of the id", candidates.len(), few(candidates))]
    Ambiguous { wanted: String, candidates: Vec<SessionId> },
    #[error("{0}; a UUID will do")]
    Name(SessionNameError),
    #[error("session {session_id} already exists; resume it or choose another id")]
    Taken { session_id: SessionId },
    #[error("cannot write the export: {0}")]
    Export(io::Error),
    #[error("session {session_id} does not replay: {error}")]
    Replay {
        session_id: SessionId,
        /// Where, and how.
        error: ReplayError,
    },
    #[error(transparent)]
    Rewind(RewindError),
    #[error(
        "cannot restore files: this session has no checkpoints; start it with sessions.checkpoints and session \
         persistence on"
    )]
    NoCheckpoints,
    /// The user said nothing of that name.
    #[error("no prompt of this session has the id {wanted:?}; use the uuid of a prompt's line")]
    NoSuchPrompt { wanted: String },
    #[error(
        "no message of this session has the uuid {uuid:?}; uuids are those of the transcript and of stream-json"
    )]
    NoSuchMessage { uuid: String },
    /// More than one turn would be dropped. Programs look for the first words.
    #[error("Resume rejected by --resume-drops-turn: {why}; resume without it, or at a later message")]
    DropsMore { why: String },
    #[error("sessions are not saved in this run, so none can be changed; run again with session persistence")]
    PersistenceOff,
    #[error(transparent)]
    Session(SessionFileError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Find(#[from] TranscriptFindError),
    /// A transcript cannot be read.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    #[error(transparent)]
    Index(#[from] DatabaseError),
    #[error(transparent)]
    Checkpoints(#[from] CheckpointError),
    /// The work was stopped, because the program ends or because it panicked.
    #[error("the work on sessions was stopped: {0}")]
    Stopped(String),
}

impl SessionError {
    /// The error for a session that cannot be used.
    pub(super) fn of(session_id: &SessionId, error: SessionFileError) -> Self {
        match error {
            SessionFileError::Journal(JournalError::InUse { holder, .. }) => {
                Self::InUse { session_id: session_id.clone(), holder }
            }
            SessionFileError::Journal(JournalError::Io { action, path, source }) => {
                Self::Unkeepable { action, path, source }
            }
            SessionFileError::Missing { name } => {
                Self::NoSuchSession { wanted: name.as_str().to_owned(), latest: Vec::new() }
            }
            error @ (SessionFileError::Name(_)
            | SessionFileError::Journal(_)
            | SessionFileError::NoSuchEvent { .. }
            | SessionFileError::Ancestors { .. }
            | SessionFileError::HasChildren { .. }) => Self::Session(error),
        }
    }

    /// The same for a session that could not be resumed.
    pub(super) fn of_resume(session_id: &SessionId, error: ResumeError) -> Self {
        match error {
            ResumeError::Session(error) => Self::of(session_id, error),
            ResumeError::Store(error) => Self::Store(error),
        }
    }

    /// Whether storage failed, so that a session could continue in memory.
    pub fn is_storage_failure(&self) -> bool {
        match self {
            Self::Directory(_) | Self::Unkeepable { .. } | Self::Store(_) => true,
            Self::Project { .. }
            | Self::InUse { .. }
            | Self::NoSession { .. }
            | Self::NoSuchSession { .. }
            | Self::ClaudeCodes { .. }
            | Self::Ambiguous { .. }
            | Self::PersistenceOff
            | Self::NoCheckpoints
            | Self::NoSuchPrompt { .. }
            | Self::NoSuchMessage { .. }
            | Self::DropsMore { .. }
            | Self::Session(_)
            | Self::Find(_)
            | Self::Transcript(_)
            | Self::Index(_)
            | Self::Checkpoints(_)
            | Self::Name(_)
            | Self::Export(_)
            | Self::Replay { .. }
            | Self::Rewind(_)
            | Self::Taken { .. }
            | Self::Stopped(_) => false,
        }
    }
}

impl From<tokio::task::JoinError> for SessionError {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::Stopped(error.to_string())
    }
}

fn missing(wanted: &str) -> String {
    match wanted {
        "" => "the session id is empty; write the id or its beginning".to_owned(),
        _ => format!("no such session: {wanted:?}"),
    }
}

fn latest_hint(latest: &[SessionId]) -> String {
    match latest {
        [] => "run `rheon sessions list --all` to list the sessions of all directories".to_owned(),
        [one] => format!("the latest one in this directory is {one}; run `rheon sessions list` for all"),
        _ => format!("the latest in this directory are {}; run `rheon sessions list` for all", few(latest)),
    }
}

/// How many candidates are named.
const NAMED_MAX: usize = 5;

fn few(candidates: &[SessionId]) -> String {
    let named: Vec<&str> = candidates.iter().take(NAMED_MAX).map(SessionId::as_str).collect();
    let more = if candidates.len() > NAMED_MAX { ", ..." } else { "" };
    format!("{}{more}", named.join(", "))
}
