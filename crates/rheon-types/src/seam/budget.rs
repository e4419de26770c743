//! `Budget`: what a tree of agents may spend, as one of them sees it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::event::{BudgetAmount, Ledger};
use crate::model::Prices;
use crate::usage::MicroUsd;

/// What may be spent, with others that draw on it. What a call can take at most is reserved before it is made and settled after,
/// so that no caller spends what another one has reserved.
pub trait Budget: Send + Sync + fmt::Debug {
    /// Reserves what `call` can take at most, or what of it can be paid for.
    fn reserve(&self, call: &PlannedCall) -> Grant;

    /// Counts what was spent without a reservation, for instance by an external program that reports its usage at the end.
    fn spend(&self, spent: BudgetAmount);

    /// What is spent, and what is reserved.
    fn ledger(&self) -> Ledger;

    /// How much time is left; absent if there is no cap.
    fn time_left(&self) -> Option<Duration>;

    /// Whether it is time to say that the budget is nearly spent; true once.
    fn should_warn(&self) -> bool;

    /// A share of this budget for a child, with caps of its own. What the child spends is spent here too.
    fn share(&self, caps: Caps) -> Arc<dyn Budget>;
}

/// The most that may be spent; absent where there is no cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caps {
    /// Tokens, of prompts and answers together.
    pub tokens: Option<u64>,
    /// Money.
    pub cost: Option<MicroUsd>,
    /// Time on the wall clock.
    pub wall: Option<Duration>,
}

/// A model call that is to be paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedCall {
    /// Tokens of the prompt, at most.
    pub prompt_tokens: u64,
    /// Tokens that the answer may have.
    pub answer_tokens_max: u32,
    /// What tokens cost, where it is known.
    pub prices: Option<Prices>,
}

/// What a budget grants.
#[derive(Debug)]
pub enum Grant {
    /// A call.
    Call {
        /// The most tokens of its answer.
        answer_tokens_max: u32,
        /// What is reserved for it.
        reservation: Reservation,
        /// Whether no other call can be paid for.
        is_last: bool,
    },
    /// Nothing is left.
    Nothing,
    /// There is a cap on money only, and the price is not known.
    NoPrice,
}

/// What is reserved for a call. A reservation that is dropped without [`Reservation::settle`] counts as spent.
pub struct Reservation {
    reserved: BudgetAmount,
    settle: Option<Settle>,
}

type Settle = Box<dyn FnOnce(BudgetAmount) + Send + Sync>;

impl Reservation {
    /// `reserved`, of which `settle` is told once what was spent.
    pub fn new(reserved: BudgetAmount, settle: impl FnOnce(BudgetAmount) + Send + Sync + 'static) -> Self {
        Self { reserved, settle: Some(Box::new(settle)) }
    }

    /// `reserved`, in a budget that needs no word of what was spent.
    pub fn untracked(reserved: BudgetAmount) -> Self {
        Self { reserved, settle: None }
    }

    /// What is reserved.
    pub fn reserved(&self) -> BudgetAmount {
        self.reserved
    }

    /// The call took this much. Where its cost is not known, what was reserved for it counts.
    pub fn settle(mut self, tokens: u64, cost: Option<MicroUsd>) {
        if let Some(settle) = self.settle.take() {
            settle(BudgetAmount { tokens, cost: cost.or(self.reserved.cost) });
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(settle) = self.settle.take() {
            settle(self.reserved);
        }
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reservation").field(&self.reserved).finish()
    }
}
