//! What of a model call the budget can pay for. Pure.

use rheon_types::event::BudgetAmount;
use rheon_types::{MicroUsd, PlannedCall, Prices, Usage};

use super::room::Room;

/// The shortest answer that is worth a call.
pub(crate) const ANSWER_TOKENS_MIN: u32 = 256;

/// How long the last answer may be: this much is always kept for it.
pub(crate) const LAST_ANSWER_TOKENS: u32 = 1_024;

/// With less room than this for an answer, the model is asked to come to an end.
pub(crate) const ANSWER_TOKENS_SCARCE: u32 = 2_048;

/// What the budget can pay for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// The call, with an answer of at most this many tokens.
    Call {
        /// They.
        answer_tokens_max: u32,
        /// What has to be set aside.
        reserved: BudgetAmount,
    },
    /// One last call, in which the model says how far it came.
    WrapUp {
        /// The most tokens of its answer.
        answer_tokens_max: u32,
        /// What has to be set aside.
        reserved: BudgetAmount,
    },
    /// Nothing more.
    Nothing,
}

/// What a budget can pay for of a planned call.
pub(crate) trait Affordable {
    /// What `room` can pay for.
    fn within(&self, room: Room) -> Plan;
}

impl Affordable for PlannedCall {
    fn within(&self, room: Room) -> Plan {
        let keeping = room.without(reserved(self, LAST_ANSWER_TOKENS));
        match affordable(self, keeping) {
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
            // What has no price is held by the cap on tokens; the pool refuses where there is none.
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
    // The cost grows with the answer, so the longest one that fits is found by halving.
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

/// The most that the call can take with an answer of this length.
fn reserved(call: &PlannedCall, answer_tokens: u32) -> BudgetAmount {
    let tokens = call.prompt_tokens.saturating_add(u64::from(answer_tokens));
    BudgetAmount { tokens, cost: call.prices.map(|prices| dearest(call, prices, answer_tokens)) }
}

/// The price if nothing comes from the cache, and writing to it costs extra.
fn dearest(call: &PlannedCall, prices: Prices, answer_tokens: u32) -> MicroUsd {
    let output = u64::from(answer_tokens);
    let fresh = Usage { input: call.prompt_tokens, output, ..Usage::default() };
    let kept = Usage { cache_write: call.prompt_tokens, output, ..Usage::default() };
    prices.cost(&fresh).max(prices.cost(&kept))
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
