//! The budget: a hard limit for a tree of agents. The maximum cost of a call is reserved before it is made.

mod plan;
mod pool;
mod room;

pub use pool::BudgetPool;
