//! What most programs need: `use rheon::prelude::*;`.

#[cfg(feature = "session")]
pub use crate::session::{Reply, Run, Session, SessionBuilder};
pub use crate::terminal::ask_in_terminal;
#[cfg(feature = "tools")]
pub use crate::toolkit::default_tools;
pub use crate::{Agent, AgentBuilder, Error, ErrorKind};
pub use rheon_agent::{
    AgentError, ClosureHook, ExecutionLimits, Prompt, RecvError, RunStream, ToolExecution,
};
pub use rheon_macros::Tool;
pub use rheon_types::event::{
    ApprovalRequest, PermissionDecision, PermissionMode, PermissionResponse, Subject,
};
pub use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, AllowAll, ApprovalEvent, BoxFuture, BudgetEvent, ChildEvent,
    Content, ContextEvent, DenyAll, Effect, Event, Flow, Gate, Hook, Message, MessageEvent, ModelEvent,
    OutputError, PlanEvent, Provider, RunEnd, RunEvent, SessionEvent, ThinkingLevel, Tool, ToolContext,
    ToolError, ToolEvent, ToolResult, TurnEvent, Usage,
};
pub use schemars::JsonSchema;
pub use serde::Deserialize;
pub use serde_json::{Value, json};
pub use tokio_util::sync::CancellationToken;
