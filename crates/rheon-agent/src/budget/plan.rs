//! How much of a model call the budget can pay for. Pure functions.

use rheon_types::event::BudgetAmount;
use rheon_types::{MicroUsd, PlannedCall, Prices, Usage};

use super::room::Room;

/// The shortest answer that is worth a call.
pub(crate) const ANSWER_TOKENS_MIN: u32 = 256;

/// The length reserved for the last answer.
pub(crate) const LAST_ANSWER_TOKENS: u32 = 512;

/// If less than this is left for an answer, the model is asked to wrap up, unless the run has only begun.
pub(crate) const ANSWER_TOKENS_SCARCE: u32 = 1_024;

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
    /// Reserves the most that the call can cost, if there is enough. Otherwise what the call is expected to cost decides,
    /// with an answer as long as what is left pays for: a budget that covers the next call never refuses it.
    fn within(&self, room: Room) -> Plan {
        let (last, least) = if self.is_first {
            (BudgetAmount::default(), ANSWER_TOKENS_MIN)
        } else {
            (expected(self, LAST_ANSWER_TOKENS), ANSWER_TOKENS_SCARCE)
        };
        let without_last = room.without(last);
        let most = most(self, self.answer_tokens_max);
        if without_last.covers(most) {
            return Plan::Call { answer_tokens_max: self.answer_tokens_max, reserved: most };
        }
        let long_enough = |least: u32| move |answer: &u32| *answer >= least.min(self.answer_tokens_max);
        if let Some(answer) = affordable(self, without_last).filter(long_enough(least)) {
            return Plan::Call { answer_tokens_max: answer, reserved: reserved(self, answer, room) };
        }
        match affordable(self, room).filter(long_enough(ANSWER_TOKENS_MIN)) {
            Some(answer) => {
                Plan::WrapUp { answer_tokens_max: answer, reserved: reserved(self, answer, room) }
            }
            None => Plan::Nothing,
        }
    }
}

/// The longest answer that can be paid for as expected; none if not even the prompt can.
fn affordable(call: &PlannedCall, room: Room) -> Option<u32> {
    let fits = |answer: u32| room.covers(expected(call, answer));
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

/// What to reserve for the call: the most it can cost, but not more than there is.
fn reserved(call: &PlannedCall, answer_tokens: u32, room: Room) -> BudgetAmount {
    let most = most(call, answer_tokens);
    let money = room.micro_usd.unwrap_or(u64::MAX);
    BudgetAmount {
        tokens: most.tokens.min(room.tokens.unwrap_or(u64::MAX)),
        cost: most.cost.map(|cost| MicroUsd(cost.0.min(money))),
    }
}

/// The maximum cost of the call with an answer of this length: the prompt has a quarter more tokens than estimated,
/// nothing is cached, and writing to the cache costs extra.
fn most(call: &PlannedCall, answer_tokens: u32) -> BudgetAmount {
    let prompt = call.prompt_tokens.saturating_add(call.prompt_tokens / 4);
    let output = u64::from(answer_tokens);
    BudgetAmount {
        tokens: prompt.saturating_add(output),
        cost: call.prices.map(|prices| dearest(prices, Usage { input: prompt, output, ..Usage::default() })),
    }
}

/// What the call is expected to cost with an answer of this length, if the service still has in its cache what it had
/// after the last answer.
fn expected(call: &PlannedCall, answer_tokens: u32) -> BudgetAmount {
    let cache_read = call.cached_tokens.min(call.prompt_tokens);
    let input = call.prompt_tokens - cache_read;
    let usage = Usage { input, cache_read, output: u64::from(answer_tokens), ..Usage::default() };
    BudgetAmount {
        tokens: usage.billed(Prices::cache_read_percent(call.prices.as_ref())),
        cost: call.prices.map(|prices| dearest(prices, usage)),
    }
}

/// The price if the new part of the prompt is written to the cache or not, whichever is more.
fn dearest(prices: Prices, usage: Usage) -> MicroUsd {
    let written = Usage { input: 0, cache_write: usage.input, ..usage };
    prices.cost(&usage).max(prices.cost(&written))
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
