//! `Notice`: what the user should know of how a session is kept, though it goes on.

use std::path::PathBuf;

use rheon_types::SessionId;

/// What the user should know of how a session is kept, though it goes on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Notice {
    /// From here on the session is in memory only.
    #[error("session {session_id} is not kept from here on: {why}")]
    NotKept {
        /// The session.
        session_id: SessionId,
        /// Why.
        why: String,
    },
    /// The end of its journal was damaged.
    #[error("the end of session {session_id} was damaged and was cut off; it is in {}", aside.display())]
    Repaired {
        /// The session.
        session_id: SessionId,
        /// Where the bytes are that were cut off.
        aside: PathBuf,
    },
    /// Claude Code cannot go on with it.
    #[error("no transcript for Claude Code is written any more: {why}; the session itself is kept")]
    NoTranscript {
        /// Why.
        why: String,
    },
    /// Claude Code has gone on with it.
    #[error(
        "Claude Code has gone on with this session: {messages} messages in {} are not part of it here; import the \
         transcript to go on from there",
        path.display()
    )]
    WentOnElsewhere {
        /// The transcript.
        path: PathBuf,
        /// How many.
        messages: usize,
    },
    /// Files cannot be brought back.
    #[error("changes to files cannot be undone: {why}")]
    NoCheckpoints {
        /// Why.
        why: String,
    },
    /// Lists and searches may be incomplete.
    #[error("the index of sessions could not be brought up to date: {why}; the sessions themselves are kept")]
    NoIndex {
        /// Why.
        why: String,
    },
}
