//! `Note`: one thing that is remembered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::markdown::FileOrigin;

/// How many notes a folder may hold.
pub const NOTES_MAX: usize = 1_000;

/// How large the file of a note may be.
pub const NOTE_BYTES_MAX: u64 = 16 * 1024;

/// What a note tells of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NoteKind {
    /// A fact that holds.
    #[default]
    Semantic,
    /// Something that happened.
    Episodic,
}

impl NoteKind {
    /// The word for it in a file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Semantic => "semantic",
            Self::Episodic => "episodic",
        }
    }
}

/// One thing that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is called by: the name of its file without `.md`.
    pub name: String,
    /// What it says, in one line.
    pub description: String,
    /// What it tells of.
    pub kind: NoteKind,
    /// When it was made, as its file says; empty where it does not.
    pub created: String,
    /// Words it is to be found by.
    pub keywords: Vec<String>,
    /// What it says.
    pub text: String,
    /// Whose it is.
    pub origin: FileOrigin,
}
