//! `HostPrompt`: a prompt of a program, which may be a slash command.

use rheon_types::Content;

use crate::session::is_session_command;

/// The session's own commands that a program may send as a prompt. The text of a prompt may come from anywhere, so commands
/// that change rules, files or settings are not among them: programs have control requests and flags for those.
const FOR_PROGRAMS: [&str; 4] = ["compact", "context", "cost", "init"];

/// A prompt of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostPrompt<'a> {
    Text,
    /// A slash command: the whole line.
    Command(&'a str),
    /// A slash command that works in a conversation only: its name.
    ForPeople(&'a str),
}

impl<'a> HostPrompt<'a> {
    /// Reads a prompt. Only one text that begins with a slash and a name is a command; `/tmp/x` and `/* ... */` are text.
    pub fn of(content: &'a [Content]) -> Self {
        let [Content::Text { text }] = content else { return Self::Text };
        let line = text.trim();
        let Some(name) = line.strip_prefix('/').and_then(|rest| rest.split_whitespace().next()) else {
            return Self::Text;
        };
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
        match name {
            _ if !name.chars().all(is_name) => Self::Text,
            _ if is_for_programs(name) => Self::Command(line),
            _ => Self::ForPeople(name),
        }
    }
}

/// Whether a program may send the command `name`: those of projects, users and skills, and some of the session's own.
pub fn is_for_programs(name: &str) -> bool {
    !is_session_command(name) || FOR_PROGRAMS.contains(&name)
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
