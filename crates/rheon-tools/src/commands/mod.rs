//! Custom slash commands: markdown files that a user calls by name, such as `/review src`, and that become a prompt.
//!
//! The file `<dir>/git/commit.md` is the command `git:commit`. Its text may contain placeholders for arguments,
//! `@path` for the content of a file, and `` !`line` `` for the output of a command. This module only *parses* the text
//! into [`PromptPart`]s; the caller reads the files and runs the commands, through the gate. Reading is lenient: a bad
//! file never stops the others.
//!
//! | in the text | meaning |
//! |---|---|
//! | `$ARGUMENTS` | all arguments as typed |
//! | `$1`, `$2`, ... | one argument, [numbered](Numbering) from one; from zero in a `.claude` directory, as in Claude Code |
//! | `$ARGUMENTS[0]`, ... | one argument, always numbered from zero |
//! | `\$1`, `\@path`, `` \!`line` `` | the literal text, without the backslash |
//!
//! A missing argument is empty. If the text has no placeholder, the arguments are appended. In fenced code only
//! placeholders have a meaning. The text of an argument never becomes a file, a command, or the syntax of one.

mod command;
mod command_set;
mod fill;
mod frontmatter;
mod template;
mod warning;

pub use command::{COMMAND_BYTES_MAX, COMMANDS_MAX, CommandDir, CommandInfo, CustomCommand, Numbering};
pub use command_set::CommandSet;
pub use fill::FillError;
pub use template::{PromptPart, Template};
pub use warning::{CommandError, CommandProblem, CommandWarning};

#[cfg(test)]
mod command_set_tests;
#[cfg(test)]
mod template_tests;
