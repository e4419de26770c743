//! `RewindPoint`: a position in a conversation to rewind to.

use rheon_types::{AgentMessage, Author, Message, Timestamp};

use super::error::RewindError;
use super::history::{FilesAt, RewindHistory};
use crate::checkpoint::Checkpoints;
use crate::session_name::SessionName;
use crate::sessions::SessionFiles;

/// A user message to rewind to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewindPoint {
    /// The event that ended the message.
    pub seq: u64,
    /// The start of the message, on one line.
    pub text: String,
    pub at: Timestamp,
    pub files: PointFiles,
}

/// The saved state of the files before a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointFiles {
    /// The session has changed no files since.
    Unchanged,
    Saved,
    /// The checkpoint was removed to free space.
    Pruned,
}

const TEXT_CHARS_MAX: usize = 200;

/// Lists the user messages of a conversation in order.
pub fn points(
    sessions: &SessionFiles,
    checkpoints: &Checkpoints,
    name: &SessionName,
) -> Result<Vec<RewindPoint>, RewindError> {
    let history = RewindHistory::read(sessions, name)?;
    let listed = checkpoints.list()?;
    let points = history.state.numbered_messages().filter_map(|(seq, message)| {
        let (text, at) = user_message(message)?;
        let files = match history.files_at(history.cut_points(seq)?.before, &listed) {
            FilesAt::Unchanged => PointFiles::Unchanged,
            FilesAt::Saved(_) => PointFiles::Saved,
            FilesAt::Pruned(_) => PointFiles::Pruned,
        };
        Some(RewindPoint { seq, text: shortened(&text), at, files })
    });
    Ok(points.collect())
}

/// The text and time of a message, if the user wrote it.
pub(super) fn user_message(message: &AgentMessage) -> Option<(String, Timestamp)> {
    match message.as_llm() {
        Some(Message::User(user)) if user.author == Author::User => {
            Some((user.first_text().to_owned(), user.timestamp))
        }
        Some(Message::User(_) | Message::Assistant(_) | Message::ToolResult(_)) | None => None,
    }
}

/// The start of `text`, on one line.
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
