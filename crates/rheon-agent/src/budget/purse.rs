//! `Purse`: where the calls of a run are paid from, as the run sees it. A replay has one that pays what the log says, because
//! what others drew on a budget is not in the log.

use rheon_types::event::Ledger;

use super::plan::Planned;
use super::pool::{BudgetPool, Granted};

/// Where the calls of a run are paid from.
pub(crate) trait Purse: Send + Sync {
    /// Whether it is time to say that the budget is nearly spent.
    fn warns(&self) -> bool;

    /// What is spent, and what is set aside.
    fn ledger(&self) -> Ledger;

    /// Sets aside what `planned` can take at most, or what of it can be paid for.
    fn reserve(&self, planned: &Planned) -> Granted;
}

impl Purse for BudgetPool {
    fn warns(&self) -> bool {
        Self::warns(self)
    }

    fn ledger(&self) -> Ledger {
        Self::ledger(self)
    }

    fn reserve(&self, planned: &Planned) -> Granted {
        Self::reserve(self, planned)
    }
}
