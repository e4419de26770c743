//! The budget: a wall for a whole tree of agents. What a call can take at most is set aside before it is made.

mod caps;
mod plan;
mod pool;
mod purse;
mod room;

pub use caps::Caps;
pub(crate) use plan::Planned;
pub use pool::BudgetPool;
pub(crate) use pool::{Granted, Reservation};
pub(crate) use purse::Purse;
