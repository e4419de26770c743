//! `RewindPoint`: a place in a conversation to rewind to.

use rheon_types::{AgentMessage, Author, Message, Timestamp};

use super::error::RewindError;
use super::history::{FilesAt, RewindHistory};
use crate::checkpoint::Checkpoints;
use crate::session_name::SessionName;
use crate::sessions::SessionFiles;

/// Something that the user said, to rewind to before or after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewindPoint {
    /// The event that ended the message.
    pub seq: u64,
    /// The beginning of what was said, on one line.
    pub text: String,
    /// When it was said.
    pub at: Timestamp,
    /// What is kept of the files as they were before it.
    pub files: PointFiles,
}

/// What is kept of the files as they were at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointFiles {
    /// The session changed none of them since.
    Unchanged,
    /// All of them.
    Saved,
    /// They had to make room.
    Pruned,
}

/// How much of a text is shown.
const TEXT_CHARS_MAX: usize = 200;

/// What the user said in the conversation, in order.
pub fn points(
    sessions: &SessionFiles,
    checkpoints: &Checkpoints,
    name: &SessionName,
) -> Result<Vec<RewindPoint>, RewindError> {
    let history = RewindHistory::read(sessions, name)?;
    let listed = checkpoints.list()?;
    let points = history.state.numbered_messages().filter_map(|(seq, message)| {
        let (text, at) = said(message)?;
        let files = match history.kept(history.place(seq)?.before, &listed) {
            FilesAt::Unchanged => PointFiles::Unchanged,
            FilesAt::Saved(_) => PointFiles::Saved,
            FilesAt::Pruned(_) => PointFiles::Pruned,
        };
        Some(RewindPoint { seq, text: shortened(&text), at, files })
    });
    Ok(points.collect())
}

/// What the user said and when, if it was the user.
pub(super) fn said(message: &AgentMessage) -> Option<(String, Timestamp)> {
    match message.as_llm() {
        Some(said @ Message::User(user)) if user.author == Author::User => {
            Some((said.text(), user.timestamp))
        }
        Some(Message::User(_) | Message::Assistant(_) | Message::ToolResult(_)) | None => None,
    }
}

/// The beginning of `text`, on one line.
pub(super) fn shortened(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut short = words.next().unwrap_or_default().to_owned();
    for word in words {
        if short.len() > TEXT_CHARS_MAX * 4 {
            break;
        }
        short.push(' ');
        short.push_str(word);
    }
    match short.char_indices().nth(TEXT_CHARS_MAX) {
        None => short,
        Some(_) => short.chars().take(TEXT_CHARS_MAX - 1).chain(['…']).collect(),
    }
}
