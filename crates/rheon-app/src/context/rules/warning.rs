//! `RuleWarning`: what was odd about rules, and where.

use std::fmt;
use std::path::PathBuf;

use rheon_tools::{DisplayPath, FileProblem};

use super::imports::{IMPORT_DEPTH_MAX, IMPORTS_MAX};

/// What was odd about rules, and where. The run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleWarning {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1, where one is concerned.
    pub line: Option<usize>,
    /// What was odd.
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

/// What was odd about rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    /// The file was not read.
    #[error("not used: {0}")]
    File(FileProblem),
    /// There was not enough room for all of the file.
    #[error(
        "only the beginning is used, as all rules together may have {bytes_max} bytes; make them shorter"
    )]
    Cut {
        /// How much there may be.
        bytes_max: usize,
    },
    /// There was no room for any of the file.
    #[error(
        "not used, as rules nearer to the working folder have the {bytes_max} bytes that are allowed; make them \
         shorter"
    )]
    NoRoom {
        /// How much there may be.
        bytes_max: usize,
    },
    /// There are too many folders between the root and the working folder.
    #[error("the folders above have not been looked at, as there are more than {folders_max}")]
    TooDeep {
        /// How many are looked at.
        folders_max: usize,
    },
    /// A file that was named is not there.
    #[error("@{0} is not imported: there is no such file")]
    ImportMissing(String),
    /// A file that was named is neither in the project nor, for the user's rules, in the user's folder.
    #[error("@{0} is not imported: it lies outside {1}")]
    ImportOutside(String, &'static str),
    /// What was named holds secrets or the repository's own files.
    #[error("@{0} is not imported: such files are not for models")]
    ImportPrivate(String),
    /// A file names itself, by way of others or not.
    #[error("@{0} is not imported: it is a file that led here")]
    ImportCycle(String),
    /// Files name files that name files.
    #[error("@{0} is not imported: imports go {IMPORT_DEPTH_MAX} files deep")]
    ImportTooDeep(String),
    /// Too many files are named.
    #[error("@{0} is not imported: there are {IMPORTS_MAX} imports already")]
    ImportsTooMany(String),
    /// There was no room for a file that was named.
    #[error("@{target} is not imported whole, as all rules together may have {bytes_max} bytes")]
    ImportCut {
        /// What was named.
        target: String,
        /// How much there may be.
        bytes_max: usize,
    },
    /// A file that was named was not read.
    #[error("@{target} is not imported: {problem}")]
    Import {
        /// What was named.
        target: String,
        /// Why.
        problem: FileProblem,
    },
}
