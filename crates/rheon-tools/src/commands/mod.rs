//! Slash commands: markdown files that a user calls by name, `/review src`, and that become a prompt.
//!
//! A file `<folder>/git/commit.md` is the command `git:commit`. Its text may hold places for arguments, `@path` for the content
//! of a file and `` !`line` `` for the output of a command. All of it is only *parsed* here, into [`PromptPart`]s: whoever calls reads the
//! files and runs the commands, through the gate. Reading is lenient: one bad file never stops the others.
//!
//! | in the text | is |
//! |---|---|
//! | `$ARGUMENTS` | all arguments, as they were typed |
//! | `$1`, `$2`, ... | one argument, [counted](Numbering) from one; in a `.claude` folder from zero, as Claude Code counts |
//! | `$ARGUMENTS[0]`, ... | one argument, counted from zero everywhere |
//! | `\$1`, `\@path`, `` \!`line` `` | the same text without the backslash, and without its meaning |
//!
//! An argument that was not given is empty. Arguments for which the text has no place come after it. In fenced code only the places for
//! arguments mean something. A text of an argument never becomes a file, a command, or the syntax of one.

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
