//! The budget: a wall for a whole tree of agents. What a call can take at most is set aside before it is made.

mod plan;
mod pool;
mod room;

pub use pool::BudgetPool;
