//! `BudgetPool`: what may be spent, what is, and what is set aside for calls in flight.

use std::sync::{Arc, Mutex};

use rheon_types::event::Ledger;

/// What may be spent. Clones are the same budget; children draw on their parent's.
#[derive(Debug, Clone, Default)]
pub struct BudgetPool {
    _ledger: Arc<Mutex<Ledger>>,
}
