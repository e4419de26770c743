//! `Again`: which conversation comes after this one.

use crate::exit::Exit;

/// What another conversation is opened with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Again {
    /// The session whose id is this or begins with it; a new one if absent.
    pub(crate) session: Option<String>,
    /// The model as it was typed; the one that is configured if absent.
    pub(crate) model: Option<String>,
}

/// How a conversation was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Left {
    /// For good.
    End(Exit),
    /// For a new session.
    ForNew,
    /// For the session whose id is this or begins with it.
    ForSession(String),
}

/// What a conversation stops for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stopped {
    /// It is left.
    Left(Left),
    /// It goes on with another model, as it was typed.
    ForModel(String),
}
