//! `HookSettingsError`: a settings file whose hooks cannot be parsed.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the hooks of {file}: line {line}, column {column}: {problem}")]
pub struct HookSettingsError {
    pub file: String,
    /// Counted from 1; where parsing stopped.
    pub line: usize,
    pub column: usize,
    /// The problem and how to fix it.
    pub problem: String,
}
