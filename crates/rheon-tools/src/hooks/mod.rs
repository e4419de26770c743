//! Command hooks: programs that run at fixed points of a session and speak Claude Code's JSON protocol.
//!
//! [`CommandHooks`] runs the [`HookSettings`]: all matching commands at once, each in its own process group, and the
//! strictest decision wins. A project's hooks come only from [`rheon_policy::trust`].

mod agent_hook;
mod callback;
mod command_hooks;
mod context;
mod dispatch;
mod interpret;
mod message;
mod reply;
mod run;
mod sandboxed;
mod translate;

pub use agent_hook::permission_suggestions;
pub use callback::HookCallbacks;
pub use command_hooks::{CommandHooks, CompactTrigger, SessionEndReason};
pub use context::{HookContext, HookEnvironment, HookFacts, SessionStartSource};
pub use message::{HookMessage, HookMessageKind};
pub use reply::{HookDecision, HookReply};
pub use rheon_policy::hooks::{
    CommandHook, HookEvent, HookExecution, HookFailurePolicy, HookGroup, HookSettings, HookSettingsError,
    Matcher, MatcherError, UNSUPPORTED_EVENTS, settings_files,
};
pub(crate) use translate::from_claude_fields;
pub use translate::{ClaudeCall, command_output, from_claude_input, to_claude_call};

#[cfg(test)]
mod callback_tests;
#[cfg(test)]
#[cfg(unix)]
mod events_tests;
#[cfg(test)]
#[cfg(unix)]
mod exit_tests;
#[cfg(test)]
#[cfg(unix)]
pub(crate) mod fixtures;
#[cfg(test)]
#[cfg(unix)]
mod hostile_project_tests;
#[cfg(test)]
#[cfg(unix)]
mod hostile_repositories_tests;
#[cfg(test)]
#[cfg(unix)]
mod hostile_tests;
#[cfg(test)]
#[cfg(unix)]
mod processes_tests;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod sandboxed_tests;
#[cfg(test)]
#[cfg(unix)]
mod scripted_tests;
#[cfg(test)]
mod translate_tests;
