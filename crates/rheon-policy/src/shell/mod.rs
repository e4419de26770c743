//! Shell analysis: what a line of bash would run, as far as that is known without running it.
//!
//! Rheon's own parser decides. A line with more than words, plain quotes, escapes and operators is also parsed with the
//! tree-sitter grammar, which must find the same commands. Whatever neither can determine is listed in
//! [`Analysis::unknown`]; callers must ask for approval if that list is not empty.

mod braces;
mod builtin;
mod compound;
mod cross_check;
mod danger;
mod directory;
mod emit;
mod git;
mod lexer;
mod needs;
mod options;
mod parser;
mod report;
mod table;
mod text;
mod types;
mod wrapper;

pub use cross_check::mask_non_ascii;
pub use danger::{UNKNOWN_OPTION, danger, highest_danger, only_reads, redirection_danger};
pub use git::{RepositoryUse, changes_repository, repository_use};
pub use needs::{CommandNeeds, HostNeeds, command_needs, is_loopback_host};
pub use types::{Analysis, GlobWord, Redirection, SimpleCommand};

/// Analyzes a line of bash.
pub fn analyze(line: &str) -> Analysis {
    let mut report = report::Report::default();
    let context = parser::Context { dirs: vec![".".into()], depth: 0, dialect: wrapper::Dialect::Bash };
    emit::read(line, context, &mut report);
    if report.evaluates && report.sets_text {
        report.hides("an expression with a variable that could hold a command");
    }
    report.analysis
}

#[cfg(test)]
#[cfg(target_os = "linux")]
pub(crate) mod differential_tests;
#[cfg(test)]
mod shell_tests;
