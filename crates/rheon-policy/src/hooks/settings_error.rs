//! `HookSettingsError`: where a file of settings cannot be read, and why.

/// A file of settings whose hooks cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the hooks of {file}: line {line}, column {column}: {problem}")]
pub struct HookSettingsError {
    /// Which file.
    pub file: String,
    /// Where, counted from 1; the place where reading stopped.
    pub line: usize,
    /// Where in the line.
    pub column: usize,
    /// What is wrong, and what to write instead.
    pub problem: String,
}
