//! `UserDirs`: the user's directories for sessions, state, settings and caches.

use std::path::PathBuf;

use super::env_vars::EnvVars;

/// The name of Rheon's directory in each of them.
const OUR_NAME: &str = "rheon";

/// The user's directories. Each one is known or an error, so that a run that saves nothing needs no home directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserDirs {
    data: Result<PathBuf, UserDirsError>,
    state: Result<PathBuf, UserDirsError>,
    config: Result<PathBuf, UserDirsError>,
    cache: Result<PathBuf, UserDirsError>,
    claude: Result<PathBuf, UserDirsError>,
}

/// Why a directory is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserDirsError {
    /// Neither its environment variable nor `HOME` is set.
    #[error("cannot find the {what} directory: set {variable} or HOME to an absolute path")]
    NoHome {
        what: &'static str,
        /// Its environment variable.
        variable: &'static str,
    },
    /// The path is relative, so it would depend on the working directory.
    #[error("{variable} is {value:?}, not an absolute path; set it to one or unset it")]
    Relative { variable: &'static str, value: String },
}

impl UserDirs {
    /// The directories of the XDG specification (a relative path counts as not set), `RHEON_CONFIG_DIR` for settings, and
    /// `CLAUDE_CONFIG_DIR` for files shared with Claude Code.
    pub fn of(environment: &EnvVars) -> Self {
        let ours = |what, variable, beneath_home: &str| match environment.absolute(variable) {
            Some(base) => Ok(base.join(OUR_NAME)),
            None => Ok(home(environment, what, variable)?.join(beneath_home).join(OUR_NAME)),
        };
        let config = match named(environment, "RHEON_CONFIG_DIR") {
            Some(named) => named,
            None => ours("config", "XDG_CONFIG_HOME", ".config"),
        };
        let claude = match named(environment, "CLAUDE_CONFIG_DIR") {
            Some(named) => named,
            None => home(environment, "Claude Code", "CLAUDE_CONFIG_DIR").map(|home| home.join(".claude")),
        };
        Self {
            data: ours("data", "XDG_DATA_HOME", ".local/share"),
            state: ours("state", "XDG_STATE_HOME", ".local/state"),
            cache: ours("cache", "XDG_CACHE_HOME", ".cache"),
            config,
            claude,
        }
    }

    /// Sessions, their payloads and checkpoints.
    pub fn data(&self) -> Result<PathBuf, UserDirsError> {
        self.data.clone()
    }

    /// Data of this machine only: the index, logs.
    pub fn state(&self) -> Result<PathBuf, UserDirsError> {
        self.state.clone()
    }

    /// The user's settings.
    pub fn config(&self) -> Result<PathBuf, UserDirsError> {
        self.config.clone()
    }

    /// Files that may be deleted at any time.
    pub fn cache(&self) -> Result<PathBuf, UserDirsError> {
        self.cache.clone()
    }

    /// Whether Claude Code is used on this machine: it has a directory.
    pub fn has_claude_code(&self) -> bool {
        self.claude.as_ref().is_ok_and(|dir| dir.exists())
    }

    /// The directory with one directory of Claude Code transcripts per project.
    pub fn claude_projects(&self) -> Result<PathBuf, UserDirsError> {
        Ok(self.claude.clone()?.join("projects"))
    }
}

/// The directory that an environment variable names. Unlike the XDG variables, a relative path is an error.
fn named(environment: &EnvVars, variable: &'static str) -> Option<Result<PathBuf, UserDirsError>> {
    let value = environment.get(variable)?;
    Some(
        environment
            .absolute(variable)
            .ok_or_else(|| UserDirsError::Relative { variable, value: value.to_string_lossy().into_owned() }),
    )
}

fn home(environment: &EnvVars, what: &'static str, variable: &'static str) -> Result<PathBuf, UserDirsError> {
    environment.absolute("HOME").ok_or(UserDirsError::NoHome { what, variable })
}
