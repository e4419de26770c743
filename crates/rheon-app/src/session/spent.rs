//! `Spent`: what a session has used so far, kept up to date by its events.

use std::sync::{Arc, Mutex, PoisonError};

use rheon_types::event::Ledger;
use rheon_types::{AgentEvent, ContextEvent, Event, MicroUsd, ModelEvent, Usage};

/// What a session has used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens, of prompts and answers together.
    pub tokens: u64,
    /// Money, for the calls that have a price.
    pub cost: MicroUsd,
    /// Whether some calls have no known price.
    pub has_unknown: bool,
}

/// Counts what a session uses. Copies count together.
#[derive(Clone, Default)]
pub(super) struct Counter {
    spent: Arc<Mutex<Spent>>,
}

impl Counter {
    /// Goes on from what earlier runs used.
    pub(super) fn from(ledger: &Ledger) -> Self {
        let cost = MicroUsd(ledger.micro_usd.spent);
        let spent = Spent { tokens: ledger.tokens.spent, cost, has_unknown: false };
        Self { spent: Arc::new(Mutex::new(spent)) }
    }

    /// Takes in an event.
    pub(super) fn observe(&self, event: &Event) {
        match &event.kind {
            AgentEvent::Model(ModelEvent::End { usage, cost, .. })
            | AgentEvent::Context(ContextEvent::CompactionEnd { usage, cost, .. }) => {
                self.add(usage, *cost);
            }
            _ => {}
        }
    }

    fn add(&self, usage: &Usage, cost: Option<MicroUsd>) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.tokens = spent.tokens.saturating_add(usage.total());
        spent.cost = MicroUsd(spent.cost.0.saturating_add(cost.unwrap_or_default().0));
        spent.has_unknown |= cost.is_none() && usage.total() > 0;
    }

    pub(super) fn now(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
