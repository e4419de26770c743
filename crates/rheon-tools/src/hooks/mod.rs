//! Hooks that are programs: commands of the user, asked and told at fixed points in Claude Code's JSON protocol.
//!
//! [`HookSettings`] is what files say, [`CommandHooks`] runs it: every matching command at once, each in a process group of
//! its own, and the strictest word counts. The hooks of a project come from [`rheon_policy::trust`] and from nowhere else.

mod answer;
mod callback;
mod command_hooks;
mod context;
mod dispatch;
mod message;
mod reply;
mod run;
mod seam;
mod translate;

pub use callback::HookCallbacks;
pub use command_hooks::{CommandHooks, CompactTrigger, SessionEndReason};
pub use context::{HookContext, HookEnvironment, SessionSource};
pub use message::{HookMessage, MessageKind};
pub use reply::{HookDecision, HookReply};
pub use rheon_policy::hooks::{
    CommandHook, HookEvent, HookExecution, HookFailurePolicy, HookGroup, HookSettings, HookSettingsError,
    Matcher, MatcherError, UNSUPPORTED_EVENTS, settings_files,
};
pub use seam::suggestions;
pub use translate::{Foreign, from_hooks, to_hooks};

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
#[cfg(unix)]
mod scripted_tests;
#[cfg(test)]
mod translate_tests;
