//! `Folders`: where things are.

use std::path::PathBuf;

use super::environment::Environment;

/// The name of our folder in those of the user.
const OUR_NAME: &str = "rheon";

/// Where things are. Each place is known or says what is missing, so that a program that keeps nothing needs no home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    data: Result<PathBuf, FolderError>,
    state: Result<PathBuf, FolderError>,
    config: Result<PathBuf, FolderError>,
    cache: Result<PathBuf, FolderError>,
    claude: Result<PathBuf, FolderError>,
}

/// Why it is not known where something is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FolderError {
    /// Nothing names it.
    #[error(
        "it is not known where {what} belongs: neither {variable} nor HOME is set to an absolute path; set one of them"
    )]
    NoHome {
        /// What is looked for.
        what: &'static str,
        /// The variable that would name it.
        variable: &'static str,
    },
    /// What names it leads to different places from different folders.
    #[error("{variable} is {value:?}, which is no absolute path; set it to one, or unset it")]
    Relative {
        /// The variable.
        variable: &'static str,
        /// What it says.
        value: String,
    },
}

impl Folders {
    /// The places that `environment` names: those of the XDG specification, where a relative path counts as not set,
    /// `RHEON_CONFIG_DIR` for settings, and `CLAUDE_CONFIG_DIR` for what we share with Claude Code.
    pub fn of(environment: &Environment) -> Self {
        let ours = |what, variable, beneath_home: &str| match environment.absolute(variable) {
            Some(base) => Ok(base.join(OUR_NAME)),
            None => Ok(home(environment, what, variable)?.join(beneath_home).join(OUR_NAME)),
        };
        let config = match named(environment, "RHEON_CONFIG_DIR") {
            Some(named) => named,
            None => ours("what is configured", "XDG_CONFIG_HOME", ".config"),
        };
        let claude = match named(environment, "CLAUDE_CONFIG_DIR") {
            Some(named) => named,
            None => home(environment, "a transcript", "CLAUDE_CONFIG_DIR").map(|home| home.join(".claude")),
        };
        Self {
            data: ours("a session", "XDG_DATA_HOME", ".local/share"),
            state: ours("what outlives a run", "XDG_STATE_HOME", ".local/state"),
            cache: ours("what can be made again", "XDG_CACHE_HOME", ".cache"),
            config,
            claude,
        }
    }

    /// What must not be lost: sessions, their payloads, checkpoints.
    pub fn data(&self) -> Result<PathBuf, FolderError> {
        self.data.clone()
    }

    /// What outlives a run, but is of this machine only: the index, logs.
    pub fn state(&self) -> Result<PathBuf, FolderError> {
        self.state.clone()
    }

    /// What the user configures.
    pub fn config(&self) -> Result<PathBuf, FolderError> {
        self.config.clone()
    }

    /// What may be deleted at any time.
    pub fn cache(&self) -> Result<PathBuf, FolderError> {
        self.cache.clone()
    }

    /// The folder with a folder of Claude Code's transcripts for each project.
    pub fn claude_projects(&self) -> Result<PathBuf, FolderError> {
        Ok(self.claude.clone()?.join("projects"))
    }
}

/// The folder that a variable names which is not of the XDG specification: what it says is meant.
fn named(environment: &Environment, variable: &'static str) -> Option<Result<PathBuf, FolderError>> {
    let value = environment.get(variable)?;
    Some(
        environment
            .absolute(variable)
            .ok_or_else(|| FolderError::Relative { variable, value: value.to_string_lossy().into_owned() }),
    )
}

fn home(
    environment: &Environment,
    what: &'static str,
    variable: &'static str,
) -> Result<PathBuf, FolderError> {
    environment.absolute("HOME").ok_or(FolderError::NoHome { what, variable })
}
