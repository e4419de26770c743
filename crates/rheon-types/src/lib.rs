//! The shared types of Rheon (messages, events, commands, errors) and the traits that connect its parts.
//!
//! This crate has no side effects: no runtime, no HTTP, no file system, no clock.

#![warn(missing_docs)]

mod answer;
mod call_facts;
mod child;
mod child_inbox;
#[doc(hidden)]
pub mod compiled_once;
mod content;
mod draft;
mod error;
pub mod event;
mod grant;
mod history;
mod hook_point;
mod id;
mod key_order;
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
pub use draft::{DRAFT_BYTES_MAX, Draft, DraftError, DraftOutcome};
pub use error::{ClientError, ProviderError, ProviderErrorKind, StoreError};
pub use event::{
    AgentEvent, ApprovalEvent, BudgetEvent, ChildEvent, ContextEvent, Event, MessageEvent, ModelEvent,
    PlanEvent, RunEvent, SessionEvent, ToolEvent, TurnEvent,
};
pub use grant::{CallGrant, NetworkGrant};
pub use history::{History, unanswered_calls};
pub use hook_point::HookPoint;
pub use id::{AgentId, ApprovalId, ClientCallId, RunId, SessionId, ToolCallId, ToolName};
pub use key_order::{KeyOrder, OrderedJson};
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
    AllowAll, Amendment, ApprovalReason, AskFirst, Budget, CallOrder, Caps, ChunkStream, Client, Clock,
    DenyAll, EventStream, FilterVerdict, FixedTools, Flow, Gate, GateDecision, GateRequest, Grant, Hook,
    HookPermission, HookReport, HookVerdict, Host, InputFilter, Interactive, IntoShared, Parent, PlannedCall,
    Provider, Random, Reminder, ReminderContext, Reservation, Store, Task, Tool, ToolSet, ToolSource,
    Verdict, WaitMode, Worker, run_child,
};
pub use stop::StopReason;
pub use system_prompt::{SystemPrompt, SystemSection};
pub use time::Timestamp;
pub use tool::{Effect, ToolError, ToolResult};
pub use tool_context::{Claim, ToolContext, ToolFact, ToolReporter};
pub use usage::{MicroUsd, Usage};
pub use window::{CutKind, WindowCut, cuts_until, window};

#[cfg(test)]
mod draft_tests;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod history_tests;
#[cfg(test)]
mod roundtrip_tests;
