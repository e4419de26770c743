//! `SessionNotice`: a problem with saving a session that continues anyway.

use std::path::PathBuf;

use rheon_types::SessionId;

/// A problem with saving a session that continues anyway.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionNotice {
    /// From here on the session is in memory only.
    #[error("session {session_id} is no longer being saved: {why}")]
    NotKept { session_id: SessionId, why: String },
    /// The end of its journal was damaged.
    #[error("the end of session {session_id} was damaged and cut off; the removed part is in {}", aside.display())]
    Repaired {
        session_id: SessionId,
        /// Where the bytes are that were cut off.
        aside: PathBuf,
    },
    /// Claude Code cannot resume it.
    #[error("the transcript for Claude Code is no longer being written: {why}; the session itself is saved")]
    NoTranscript { why: String },
    /// What Claude Code said in it is part of it now.
    #[error("Claude Code continued this session: {messages} messages were added from {}", path.display())]
    ContinuedElsewhere { path: PathBuf, messages: usize },
    #[error("cannot read what Claude Code added to this session: {why}; the session continues without it")]
    ForeignPartUnread { why: String },
    #[error("changes to files cannot be undone: {why}")]
    NoCheckpoints { why: String },
    /// Lists and searches may be incomplete.
    #[error("cannot update the index of sessions: {why}; the sessions themselves are saved")]
    NoIndex { why: String },
}
