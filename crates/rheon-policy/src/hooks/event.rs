//! `HookEvent`: the points at which hooks are asked or told.

use std::fmt;
use std::time::Duration;

/// A point at which hooks are asked or told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookEvent {
    /// A session begins, before its first prompt.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The user has said something.
    UserPromptSubmit,
    /// The model wants to call a tool.
    PreToolUse,
    /// Somebody has to decide about a call.
    PermissionRequest,
    /// A call will not run.
    PermissionDenied,
    /// A call has ended well.
    PostToolUse,
    /// A call has failed.
    PostToolUseFailure,
    /// The conversation is about to be shortened.
    PreCompact,
    /// The conversation was shortened.
    PostCompact,
    /// A sub-agent begins.
    SubagentStart,
    /// A sub-agent has nothing more to do.
    SubagentStop,
    /// The model has nothing more to do.
    Stop,
    /// The user is told something.
    Notification,
}

/// The events of Claude Code that nothing here brings about: their hooks are kept, and never run.
pub const UNSUPPORTED_EVENTS: [&str; 17] = [
    "Setup",
    "UserPromptExpansion",
    "PostToolBatch",
    "MessageDisplay",
    "TaskCreated",
    "TaskCompleted",
    "StopFailure",
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

/// What exit code 2 does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitTwoEffect {
    /// Keeps it from happening; the model or the user is told why.
    Block,
    /// It has happened; the model is told.
    ShowModel,
    /// Nothing can be kept from happening; the user is told.
    ShowUser,
}

impl HookEvent {
    /// All of them, in the order of a session.
    pub const ALL: [Self; 14] = [
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
        Self::Notification,
    ];

    /// Its name in settings and on stdin.
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
            Self::Notification => "Notification",
        }
    }

    /// The event that settings call `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// How long a hook may take unless it says otherwise.
    pub fn timeout(self) -> Duration {
        // The user waits for the answer to a prompt before anything is seen to happen.
        Duration::from_secs(if self == Self::UserPromptSubmit { 30 } else { 600 })
    }

    /// What exit code 2 does.
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
            | Self::Notification => ExitTwoEffect::ShowUser,
        }
    }

    /// Whether it is about a call of a tool, which a rule can name.
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
            | Self::Notification => false,
        }
    }

    /// Whether what a hook prints is said to the model, though it is no JSON.
    pub fn accepts_plain_text(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
