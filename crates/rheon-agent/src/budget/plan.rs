//! How much of a model call the budget can pay for. Pure functions.

use rheon_types::event::BudgetAmount;
use rheon_types::{MicroUsd, PlannedCall, Prices, Usage};

use super::room::Room;

/// The shortest answer that is worth a call.
pub(crate) const ANSWER_TOKENS_MIN: u32 = 256;

/// The length reserved for the last answer.
pub(crate) const LAST_ANSWER_TOKENS: u32 = 1_024;

/// If less than this is left for an answer, the model is asked to wrap up.
pub(crate) const ANSWER_TOKENS_SCARCE: u32 = 2_048;

/// What the budget can pay for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// The call, with an answer of at most this many tokens.
    Call {
        answer_tokens_max: u32,
        /// The amount to reserve.
        reserved: BudgetAmount,
    },
    /// One last call, in which the model reports its progress.
    WrapUp {
        /// The most tokens of its answer.
        answer_tokens_max: u32,
        /// The amount to reserve.
        reserved: BudgetAmount,
    },
    /// Nothing more.
    Nothing,
}

/// Checks what a budget can pay for.
pub(crate) trait Affordable {
    /// What `room` can pay for.
    fn within(&self, room: Room) -> Plan;
}

impl Affordable for PlannedCall {
    fn within(&self, room: Room) -> Plan {
        let without_last = room.without(reserved(self, LAST_ANSWER_TOKENS));
        match affordable(self, without_last) {
            Some(answer) if answer == self.answer_tokens_max || answer >= ANSWER_TOKENS_SCARCE => {
                return Plan::Call { answer_tokens_max: answer, reserved: reserved(self, answer) };
            }
            Some(_) | None => {}
        }
        match affordable(self, room) {
            Some(last) if last >= ANSWER_TOKENS_MIN.min(self.answer_tokens_max) => {
                Plan::WrapUp { answer_tokens_max: last, reserved: reserved(self, last) }
            }
            Some(_) | None => Plan::Nothing,
        }
    }
}

/// The longest answer that can be paid for; none if not even the prompt can.
fn affordable(call: &PlannedCall, room: Room) -> Option<u32> {
    let fits = |answer: u32| {
        let most = reserved(call, answer);
        let tokens = room.tokens.is_none_or(|left| most.tokens <= left);
        let money = match (room.micro_usd, most.cost) {
            (None, _) => true,
            (Some(left), Some(cost)) => cost.0 <= left,
            // Calls without a price are limited by the token cap; the pool rejects them if there is none.
            (Some(_), None) => true,
        };
        tokens && money
    };
    if fits(call.answer_tokens_max) {
        return Some(call.answer_tokens_max);
    }
    if !fits(0) {
        return None;
    }
    // The cost grows with the answer, so a binary search finds the longest one that fits.
    let (mut fitting, mut too_long) = (0, call.answer_tokens_max);
    while too_long - fitting > 1 {
        let middle = fitting + (too_long - fitting) / 2;
        if fits(middle) {
            fitting = middle;
        } else {
            too_long = middle;
        }
    }
    Some(fitting)
}

/// The maximum cost of the call with an answer of this length.
fn reserved(call: &PlannedCall, answer_tokens: u32) -> BudgetAmount {
    let tokens = call.prompt_tokens.saturating_add(u64::from(answer_tokens));
    BudgetAmount { tokens, cost: call.prices.map(|prices| dearest(call, prices, answer_tokens)) }
}

/// The price if nothing is cached and writing to the cache costs extra.
fn dearest(call: &PlannedCall, prices: Prices, answer_tokens: u32) -> MicroUsd {
    let output = u64::from(answer_tokens);
    let fresh = Usage { input: call.prompt_tokens, output, ..Usage::default() };
    let written = Usage { cache_write: call.prompt_tokens, output, ..Usage::default() };
    prices.cost(&fresh).max(prices.cost(&written))
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
