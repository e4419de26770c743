//! `KeepingError`: why a session cannot be begun, gone on with, listed or deleted.

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

use super::folders::FolderError;

/// Why a session cannot be begun, gone on with, listed or deleted. Nothing was asked of a model yet.
#[derive(Debug, thiserror::Error)]
pub enum KeepingError {
    /// It is not known where sessions belong.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The folder of the project cannot be used.
    #[error("cannot work in {}: {source}", path.display())]
    Project {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Sessions cannot be kept where they belong.
    #[error("sessions cannot be kept: cannot {action} {}: {source}; {}", path.display(), next_step(source))]
    Unkeepable {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// Somebody else writes to it.
    #[error("session {session_id} is in use by {holder}; close it there, open it only to read, or fork it")]
    InUse {
        /// The session.
        session_id: SessionId,
        /// Who.
        holder: String,
    },
    /// There is no session here.
    #[error("there is no session in {} to go on with{}", project.display(), claude_hint(*claude_sessions))]
    NoSession {
        /// The folder.
        project: PathBuf,
        /// How many of Claude Code's there are.
        claude_sessions: usize,
    },
    /// There is no such session.
    #[error("{}; {}", missing(wanted), latest_hint(latest))]
    NoSuchSession {
        /// What was asked for.
        wanted: String,
        /// The latest ones of this folder, newest first.
        latest: Vec<SessionId>,
    },
    /// It is one of Claude Code's, which only goes on as one of ours.
    #[error(
        "session {wanted:?} is one of Claude Code's; go on with it first, which makes it one of Rheon's: rheon -r {wanted}"
    )]
    ClaudeCodes {
        /// What was asked for.
        wanted: String,
    },
    /// Several sessions begin like this.
    #[error("{} sessions begin with {wanted:?}: {}; give more of the id", candidates.len(), few(candidates))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// Which.
        candidates: Vec<SessionId>,
    },
    /// No session can have this id.
    #[error("{0}; a UUID will do")]
    Name(SessionNameError),
    /// Another session has this id.
    #[error("there is a session {session_id} already; go on with it, or choose another id")]
    Taken {
        /// The id.
        session_id: SessionId,
    },
    /// An export cannot be written.
    #[error("the export cannot be written: {0}")]
    Export(io::Error),
    /// The loop leaves what was recorded.
    #[error("session {session_id} does not come out again: {error}")]
    Replay {
        /// The session.
        session_id: SessionId,
        /// Where, and how.
        error: ReplayError,
    },
    /// It cannot be rewound.
    #[error(transparent)]
    Rewind(RewindError),
    /// The session keeps no checkpoints.
    #[error(
        "the files of this session are not kept, so they cannot be brought back; begin it with sessions.checkpoints on and session \
         persistence on"
    )]
    NoCheckpoints,
    /// The user said nothing of that name.
    #[error(
        "nothing that the user said in this session is called {wanted:?}; name one of its prompts by the uuid of its line"
    )]
    NoSuchPrompt {
        /// What was asked for.
        wanted: String,
    },
    /// Nothing is to be written.
    #[error(
        "sessions are not kept in this run, so none can be changed; run again with session persistence on"
    )]
    PersistenceOff,
    /// The session cannot be used.
    #[error(transparent)]
    Session(SessionFileError),
    /// The session cannot be written to.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Transcripts cannot be listed.
    #[error(transparent)]
    Find(#[from] TranscriptFindError),
    /// A transcript cannot be read.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    /// The index cannot be used.
    #[error(transparent)]
    Index(#[from] DatabaseError),
    /// Checkpoints cannot be removed.
    #[error(transparent)]
    Checkpoints(#[from] CheckpointError),
    /// The work was stopped, because the program ends or because it panicked.
    #[error("the work on sessions was stopped: {0}")]
    Stopped(String),
}

impl KeepingError {
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

    /// The same for one that could not be gone on with.
    pub(super) fn of_resume(session_id: &SessionId, error: ResumeError) -> Self {
        match error {
            ResumeError::Session(error) => Self::of(session_id, error),
            ResumeError::Store(error) => Self::Store(error),
        }
    }

    /// Whether the disk is at fault, so that a session could still go on in memory.
    pub fn is_trouble(&self) -> bool {
        match self {
            Self::Folder(_) | Self::Unkeepable { .. } | Self::Store(_) => true,
            Self::Project { .. }
            | Self::InUse { .. }
            | Self::NoSession { .. }
            | Self::NoSuchSession { .. }
            | Self::ClaudeCodes { .. }
            | Self::Ambiguous { .. }
            | Self::PersistenceOff
            | Self::NoCheckpoints
            | Self::NoSuchPrompt { .. }
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

impl From<tokio::task::JoinError> for KeepingError {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::Stopped(error.to_string())
    }
}

fn missing(wanted: &str) -> String {
    match wanted {
        "" => "it is not said which session; write (the beginning of) its id".to_owned(),
        _ => format!("there is no session {wanted:?}"),
    }
}

fn latest_hint(latest: &[SessionId]) -> String {
    match latest {
        [] => "`rheon sessions list --all` lists those of all folders".to_owned(),
        [one] => format!("the latest one here is {one}; `rheon sessions list` lists all"),
        _ => format!("the latest here are {}; `rheon sessions list` lists all", few(latest)),
    }
}

fn claude_hint(sessions: usize) -> String {
    match sessions {
        0 => "; begin one with `rheon`, or look for others with `rheon sessions list --all`".to_owned(),
        1 => "; Claude Code has one, which can be resumed by its id".to_owned(),
        many => format!("; Claude Code has {many}, which can be resumed by their ids"),
    }
}

/// How many candidates are named.
const NAMED_MAX: usize = 5;

fn few(candidates: &[SessionId]) -> String {
    let named: Vec<&str> = candidates.iter().take(NAMED_MAX).map(SessionId::as_str).collect();
    let more = if candidates.len() > NAMED_MAX { ", ..." } else { "" };
    format!("{}{more}", named.join(", "))
}
