//! `Leave`: how a conversation ends and what comes next.

use crate::exit::Exit;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Leave {
    /// Exit the program.
    Exit(Exit),
    /// Start a new session.
    New,
    /// Resume the session with this id or id prefix.
    Resume(String),
    /// Continue in the session that a rewind made of this one.
    Rewind(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DialogEnd {
    Leave(Leave),
    /// Continue with this model, as typed.
    SwitchModel(String),
}
