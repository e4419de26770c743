//! `EnvironmentFacts`: the machine, the working directory, the date and the repository, as the model reads them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use rheon_fleet::git::GitState;
use rheon_tools::DisplayPath;
use rheon_types::Timestamp;
/// The environment as the model reads it. Everything is a value, so that the same facts give the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentFacts {
    /// The operating system and the processor: `linux (x86_64)`.
    pub system: String,
    /// The user's shell, where it is known.
    pub shell: Option<String>,
    /// The directory that the agent works in.
    pub working_dir: PathBuf,
    /// The day in UTC. Not the time: that would be another prompt with every request.
    pub day: Option<String>,
    pub git: GitState,
}

impl EnvironmentFacts {
    /// The facts of this machine at this moment.
    pub fn new(working_dir: &Path, shell: Option<&Path>, now: Timestamp, git: GitState) -> Self {
        let shell = shell.and_then(Path::file_name).map(|name| DisplayPath(name).to_string());
        Self {
            system: format!("{} ({})", std::env::consts::OS, std::env::consts::ARCH),
            shell,
            working_dir: working_dir.to_owned(),
            day: day(now),
            git,
        }
    }

    /// What the model reads.
    pub fn text(&self) -> String {
        let mut text = "# Environment\n".to_owned();
        let mut line = |name: &str, value: &dyn std::fmt::Display| {
            // Writing to a string cannot fail.
            writeln!(text, "- {name}: {value}").ok();
        };
        line("System", &self.system);
        if let Some(shell) = &self.shell {
            line("Shell of the user", shell);
        }
        line("Working directory", &DisplayPath(self.working_dir.as_os_str()));
        if let Some(day) = &self.day {
            line("Date", &format_args!("{day} (UTC)"));
        }
        line("Git", &self.git);
        text.trim_end().to_owned()
    }
}

/// The day of a moment; none beyond the calendar.
fn day(moment: Timestamp) -> Option<String> {
    let text = moment.to_string();
    text.split_once('T').map(|(day, _)| day.to_owned())
}

#[cfg(test)]
#[path = "facts_tests.rs"]
mod tests;
