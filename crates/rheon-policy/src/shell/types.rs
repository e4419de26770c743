//! The result of a shell analysis.

/// What a line of bash would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Every simple command in order. Wrappers (`env`, `timeout`, `sudo`, ...) are followed by what they wrap.
    pub commands: Vec<SimpleCommand>,
    /// Every file that the shell itself would open.
    pub redirections: Vec<Redirection>,
    /// Why parts of the line cannot be determined: an expansion, a glob, a function, `eval`. If it is not empty, ask.
    pub unknown: Vec<String>,
}

/// One command with its arguments, as the shell would pass them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The name and the arguments, unquoted. `None` stands for any number of words that cannot be determined. Empty if
    /// the command only sets variables.
    pub words: Vec<Option<String>>,
    /// As written in the line.
    pub text: String,
    /// Environment variables set for this command.
    pub assignments: Vec<(String, Option<String>)>,
    /// The directory it runs in, relative to that of the line (`.`). `None` if it cannot be determined.
    pub folder: Option<String>,
}

/// A file that the shell itself would open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// Unquoted; `None` if it cannot be determined.
    pub target: Option<String>,
    pub writes: bool,
    /// The directory that a relative target starts from, as in [`SimpleCommand::folder`].
    pub folder: Option<String>,
}
