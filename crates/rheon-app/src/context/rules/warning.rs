//! `RuleWarning`: a problem in a file of rules, and its location.

use std::fmt;
use std::path::PathBuf;

use rheon_tools::{DisplayPath, FileProblem};

use super::imports::{IMPORT_DEPTH_MAX, IMPORTS_MAX};

/// A problem in a file of rules, and its location. The run continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleWarning {
    pub path: PathBuf,
    /// The line, from 1, where one is concerned.
    pub line: Option<usize>,
    pub problem: RuleProblem,
}

impl fmt::Display for RuleWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rules in {}", DisplayPath(self.path.as_os_str()))?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

/// A problem with rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    #[error("not used: {0}")]
    File(FileProblem),
    /// There was not enough room for all of the file.
    #[error(
        "only the beginning is used: all rules together are limited to {bytes_max} bytes; make them shorter"
    )]
    Cut { bytes_max: usize },
    /// There was no room for any of the file.
    #[error(
        "not used: rules nearer to the working directory fill the {bytes_max} bytes allowed; make them \
         shorter"
    )]
    NoRoom { bytes_max: usize },
    /// There are too many directories between the root and the working directory.
    #[error("directories further up are not searched: the limit is {dirs_max}")]
    TooDeep { dirs_max: usize },
    /// A file that was named is not there.
    #[error("@{0} is not imported: no such file")]
    ImportMissing(String),
    /// A file that was named is neither in the project nor, for the user's rules, in the user's directory.
    #[error("@{0} is not imported: it is outside {1}")]
    ImportOutside(String, &'static str),
    /// The named file holds secrets or belongs to the repository's internals.
    #[error("@{0} is not imported: the file is private")]
    ImportPrivate(String),
    /// A file names itself, by way of others or not.
    #[error("@{0} is not imported: import cycle")]
    ImportCycle(String),
    #[error("@{0} is not imported: imports go {IMPORT_DEPTH_MAX} files deep")]
    ImportTooDeep(String),
    #[error("@{0} is not imported: there are {IMPORTS_MAX} imports already")]
    ImportsTooMany(String),
    /// There was no room for a file that was named.
    #[error("@{target} is not imported completely: all rules together are limited to {bytes_max} bytes")]
    ImportCut { target: String, bytes_max: usize },
    /// A file that was named was not read.
    #[error("@{target} is not imported: {problem}")]
    Import { target: String, problem: FileProblem },
}
