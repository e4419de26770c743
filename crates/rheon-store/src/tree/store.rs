//! `SessionStore`: where sessions are kept.

use std::io;
use std::path::PathBuf;

use rheon_types::{AgentId, Answer, SessionId};

use super::session::Session;
use crate::session_name::SessionNameError;

/// Keeps sessions. Every implementation joins the conformance suite of this module.
pub trait SessionStore: Send + Sync {
    /// Keeps the session, whole, in place of what is kept under its id.
    fn save_session<'a>(&'a self, session: &'a Session) -> Answer<'a, Result<(), SessionStoreError>>;

    /// The session `id`.
    fn load_session<'a>(&'a self, id: &'a SessionId) -> Answer<'a, Result<Session, SessionStoreError>>;

    /// All ids, the last active session first; among equals the greater id first. What cannot be loaded is listed, too.
    fn list_session_ids(&self) -> Answer<'_, Result<Vec<SessionId>, SessionStoreError>>;

    /// The sessions of one agent, in the order of the list.
    fn load_sessions_for_agent<'a>(
        &'a self,
        agent_id: &'a AgentId,
    ) -> Answer<'a, Result<AgentSessions, SessionStoreError>>;

    /// Forgets the session `id`. [`SessionStoreError::Missing`] if there is none.
    fn delete_session<'a>(&'a self, id: &'a SessionId) -> Answer<'a, Result<(), SessionStoreError>>;
}

/// The sessions of one agent.
#[derive(Debug, Default)]
pub struct AgentSessions {
    /// Those that could be loaded.
    pub sessions: Vec<Session>,
    /// Those that could not be read: nobody knows whose they are.
    pub broken: Vec<BrokenSession>,
}

/// A session that could not be read.
#[derive(Debug)]
pub struct BrokenSession {
    /// Its id.
    pub session_id: SessionId,
    /// What is wrong.
    pub error: SessionStoreError,
}

/// A session that could not be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum SessionStoreError {
    /// The id may not name a file.
    #[error(transparent)]
    Name(#[from] SessionNameError),
    /// There is no such session.
    #[error("there is no session {id}; the list of sessions has the ids that there are")]
    Missing {
        /// The id.
        id: SessionId,
    },
    /// Somebody else is saving it.
    #[error("session {id} is being saved by {}; try again", holder_text(*.holder))]
    Locked {
        /// The id.
        id: SessionId,
        /// The process, where it said so.
        holder: Option<u32>,
    },
    /// What is kept cannot be read.
    #[error("session {id} cannot be read: {problem}; repair or remove {}", .path.display())]
    Broken {
        /// The id.
        id: SessionId,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// What is kept was written by a later version.
    #[error("session {id} has format {found}, and this version knows {supported}: use a later version")]
    Newer {
        /// The id.
        id: SessionId,
        /// Its format.
        found: u64,
        /// The last format that is known.
        supported: u64,
    },
    /// It is too large.
    #[error("session {id} has more than {bytes_max} bytes; keep fewer events of it, or raise the limit")]
    TooLarge {
        /// The id.
        id: SessionId,
        /// The most a session may have.
        bytes_max: u64,
    },
    /// The disk refuses.
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The work was given up: the program is ending.
    #[error("the work on session files was given up because the program is ending")]
    Cancelled,
}

fn holder_text(holder: Option<u32>) -> String {
    holder.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}
