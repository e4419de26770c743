//! What is known about a line of bash.

/// What a line of bash would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Every simple command, in order, wrappers (`env`, `timeout`, `sudo`, ...) included and what they wrap after them.
    pub commands: Vec<SimpleCommand>,
    /// Every file that the shell itself would open.
    pub redirections: Vec<Redirection>,
    /// Why parts of the line cannot be known: an expansion, a pattern, a function, `eval`. Not empty means: ask.
    pub unknown: Vec<String>,
}

/// One command with its arguments, as the shell would hand them over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The name and the arguments, quotes taken off; absent where a word cannot be known. An absent word stands for any
    /// number of words. Empty where variables are set and nothing is run.
    pub words: Vec<Option<String>>,
    /// The text as it stands in the line.
    pub text: String,
    /// Variables that are set for it.
    pub assignments: Vec<(String, Option<String>)>,
    /// The folder it would run in, relative to that of the line (`.`); absent where it cannot be known.
    pub folder: Option<String>,
}

/// A file that the shell itself would open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// Its name, quotes taken off; absent where it cannot be known.
    pub target: Option<String>,
    /// Whether it is written to.
    pub writes: bool,
    /// The folder from which a relative name counts, as in [`SimpleCommand::folder`].
    pub folder: Option<String>,
}
