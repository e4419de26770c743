//! `SessionName`: a session id that is safe to use in a path.

use std::fmt;

use rheon_types::SessionId;

/// A session id that is safe to use in a path. Only this type turns ids into file names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionName(String);

/// A session id that cannot be used in a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid session id {id:?}: {problem}")]
pub struct SessionNameError {
    /// The start of the rejected id.
    pub id: String,
    pub problem: &'static str,
}

const SESSION_NAME_BYTES_MAX: usize = 128;

/// How much of a rejected id the error quotes.
const QUOTED_CHARS_MAX: usize = 60;

impl SessionName {
    /// Checks `id`: letters, digits, `-`, `_` and `.`, starting with a letter or a digit.
    pub fn new(id: &str) -> Result<Self, SessionNameError> {
        let fault =
            |problem| Err(SessionNameError { id: id.chars().take(QUOTED_CHARS_MAX).collect(), problem });
        if id.is_empty() {
            return fault("it is empty");
        }
        if id.len() > SESSION_NAME_BYTES_MAX {
            return fault("it is longer than 128 bytes");
        }
        if !id.starts_with(|first: char| first.is_ascii_alphanumeric()) {
            return fault("it must start with a letter or a digit");
        }
        if !id.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.')) {
            return fault("only letters, digits, '-', '_' and '.' are allowed");
        }
        if id.ends_with('.') {
            return fault("it must not end with a dot");
        }
        Ok(Self(id.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn session_id(&self) -> SessionId {
        SessionId::from(self.0.as_str())
    }
}

impl TryFrom<&SessionId> for SessionName {
    type Error = SessionNameError;

    fn try_from(id: &SessionId) -> Result<Self, SessionNameError> {
        Self::new(id.as_str())
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
#[path = "session_name_tests.rs"]
mod tests;
