//! `Budget`: what an agent and its children may spend.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::event::{BudgetAmount, Ledger};
use crate::model::Prices;
use crate::usage::MicroUsd;

/// A budget that several agents can share. The most a call can cost is reserved before the call and settled after it,
/// so no caller spends what another one has reserved.
pub trait Budget: Send + Sync + fmt::Debug {
    /// Reserves the maximum cost of `call`, or as much of it as the budget can pay for.
    fn reserve(&self, call: &PlannedCall) -> Grant;

    /// Records spending that was not reserved, for example by an external program that reports its usage at the end.
    fn spend(&self, spent: BudgetAmount);

    /// The amounts spent and reserved so far.
    fn ledger(&self) -> Ledger;

    /// The time left, or `None` without a time limit.
    fn time_left(&self) -> Option<Duration>;

    /// Leaves out time that an agent spent waiting for a person.
    fn exclude(&self, _waited: Duration) {}

    /// Whether to warn that the budget is nearly spent. Returns `true` once.
    fn should_warn(&self) -> bool;

    /// A share of this budget for a child, with its own caps. The child's spending counts here too.
    fn share(&self, caps: Caps) -> Arc<dyn Budget>;
}

/// Spending limits; `None` means unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caps {
    /// Prompt and answer tokens combined, as billed: tokens read from the cache count at their price.
    pub tokens: Option<u64>,
    /// Cost.
    pub cost: Option<MicroUsd>,
    /// Wall-clock time, without the time an agent waits for a person.
    pub wall: Option<Duration>,
}

/// A model call about to be made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlannedCall {
    /// The expected number of prompt tokens.
    pub prompt_tokens: u64,
    /// How many of them the service is expected to read from its cache.
    pub cached_tokens: u64,
    /// The maximum number of answer tokens.
    pub answer_tokens_max: u32,
    /// Token prices, if known.
    pub prices: Option<Prices>,
    /// Whether it is the first call of a run, which has nothing to wrap up yet.
    pub is_first: bool,
}

/// A budget's answer to a planned call.
#[derive(Debug)]
pub enum Grant {
    /// The call may be made.
    Call {
        /// The maximum number of answer tokens.
        answer_tokens_max: u32,
        /// The amount reserved for the call.
        reservation: Reservation,
        /// Whether this is the last call the budget can pay for.
        is_last: bool,
    },
    /// The budget is spent.
    Nothing,
    /// The budget limits only cost, and the model's price is unknown.
    NoPrice,
}

/// The amount reserved for a call. A reservation dropped without [`Reservation::settle`] counts as spent.
pub struct Reservation {
    reserved: BudgetAmount,
    settle: Option<Settle>,
}

type Settle = Box<dyn FnOnce(BudgetAmount) + Send + Sync>;

impl Reservation {
    /// A reservation that calls `settle` once with the amount actually spent.
    pub fn new(reserved: BudgetAmount, settle: impl FnOnce(BudgetAmount) + Send + Sync + 'static) -> Self {
        Self { reserved, settle: Some(Box::new(settle)) }
    }

    /// A reservation for a budget that does not track spending.
    pub fn untracked(reserved: BudgetAmount) -> Self {
        Self { reserved, settle: None }
    }

    /// The reserved amount.
    pub fn reserved(&self) -> BudgetAmount {
        self.reserved
    }

    /// Records what the call used. If its cost is unknown, the reserved cost counts.
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
