//! `PendingReservation`: the budget reservation of the current call, and what the call has spent of it.

use rheon_types::event::BudgetAmount;
use rheon_types::{MicroUsd, Reservation};

/// The reservation of the current call.
pub(crate) struct PendingReservation {
    reservation: Reservation,
    /// What its attempts have spent so far. Without a cost, the cost of one is unknown, and the reserved one counts.
    spent: BudgetAmount,
}

impl PendingReservation {
    pub(crate) fn new(reservation: Reservation) -> Self {
        Self { reservation, spent: NOTHING }
    }

    pub(crate) fn reserved(&self) -> BudgetAmount {
        self.reservation.reserved()
    }

    /// Adds what an attempt has spent.
    pub(crate) fn charge(&mut self, spent: BudgetAmount) {
        self.spent = sum(self.spent, spent);
    }

    /// Returns to the budget what was not spent.
    pub(crate) fn settle(self) {
        self.reservation.settle(self.spent.tokens, self.spent.cost);
    }
}

/// Nothing at all.
pub(crate) const NOTHING: BudgetAmount = BudgetAmount { tokens: 0, cost: Some(MicroUsd(0)) };

/// Both amounts. A cost that is unknown stays unknown.
pub(crate) fn sum(one: BudgetAmount, other: BudgetAmount) -> BudgetAmount {
    let cost = one.cost.zip(other.cost).and_then(|(one, other)| one.checked_add(other));
    BudgetAmount { tokens: one.tokens.saturating_add(other.tokens), cost }
}
