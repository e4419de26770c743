//! `Failure`: why a command did not do what it was asked to, with the exit code that says so.

use std::fmt;

use crate::exit::Exit;

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    exit: Exit,
}

impl Failure {
    /// Something went wrong.
    pub(crate) fn error(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), exit: Exit::Error }
    }

    /// What was typed or configured cannot be used.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), exit: Exit::Usage }
    }

    /// How the program ends.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::error(error)
    }
}
