//! `HookContext`: the session data that hooks receive, and their environment.

use std::path::PathBuf;
use std::sync::Arc;

use rheon_types::event::PermissionMode;
use rheon_types::{Clock, SessionId};

use rheon_policy::hooks::PROJECT_VARIABLES;

/// The session data that hooks receive, and their environment.
#[derive(Clone)]
pub struct HookContext {
    pub session_id: SessionId,
    /// The path of the session log.
    pub transcript_path: Option<PathBuf>,
    /// The working directory of hooks.
    pub cwd: PathBuf,
    /// The project directory.
    pub project: PathBuf,
    /// The home directory, for rules such as `Read(~/.ssh/**)`.
    pub home: Option<PathBuf>,
    pub source: SessionStartSource,
    /// The current permission mode.
    pub permission_mode: Arc<dyn Fn() -> PermissionMode + Send + Sync>,
    /// The environment variables of hooks.
    pub environment: HookEnvironment,
    pub clock: Arc<dyn Clock>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionStartSource {
    #[default]
    Startup,
    Resume,
    Clear,
    Compact,
    Fork,
}

impl SessionStartSource {
    /// The name in the hook protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Resume => "resume",
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Fork => "fork",
        }
    }
}

/// The environment variables passed on to hooks. API keys and tokens are not among them.
const PASSED_VARIABLES: [&str; 24] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TMPDIR",
    "TEMP",
    "TMP",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "SYSTEMROOT",
    "USERPROFILE",
    "COMSPEC",
];

/// The environment variables of hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookEnvironment {
    variables: Vec<(String, String)>,
}

impl HookEnvironment {
    /// Keeps the variables that are safe to pass on: paths, language, terminal; no keys.
    pub fn filtered(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let is_safe = |name: &str| PASSED_VARIABLES.contains(&name) || name.starts_with("LC_");
        Self { variables: variables.into_iter().filter(|(name, _)| is_safe(name)).collect() }
    }

    /// Adds or replaces a variable.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.variables.retain(|(existing, _)| *existing != name);
        self.variables.push((name, value.into()));
        self
    }

    /// All variables, with the project directory under Rheon's name and under Claude Code's.
    pub(crate) fn for_project(&self, project: &str) -> Vec<(String, String)> {
        let environment =
            PROJECT_VARIABLES.iter().fold(self.clone(), |environment, name| environment.with(*name, project));
        environment.variables
    }
}
