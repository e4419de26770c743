//! The vocabulary of Rheon: what is said (messages, events, commands, errors) and where parts meet (seams).
//!
//! Nothing here does anything to the outside world: no runtime, no HTTP, no file system, no clock.

mod answer;
mod call_facts;
pub mod command;
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
mod request;
pub mod seam;
mod stop;
mod system_prompt;
mod time;
mod tool;
mod usage;
mod window;

pub use answer::{Answer, BoxFuture};
pub use call_facts::CallFacts;
pub use command::Command;
pub use content::{Content, Signature, SignatureKind, ToolCall};
pub use draft::{DRAFT_BYTES_MAX, Draft, DraftError, Finished};
pub use error::{ClientError, ProviderError, ProviderErrorKind, StoreError, WorkerError};
pub use event::{AgentEvent, Event};
pub use history::{History, unanswered_calls};
pub use hook_point::HookPoint;
pub use id::{AgentId, ApprovalId, LoopId, SessionId, ToolCallId, ToolName};
pub use message::{
    AgentMessage, AssistantMessage, Author, ExtensionMessage, LlmMessage, Message, ToolResultMessage, TurnId,
    UserMessage,
};
pub use model::{ModelInfo, Prices, Rates};
pub use outcome::{AgentOutput, ContinuationKind, LimitKind, RunEnd, RunFailure, TurnTrigger};
pub use protected::{PROTECTED_NAMES, is_protected_name};
pub use request::{
    CacheConfig, CacheStrategy, Chunk, DeltaText, OutputSchema, Request, ThinkingLevel, ToolChoice,
    ToolDefinition,
};
pub use seam::{
    AllowAll, Amendment, AskFirst, AskedBy, ChunkStream, Client, Clock, DenyAll, EventStream, FilterVerdict,
    Flow, Gate, GateRequest, Hook, HookNews, InputFilter, Interactive, Judgement, Opinion, Pauses, Permit,
    Provider, Random, Reminder, Situation, Store, Task, Tool, Verdict, Worker,
};
pub use stop::StopReason;
pub use system_prompt::{SystemPrompt, SystemSection};
pub use time::Timestamp;
pub use tool::{Effect, Hold, ToolContext, ToolError, ToolNews, ToolReporter, ToolResult};
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
