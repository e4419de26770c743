//! `Again`: which conversation comes after this one.

use crate::exit::Exit;

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
