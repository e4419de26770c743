//! `SessionNotice`: what the user should know of a session, though it goes on.

use std::sync::Arc;

use rheon_store::fold::Doubt;
use rheon_tools::hooks::HookMessage;

use crate::config::Finding;
use crate::context::ContextWarning;
use crate::keeping::Notice;

/// Who is told what the user should know.
pub type Tell = Arc<dyn Fn(SessionNotice) + Send + Sync>;

/// What the user should know of a session, though it goes on.
#[derive(Debug, Clone)]
pub enum SessionNotice {
    /// About the configuration.
    Config(Finding),
    /// About what the model is told.
    Context(ContextWarning),
    /// About how the session is kept.
    Keeping(Notice),
    /// About rules.
    Policy(String),
    /// The sandbox is weaker than it could be, or there is none.
    Sandbox(String),
    /// A call was under way when the program ended last, and nobody knows what it did.
    Doubt(Doubt),
    /// What a hook said.
    Hook(HookMessage),
    /// About how the session is observed.
    Observing(String),
}

impl std::fmt::Display for SessionNotice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Config(finding) => write!(f, "{finding}"),
            Self::Context(warning) => write!(f, "{warning}"),
            Self::Keeping(notice) => write!(f, "{notice}"),
            Self::Policy(warning) | Self::Observing(warning) => f.write_str(warning),
            Self::Sandbox(why) => f.write_str(why),
            Self::Doubt(doubt) => write!(
                f,
                "when this session ended last, `{}` was under way; it may or may not have done its work",
                doubt.tool_name
            ),
            Self::Hook(message) => write!(f, "{message}"),
        }
    }
}
