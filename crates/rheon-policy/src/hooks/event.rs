//! `HookEvent`: the points at which hooks run.

use std::fmt;
use std::time::Duration;

/// The points at which hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookEvent {
    SessionStart,
    SessionEnd,
    UserPromptSubmit,
    PreToolUse,
    PermissionRequest,
    PermissionDenied,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PostCompact,
    SubagentStart,
    SubagentStop,
    /// The model has finished.
    Stop,
    /// The service failed, which ended the run.
    StopFailure,
    Notification,
}

/// Claude Code events that Rheon does not fire. Their hooks are accepted and never run.
pub const UNSUPPORTED_EVENTS: [&str; 16] = [
    "Setup",
    "UserPromptExpansion",
    "PostToolBatch",
    "MessageDisplay",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
    "InstructionsLoaded",
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "FileChanged",
    "WorktreeCreate",
    "WorktreeRemove",
    "Elicitation",
    "ElicitationResult",
];

/// What exit code 2 of a hook does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitTwoEffect {
    /// Prevents the action. The model or the user sees the reason.
    Block,
    /// The action has already happened. The model sees the message.
    ShowModel,
    /// Nothing can be prevented. The user sees the message.
    ShowUser,
}

impl HookEvent {
    pub const ALL: [Self; 15] = [
        Self::SessionStart,
        Self::SessionEnd,
        Self::UserPromptSubmit,
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::PermissionDenied,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::PreCompact,
        Self::PostCompact,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::Stop,
        Self::StopFailure,
        Self::Notification,
    ];

    /// The name in settings and in the hook's input.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreToolUse => "PreToolUse",
            Self::PermissionRequest => "PermissionRequest",
            Self::PermissionDenied => "PermissionDenied",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::Stop => "Stop",
            Self::StopFailure => "StopFailure",
            Self::Notification => "Notification",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// The default timeout of a hook.
    pub fn timeout(self) -> Duration {
        // The user waits for this hook before anything visible happens.
        Duration::from_secs(if self == Self::UserPromptSubmit { 30 } else { 600 })
    }

    pub fn exit_two(self) -> ExitTwoEffect {
        match self {
            Self::PreToolUse
            | Self::UserPromptSubmit
            | Self::Stop
            | Self::SubagentStop
            | Self::PreCompact => ExitTwoEffect::Block,
            Self::PostToolUse | Self::PostToolUseFailure => ExitTwoEffect::ShowModel,
            Self::SessionStart
            | Self::SessionEnd
            | Self::PermissionRequest
            | Self::PermissionDenied
            | Self::PostCompact
            | Self::SubagentStart
            | Self::StopFailure
            | Self::Notification => ExitTwoEffect::ShowUser,
        }
    }

    /// Whether the event concerns a tool call, so that a rule can match it.
    pub fn concerns_tool_call(self) -> bool {
        match self {
            Self::PreToolUse
            | Self::PermissionRequest
            | Self::PermissionDenied
            | Self::PostToolUse
            | Self::PostToolUseFailure => true,
            Self::SessionStart
            | Self::SessionEnd
            | Self::UserPromptSubmit
            | Self::PreCompact
            | Self::PostCompact
            | Self::SubagentStart
            | Self::SubagentStop
            | Self::Stop
            | Self::StopFailure
            | Self::Notification => false,
        }
    }

    /// Whether sessions fire the event. Hooks of the others are known, but never run.
    pub fn is_fired(self) -> bool {
        match self {
            // Sessions start no sub-agents.
            Self::SubagentStart | Self::SubagentStop => false,
            Self::SessionStart
            | Self::SessionEnd
            | Self::UserPromptSubmit
            | Self::PreToolUse
            | Self::PermissionRequest
            | Self::PermissionDenied
            | Self::PostToolUse
            | Self::PostToolUseFailure
            | Self::PreCompact
            | Self::PostCompact
            | Self::Stop
            | Self::StopFailure
            | Self::Notification => true,
        }
    }

    /// Whether plain (non-JSON) output of a hook is shown to the model.
    pub fn accepts_plain_text(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
