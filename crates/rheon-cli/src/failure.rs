//! `Failure`: why a command failed, with its exit code.

use std::fmt;

use crate::exit::Exit;

#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    exit: Exit,
}

impl Failure {
    pub(crate) fn error(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), exit: Exit::Error }
    }

    /// Invalid arguments or configuration.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), exit: Exit::Usage }
    }

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
