//! The traits that connect the parts of Rheon. All are `dyn`-safe.

mod budget;
mod client;
mod clock;
mod filter;
mod gate;
mod hook;
mod provider;
mod reminder;
mod shared;
mod store;
mod tool;
mod tool_parent;
mod tool_source;
mod worker;

pub use budget::{Budget, Caps, Grant, PlannedCall, Reservation};
pub use client::{Client, EventStream, Host};
pub use clock::{Clock, Random, WaitMode};
pub use filter::{FilterVerdict, InputFilter};
/// Asks for approval for everything but read-only tools. Answers come from the run's stream or from hooks.
pub use gate::AskFirst as Interactive;
pub use gate::{
    AllowAll, ApprovalReason, AskFirst, CallOrder, DenyAll, Gate, GateDecision, GateRequest, Verdict,
};
pub use hook::{Amendment, Flow, Hook, HookPermission, HookReport, HookVerdict};
pub use provider::{ChunkStream, Provider};
pub use reminder::{Reminder, ReminderContext};
pub use shared::IntoShared;
pub use store::Store;
pub use tool::Tool;
pub use tool_parent::run_child;
pub use tool_source::{FixedTools, ToolSet, ToolSource};
pub use worker::{Parent, Task, Worker};
