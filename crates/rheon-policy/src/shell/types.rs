//! The result of a shell analysis.

/// What a line of bash would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Every simple command in order. Wrappers (`env`, `timeout`, `sudo`, ...) are followed by what they wrap.
    pub commands: Vec<SimpleCommand>,
    /// What programs such as `strace` or `flock` may run of their own words. Deny and ask rules apply to them.
    pub possible: Vec<SimpleCommand>,
    /// Every file that the shell itself would open.
    pub redirections: Vec<Redirection>,
    /// Why parts of the line cannot be determined: an expansion, a glob, a function, `eval`. If it is not empty, ask.
    pub unknown: Vec<String>,
    /// The first of these reasons for which the line may run commands that are not listed above. If there is none, all
    /// are listed, and only words of them are unknown.
    pub hidden: Option<String>,
}

/// One command with its arguments, as the shell would pass them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The name and the arguments, unquoted. `None` stands for any number of words that cannot be determined. Empty if
    /// the command only sets variables.
    pub words: Vec<Option<String>>,
    /// As written in the line.
    pub text: String,
    /// Environment variables set for this command.
    pub assignments: Vec<(String, Option<String>)>,
    /// The directories it may run in, relative to that of the line (`.`): more than one if a `cd` before it may have
    /// failed. Empty if they cannot be determined.
    pub dirs: Vec<String>,
    /// The unknown words that are file name patterns.
    pub globs: Vec<GlobWord>,
    /// Whether its last word, which is unknown, stands for what `xargs` reads from its input.
    pub input_words: bool,
    /// Whether its input is the output of the command before it in the list.
    pub piped: bool,
}

/// An unquoted file name pattern among the words of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobWord {
    /// The index of the word.
    pub index: usize,
    /// A backslash stands before each character that is not special.
    pub pattern: String,
}

/// A file that the shell itself would open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// Unquoted; `None` if it cannot be determined.
    pub target: Option<String>,
    pub writes: bool,
    /// The directories that a relative target may start from, as in [`SimpleCommand::dirs`].
    pub dirs: Vec<String>,
}
