//! The seams: traits through which the parts of Rheon meet. All are `dyn`-safe.

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
pub use clock::{Clock, Pauses, Random};
pub use filter::{FilterVerdict, InputFilter};
/// Asks about everything that is more than a look; the answers come from the stream of the run or from hooks.
pub use gate::AskFirst as Interactive;
pub use gate::{AllowAll, AskFirst, AskedBy, DenyAll, Gate, GateRequest, Judgement, Verdict};
pub use hook::{Amendment, Flow, Hook, HookNews, Opinion, Permit};
pub use provider::{ChunkStream, Provider};
pub use reminder::{Reminder, Situation};
pub use shared::IntoShared;
pub use store::Store;
pub use tool::Tool;
pub use tool_parent::run_child;
pub use tool_source::{FixedTools, ToolSet, ToolSource};
pub use worker::{Parent, Task, Worker};
