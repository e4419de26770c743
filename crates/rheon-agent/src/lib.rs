//! The agent loop: runs a prompt through the steps of each turn, emits events and returns an output.

mod agent;
mod agent_loop;
mod approval;
mod async_hook;
mod budget;
mod builder;
mod call_ids;
mod clock;
mod close;
mod closure_hook;
mod coerce;
mod config;
mod context;
mod control;
mod conversation;
mod error;
mod halt;
mod hooks;
mod live;
mod log;
mod meter;
mod panics;
mod person_wait;
mod prompt;
pub mod replay;
mod report;
mod reservation;
mod retry;
mod run;
mod state;
mod step;
mod stream;
mod system;
mod tool_offer;
mod tool_sources;
mod toolbox;
mod user_call;
mod worker;

pub use agent::Agent;
pub use agent_loop::{AgentContext, agent_loop, agent_loop_continue};
pub use async_hook::{after_run, after_tool, after_turn, before_run, before_stop, before_tool, before_turn};
pub use budget::BudgetPool;
pub use builder::AgentBuilder;
pub use closure_hook::ClosureHook;
pub use config::{ContextParts, ExecutionLimits, RunConfig, RunOptions, ToolExecution};
pub use context::{
    Band, CheckSettings, Compaction, CompactionStrategy, ContextTracker, ContextUsage, CountMode, Effort,
    GoalReminder, MessageCounts, Overflow, PromptBuilder, PromptSection, SectionUsage, Summarizer,
    SummarySource, TieredCompaction, TokenCounter, WindowSettings, WindowView, base_prompt, flat_tokens,
    schema_problem, summary_prompt,
};
pub use control::{ApproverGuard, Control, QueueMode};
pub use error::{AgentError, BuildError, ChildError, PermissionError, ToolboxError};
pub use log::{EventLog, EventSubscription, LogPosition, Observers, RecvError};
pub use prompt::Prompt;
pub use retry::RetryConfig;
/// The caps of a [`BudgetPool`].
pub use rheon_types::Caps;
pub use step::decide::{NextStep, RunProgress, decide};
pub use stream::RunStream;
pub use system::{SystemClock, SystemRandom};
pub use tool_sources::ToolSources;
pub use toolbox::Toolbox;
pub use user_call::UserCall;
pub use worker::AgentWorker;
