//! What is needed daily: `use rheon::prelude::*;`.

pub use crate::output::{OutputError, ParseOutput, WithOutput};
pub use crate::resolved::WithModel;
pub use crate::session::WithSession;
pub use crate::skills::WithSkills;
pub use crate::toolkit::{WithToolkit, default_tools};
pub use rheon_agent::{
    Agent, AgentBuilder, AgentError, ClosureHook, ExecutionLimits, Prompt, RecvError, RunStream,
    ToolExecution,
};
pub use rheon_macros::Tool;
pub use rheon_types::event::{ApprovalRequest, PermissionDecision, PermissionResponse};
pub use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, AllowAll, ApprovalEvent, BoxFuture, BudgetEvent, ChildEvent,
    Content, ContextEvent, DenyAll, Effect, Event, Flow, Gate, Hook, Message, MessageEvent, ModelEvent,
    PlanEvent, Provider, RunEnd, RunEvent, SessionEvent, ThinkingLevel, Tool, ToolContext, ToolError,
    ToolEvent, ToolResult, TurnEvent, Usage,
};
pub use schemars::JsonSchema;
pub use serde::Deserialize;
pub use serde_json::{Value, json};
pub use tokio_util::sync::CancellationToken;
