//! `HookContext`: the session data that hooks receive, and their environment.

use std::path::PathBuf;
use std::sync::Arc;

use rheon_types::event::PermissionMode;
use rheon_types::{Clock, SessionId, ThinkingLevel};

use rheon_policy::hooks::PROJECT_VARIABLES;

/// The session data that hooks receive, and their environment.
#[derive(Clone)]
pub struct HookContext {
    pub session_id: SessionId,
    /// The path of the transcript that Claude Code could resume, or else of the session log.
    pub transcript_path: Option<PathBuf>,
    /// The working directory of hooks.
    pub cwd: PathBuf,
    /// The project directory.
    pub project: PathBuf,
    /// The home directory, for rules such as `Read(~/.ssh/**)`.
    pub home: Option<PathBuf>,
    pub source: SessionStartSource,
    /// What may change during the session, read for each event.
    pub facts: Arc<dyn Fn() -> HookFacts + Send + Sync>,
    /// The environment variables of hooks.
    pub environment: HookEnvironment,
    pub clock: Arc<dyn Clock>,
}

/// What may change during a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookFacts {
    pub permission_mode: PermissionMode,
    /// The model that answers.
    pub model: Option<String>,
    /// How much it thinks.
    pub thinking: ThinkingLevel,
}

impl HookFacts {
    /// The level in Claude Code's words, unless the model does not think.
    pub(crate) fn effort(&self) -> Option<&'static str> {
        match self.thinking {
            ThinkingLevel::Off => None,
            ThinkingLevel::Minimal | ThinkingLevel::Low => Some("low"),
            ThinkingLevel::Medium => Some("medium"),
            ThinkingLevel::High => Some("high"),
            ThinkingLevel::Max => Some("max"),
        }
    }
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

/// The environment variables passed on to hooks of projects, and to all in the sandbox. API keys and tokens are not among them.
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

/// The environment variables of hooks: of the user's own all, as in Claude Code; of the others those that are safe to pass on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookEnvironment {
    variables: Vec<(String, String)>,
}

/// Whose hook runs, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookOwner {
    /// The user's, outside the sandbox.
    User,
    /// A project's, or one in the sandbox, where the model may have changed what it runs.
    Project,
}

impl HookEnvironment {
    /// The variables of the user.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { variables: variables.into_iter().collect() }
    }

    /// Adds or replaces a variable.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.variables.retain(|(existing, _)| *existing != name);
        self.variables.push((name, value.into()));
        self
    }

    /// The variables of a hook, with the project directory under Rheon's name and under Claude Code's.
    pub(crate) fn of_hook(&self, owner: HookOwner, project: &str) -> Vec<(String, String)> {
        let is_safe = |name: &str| PASSED_VARIABLES.contains(&name) || name.starts_with("LC_");
        let variables = self.variables.iter().filter(|(name, _)| match owner {
            HookOwner::User => true,
            HookOwner::Project => is_safe(name),
        });
        let environment = Self::new(variables.cloned());
        let environment =
            PROJECT_VARIABLES.iter().fold(environment, |environment, name| environment.with(*name, project));
        environment.variables
    }
}
