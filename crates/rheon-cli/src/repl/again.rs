//! `Again`: which conversation comes after this one.

use rheon_types::SessionId;

use crate::exit::Exit;

/// Which conversation comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Again {
    /// A new one.
    New,
    /// The session whose id is this or begins with it.
    Session(String),
    /// This session with another model.
    Model {
        /// The session.
        session: SessionId,
        /// The model, as it was typed.
        model: String,
    },
}

/// How a conversation was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Left {
    /// For good.
    End(Exit),
    /// For another.
    For(Again),
}
