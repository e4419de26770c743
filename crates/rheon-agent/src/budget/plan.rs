//! What of a model call the budget can pay for. Pure.

use rheon_types::event::Reserved;
use rheon_types::{MicroUsd, Prices, Usage};

use super::room::Room;

/// A model call that is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Planned {
    /// Tokens of the prompt, at most.
    pub(crate) prompt_tokens: u64,
    /// Tokens that the answer may have.
    pub(crate) answer_tokens_max: u32,
    /// What tokens cost, where it is known.
    pub(crate) prices: Option<Prices>,
}

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
        reserved: Reserved,
    },
    /// One last call, in which the model says how far it came.
    WrapUp {
        /// The most tokens of its answer.
        answer_tokens_max: u32,
        /// What has to be set aside.
        reserved: Reserved,
    },
    /// Nothing more.
    Nothing,
}

impl Planned {
    /// What `room` can pay for.
    pub(crate) fn within(&self, room: Room) -> Plan {
        let keeping = room.without(self.reserved(LAST_ANSWER_TOKENS));
        match self.affordable(keeping) {
            Some(answer) if answer == self.answer_tokens_max || answer >= ANSWER_TOKENS_SCARCE => {
                return Plan::Call { answer_tokens_max: answer, reserved: self.reserved(answer) };
            }
            Some(_) | None => {}
        }
        match self.affordable(room) {
            Some(last) if last >= ANSWER_TOKENS_MIN.min(self.answer_tokens_max) => {
                Plan::WrapUp { answer_tokens_max: last, reserved: self.reserved(last) }
            }
            Some(_) | None => Plan::Nothing,
        }
    }

    /// The longest answer that can be paid for; none if not even the prompt can.
    fn affordable(&self, room: Room) -> Option<u32> {
        let fits = |answer: u32| {
            let most = self.reserved(answer);
            let tokens = room.tokens.is_none_or(|left| most.tokens <= left);
            let money = match (room.micro_usd, most.cost) {
                (None, _) => true,
                (Some(left), Some(cost)) => cost.0 <= left,
                // What has no price is held by the cap on tokens; the pool refuses where there is none.
                (Some(_), None) => true,
            };
            tokens && money
        };
        if fits(self.answer_tokens_max) {
            return Some(self.answer_tokens_max);
        }
        if !fits(0) {
            return None;
        }
        // The cost grows with the answer, so the longest one that fits is found by halving.
        let (mut fitting, mut too_long) = (0, self.answer_tokens_max);
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
    fn reserved(&self, answer_tokens: u32) -> Reserved {
        let tokens = self.prompt_tokens.saturating_add(u64::from(answer_tokens));
        Reserved { tokens, cost: self.prices.map(|prices| self.dearest(prices, answer_tokens)) }
    }

    /// The price if nothing comes from the cache, and writing to it costs extra.
    fn dearest(&self, prices: Prices, answer_tokens: u32) -> MicroUsd {
        let output = u64::from(answer_tokens);
        let fresh = Usage { input: self.prompt_tokens, output, ..Usage::default() };
        let kept = Usage { cache_write: self.prompt_tokens, output, ..Usage::default() };
        prices.cost(&fresh).max(prices.cost(&kept))
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
