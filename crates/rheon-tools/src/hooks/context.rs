//! `HookContext`: what hooks are told about the session, and the environment they run in.

use std::path::PathBuf;
use std::sync::Arc;

use rheon_types::event::PermissionMode;
use rheon_types::{Clock, SessionId};

use rheon_policy::hooks::PROJECT_VARIABLES;

/// What hooks are told about the session, and what they run in.
#[derive(Clone)]
pub struct HookContext {
    /// The session.
    pub session_id: SessionId,
    /// Where its log is.
    pub transcript_path: Option<PathBuf>,
    /// Where hooks run.
    pub cwd: PathBuf,
    /// The folder of the project.
    pub project: PathBuf,
    /// The user's home, for rules such as `Read(~/.ssh/**)`.
    pub home: Option<PathBuf>,
    /// How the session began.
    pub source: SessionStartSource,
    /// The mode that the session is in now.
    pub permission_mode: Arc<dyn Fn() -> PermissionMode + Send + Sync>,
    /// The variables that hooks see.
    pub environment: HookEnvironment,
    /// Measures how long tools take.
    pub clock: Arc<dyn Clock>,
}

/// How a session began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionStartSource {
    /// Anew.
    #[default]
    Startup,
    /// From one that had ended.
    Resume,
    /// From an emptied conversation.
    Clear,
    /// From a shortened conversation.
    Compact,
    /// From the conversation of another.
    Fork,
}

impl SessionStartSource {
    /// As the protocol has it.
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

/// The variables that hooks may see of the user's own. Keys and tokens are not among them.
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

/// The variables that hooks see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookEnvironment {
    variables: Vec<(String, String)>,
}

impl HookEnvironment {
    /// Those of `variables` that are safe to hand on: the paths, the language, the terminal; no keys.
    pub fn filtered(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let is_safe = |name: &str| PASSED_VARIABLES.contains(&name) || name.starts_with("LC_");
        Self { variables: variables.into_iter().filter(|(name, _)| is_safe(name)).collect() }
    }

    /// The same with one more.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.variables.retain(|(existing, _)| *existing != name);
        self.variables.push((name, value.into()));
        self
    }

    /// All of them, with the project's folder under our name and under that of Claude Code.
    pub(crate) fn for_project(&self, project: &str) -> Vec<(String, String)> {
        let environment =
            PROJECT_VARIABLES.iter().fold(self.clone(), |environment, name| environment.with(*name, project));
        environment.variables
    }
}
