//! `Note`: one remembered fact or event.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::markdown::FileOrigin;

/// The most notes in a directory.
pub const NOTES_MAX: usize = 1_000;

/// The largest note file.
pub const NOTE_BYTES_MAX: u64 = 16 * 1024;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NoteKind {
    /// A fact.
    #[default]
    Semantic,
    /// An event.
    Episodic,
}

impl NoteKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Semantic => "semantic",
            Self::Episodic => "episodic",
        }
    }
}

/// One remembered fact or event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The name of its file without `.md`.
    pub name: String,
    /// A summary in one line.
    pub description: String,
    pub kind: NoteKind,
    /// The creation time from its file, or empty.
    pub created: String,
    /// Words that searches should find it by.
    pub keywords: Vec<String>,
    pub text: String,
    pub origin: FileOrigin,
}
