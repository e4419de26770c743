//! The budget: a wall for a whole tree of agents.

mod pool;

pub use pool::BudgetPool;
