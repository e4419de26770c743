//! `Listed`: a session in a list.

use std::path::PathBuf;

use crate::journal::Header;
use crate::session_name::SessionName;

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub name: SessionName,
    /// Where its journal is.
    pub path: PathBuf,
    /// What the journal says of itself; or why it cannot be read.
    pub header: Result<Header, String>,
    /// When it was last written to, in milliseconds since 1970.
    pub modified_ms: u64,
    /// How long the journal is.
    pub bytes: u64,
}

/// The newest session of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Latest {
    /// It, if there is one.
    pub session: Option<Listed>,
    /// Newer ones that cannot be read, and why; the user should be told.
    pub unreadable: Vec<(SessionName, String)>,
}

/// The sessions whose ids begin in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// There is none.
    None,
    /// There is one.
    One(Box<Listed>),
    /// There are several: ask for more of the id.
    Many {
        /// The first of them, the one that was last written to first.
        newest: Vec<Listed>,
        /// How many there are.
        count: usize,
    },
}
