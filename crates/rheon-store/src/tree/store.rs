//! `SessionStore`: stores sessions.

use std::io;
use std::path::PathBuf;

use rheon_types::{AgentId, Answer, SessionId};

use super::session::Session;
use crate::session_name::SessionNameError;

/// Stores sessions. Every implementation joins the conformance suite of this module.
pub trait SessionStore: Send + Sync {
    /// Stores the session, replacing the stored one.
    fn save_session<'a>(&'a self, session: &'a Session) -> Answer<'a, Result<(), SessionStoreError>>;

    fn load_session<'a>(&'a self, id: &'a SessionId) -> Answer<'a, Result<Session, SessionStoreError>>;

    /// All ids, most recently active first; for equal times, the greater id first. Includes sessions that cannot be
    /// loaded.
    fn list_session_ids(&self) -> Answer<'_, Result<Vec<SessionId>, SessionStoreError>>;

    /// The sessions of one agent, in the order of the list.
    fn load_sessions_for_agent<'a>(
        &'a self,
        agent_id: &'a AgentId,
    ) -> Answer<'a, Result<AgentSessions, SessionStoreError>>;

    /// Deletes the session `id`. Fails with [`SessionStoreError::Missing`] if it does not exist.
    fn delete_session<'a>(&'a self, id: &'a SessionId) -> Answer<'a, Result<(), SessionStoreError>>;
}

/// The sessions of one agent.
#[derive(Debug, Default)]
pub struct AgentSessions {
    pub sessions: Vec<Session>,
    /// The sessions that could not be read. Their agent is unknown.
    pub broken: Vec<BrokenSession>,
}

#[derive(Debug)]
pub struct BrokenSession {
    pub session_id: SessionId,
    pub error: SessionStoreError,
}

/// Why a session cannot be stored or loaded.
#[derive(Debug, thiserror::Error)]
pub enum SessionStoreError {
    #[error(transparent)]
    Name(#[from] SessionNameError),
    #[error("no session {id}; list the sessions to see their ids")]
    Missing { id: SessionId },
    /// Another process is saving it.
    #[error("session {id} is being saved by {}; try again", holder_text(*.holder))]
    Locked {
        id: SessionId,
        /// The process id, if known.
        holder: Option<u32>,
    },
    #[error("cannot read session {id}: {problem}; repair or remove {}", .path.display())]
    Broken { id: SessionId, path: PathBuf, problem: String },
    /// A later version wrote it.
    #[error(
        "session {id} has format version {found}; this version of Rheon reads up to {supported}: update Rheon"
    )]
    Newer {
        id: SessionId,
        found: u64,
        /// The latest supported format.
        supported: u64,
    },
    #[error("session {id} is larger than {bytes_max} bytes; store fewer events or raise the limit")]
    TooLarge { id: SessionId, bytes_max: u64 },
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// The verb for the message, such as "writing".
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The program is shutting down.
    #[error("session files were not written because the program is shutting down")]
    Cancelled,
}

fn holder_text(holder: Option<u32>) -> String {
    holder.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}
