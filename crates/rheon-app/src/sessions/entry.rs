//! `SessionEntry`: a session in a list.

use std::path::PathBuf;

use rheon_store::claude::TranscriptListing;
use rheon_store::sessions::SessionListing;
use rheon_store::sqlite::{SessionRow, SessionStatus, Spend};
use rheon_types::{SessionId, Timestamp};

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEntry {
    /// Its id, which it is resumed by.
    pub session_id: SessionId,
    pub maker: SessionCreator,
    /// Its own title, or else its first prompt; empty if neither is known.
    pub title: String,
    /// The first prompt, shortened; empty if it is not known.
    pub first_prompt: String,
    /// When something last happened in it.
    pub active: Timestamp,
    /// Its working directory, if known.
    pub project: Option<String>,
    pub path: PathBuf,
    /// Its details in the index, if it is indexed.
    pub details: Option<SessionDetails>,
}

/// Who made a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionCreator {
    Rheon,
    /// Claude Code; resuming it creates a session of Rheon with the same conversation.
    ClaudeCode,
}

/// The index entry of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDetails {
    /// How it stands.
    pub status: SessionStatus,
    /// How many turns were begun.
    pub turns: u64,
    pub spend: Spend,
    pub models: Vec<String>,
    pub parent: Option<SessionId>,
}

impl From<SessionRow> for SessionEntry {
    fn from(row: SessionRow) -> Self {
        let SessionRow { source, title, first_prompt, status, active, models, turns, spend, .. } = row;
        let parent = source.parent.map(|parent| parent.session_id);
        Self {
            session_id: source.session_id,
            maker: SessionCreator::Rheon,
            title,
            first_prompt,
            active,
            project: Some(source.project).filter(|project| !project.is_empty()),
            path: source.path,
            details: Some(SessionDetails { status, turns, spend, models, parent }),
        }
    }
}

impl From<SessionListing> for SessionEntry {
    fn from(listed: SessionListing) -> Self {
        let header = listed.header.ok();
        let parent = header.as_ref().and_then(|header| header.parent.as_ref());
        Self {
            session_id: listed.name.session_id(),
            maker: SessionCreator::Rheon,
            title: parent.map_or_else(String::new, |parent| format!("continues {}", parent.session_id)),
            first_prompt: String::new(),
            active: Timestamp::from_millis(listed.modified_ms),
            project: header.and_then(|header| header.project),
            path: listed.path,
            details: None,
        }
    }
}

impl From<TranscriptListing> for SessionEntry {
    fn from(listed: TranscriptListing) -> Self {
        Self {
            session_id: listed.id.session_id(),
            maker: SessionCreator::ClaudeCode,
            title: listed.facts.title.unwrap_or_default(),
            first_prompt: listed.facts.first_prompt.unwrap_or_default(),
            active: listed.modified,
            project: listed.facts.cwd,
            path: listed.path,
            details: None,
        }
    }
}
