//! `Room`: what is left of a budget.

use rheon_types::event::{BudgetAmount, Meter};

/// What is left of a budget; `None` without a cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) tokens: Option<u64>,
    /// Money, in millionths of a US dollar.
    pub(crate) micro_usd: Option<u64>,
    /// Wall clock, in milliseconds.
    pub(crate) wall_ms: Option<u64>,
}

impl Room {
    /// What is left after `reserved` is subtracted.
    pub(crate) fn without(self, reserved: BudgetAmount) -> Self {
        let money = reserved.cost.unwrap_or_default().0;
        Self {
            tokens: self.tokens.map(|left| left.saturating_sub(reserved.tokens)),
            micro_usd: self.micro_usd.map(|left| left.saturating_sub(money)),
            wall_ms: self.wall_ms,
        }
    }

    /// Whether `amount` can be paid for.
    pub(crate) fn covers(self, amount: BudgetAmount) -> bool {
        let tokens = self.tokens.is_none_or(|left| amount.tokens <= left);
        let money = match (self.micro_usd, amount.cost) {
            (None, _) => true,
            (Some(left), Some(cost)) => cost.0 <= left,
            // Calls without a price are limited by the token cap; the pool rejects them if there is none.
            (Some(_), None) => true,
        };
        tokens && money
    }

    /// The smaller of both, per resource.
    pub(crate) fn and(self, other: Self) -> Self {
        let least = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self {
            tokens: least(self.tokens, other.tokens),
            micro_usd: least(self.micro_usd, other.micro_usd),
            wall_ms: least(self.wall_ms, other.wall_ms),
        }
    }
}

/// What is left of one resource.
pub(crate) fn left(meter: &Meter) -> Option<u64> {
    meter.cap.map(|cap| cap.saturating_sub(meter.spent).saturating_sub(meter.reserved))
}
