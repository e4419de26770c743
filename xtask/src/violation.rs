//! `Violation`: one place that breaks a rule, with what to do about it.

use std::fmt;

/// One place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The file, from the root of the repository.
    pub path: String,
    /// The line in it, from 1.
    pub line: usize,
    /// What the violation is about inside the file (a function, a dependency), for exceptions narrower than a file.
    pub item: Option<String>,
    /// What is wrong, and what to do.
    pub message: String,
}

impl Violation {
    /// A violation that concerns the file as a whole.
    pub fn new(path: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.into(), line, item: None, message: message.into() }
    }

    /// The same violation, narrowed to one item of the file.
    #[must_use]
    pub fn about(mut self, item: impl Into<String>) -> Self {
        self.item = Some(item.into());
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.message)
    }
}
