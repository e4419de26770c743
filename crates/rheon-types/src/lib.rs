//! The vocabulary of Rheon: what is said (messages, events, commands, errors) and where parts meet (seams).
//!
//! Nothing here does anything to the outside world: no runtime, no HTTP, no file system, no clock.

#![warn(missing_docs)]

mod answer;
mod call_facts;
mod child;
mod child_inbox;
mod content;
mod draft;
mod error;
pub mod event;
mod history;
mod hook_point;
mod id;
mod message;
mod model;
mod outcome;
mod protected;
pub mod protocol;
mod request;
pub mod seam;
mod stop;
mod system_prompt;
mod time;
mod tool;
mod tool_context;
mod usage;
mod window;

pub use answer::{Answer, BoxFuture};
pub use call_facts::CallFacts;
pub use child::{AgentDefinition, ChildApproval, ParentLink, WorkerError, WorkerOutput};
pub use child_inbox::{ChildInbox, ChildInboxError, ChildMessageTime};
pub use content::{Content, Signature, SignatureKind, ToolCall};
pub use draft::{DRAFT_BYTES_MAX, Draft, DraftError, Finished};
pub use error::{ClientError, ProviderError, ProviderErrorKind, StoreError};
pub use event::{
    AgentEvent, ApprovalEvent, BudgetEvent, ChildEvent, ContextEvent, Event, MessageEvent, ModelEvent,
    PlanEvent, RunEvent, SessionEvent, ToolEvent, TurnEvent,
};
pub use history::{History, unanswered_calls};
pub use hook_point::HookPoint;
pub use id::{AgentId, ApprovalId, ClientCallId, RunId, SessionId, ToolCallId, ToolName};
pub use message::{
    AgentMessage, AssistantMessage, Author, ExtensionMessage, LlmMessage, Message, ToolResultMessage, TurnId,
    UserMessage,
};
pub use model::{ModelInfo, Prices, Rates};
pub use outcome::{AgentOutput, ContinuationKind, LimitKind, OutputError, RunEnd, RunFailure, TurnTrigger};
pub use protected::{PROTECTED_NAMES, is_protected_name};
pub use protocol::{Ack, Command, OpenRequest, Query, Reply, Subscription};
pub use request::{
    CacheConfig, CacheStrategy, Chunk, DeltaText, OutputSchema, Request, ThinkingLevel, ToolChoice,
    ToolDefinition,
};
pub use seam::{
    AllowAll, Amendment, AskFirst, AskedBy, Budget, Caps, ChunkStream, Client, Clock, DenyAll, EventStream,
    FilterVerdict, FixedTools, Flow, Gate, GateRequest, Grant, Hook, HookNews, Host, InputFilter,
    Interactive, IntoShared, Judgement, Opinion, Parent, Pauses, Permit, PlannedCall, Provider, Random,
    Reminder, Reservation, Situation, Store, Task, Tool, ToolSet, ToolSource, Verdict, Worker, run_child,
};
pub use stop::StopReason;
pub use system_prompt::{SystemPrompt, SystemSection};
pub use time::Timestamp;
pub use tool::{Effect, ToolError, ToolResult};
pub use tool_context::{Hold, ToolContext, ToolNews, ToolReporter};
pub use usage::{MicroUsd, Usage};
pub use window::{CutKind, WindowCut, window};

#[cfg(test)]
mod draft_tests;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod history_tests;
#[cfg(test)]
mod roundtrip_tests;
