//! The recorded budget: warns, pays and refuses as the budget did. What others drew on that budget is not in the log, but what
//! came of it for this run is.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rheon_types::event::{BudgetAmount, Ledger};
use rheon_types::{
    AgentEvent, Budget, BudgetEvent, Caps, Grant, LimitKind, ModelEvent, PlannedCall, Reservation, RunEnd,
    ToolEvent, TurnEvent,
};

use super::director::{Director, ScriptPosition};
use super::script::Script;
use crate::step::reserve::NOT_RUN;

/// Pays for calls as the recorded budget did.
#[derive(Clone)]
pub(super) struct RecordedBudget {
    pub(super) director: Arc<Director>,
}

impl Script {
    /// Whether the run had a budget that came into play.
    pub(super) fn has_budget(&self) -> bool {
        self.ends_out_of_budget()
            || self.kinds_from(0).any(|kind| {
                matches!(
                    kind,
                    AgentEvent::Model(ModelEvent::Start { reserved: Some(_), .. })
                        | AgentEvent::Budget(BudgetEvent::Warning { .. })
                        | AgentEvent::Budget(BudgetEvent::Exceeded { .. })
                )
            })
    }

    fn ends_out_of_budget(&self) -> bool {
        matches!(self.end, RunEnd::Limit { limit: LimitKind::Budget, .. })
    }

    /// Whether the model was told that the call before the event at `place` is the last one: then no tool ran, and the run
    /// ended with the turn, though nothing was refused. Where neither is in the log, it made no difference.
    fn is_last_call(&self, place: usize) -> bool {
        let is_not_run = |kind: &AgentEvent| matches!(kind, AgentEvent::Tool(ToolEvent::Blocked { reason, .. }) if reason == NOT_RUN);
        let goes_on = |kind: &AgentEvent| {
            matches!(
                kind,
                AgentEvent::Turn(TurnEvent::Start { .. }) | AgentEvent::Budget(BudgetEvent::Exceeded { .. })
            )
        };
        self.turn_from(place).any(is_not_run)
            || self.ends_out_of_budget() && !self.kinds_from(place).any(goes_on)
    }
}

impl Budget for RecordedBudget {
    fn should_warn(&self) -> bool {
        let kind = self.director.script.kind(self.director.next());
        matches!(kind, Some(AgentEvent::Budget(BudgetEvent::Warning { .. })))
    }

    fn ledger(&self) -> Ledger {
        match self.director.script.kind(self.director.next()) {
            Some(
                AgentEvent::Budget(BudgetEvent::Warning { ledger })
                | AgentEvent::Budget(BudgetEvent::Exceeded { ledger }),
            ) => **ledger,
            Some(_) | None => Ledger::default(),
        }
    }

    fn reserve(&self, planned: &PlannedCall) -> Grant {
        let place = match self.director.reached() {
            ScriptPosition::At(place) => place,
            ScriptPosition::PastEnd => self.director.script.recorded.said,
        };
        let script = &self.director.script;
        let reserved = match script.kind(place) {
            Some(AgentEvent::Budget(BudgetEvent::Exceeded { .. })) => return Grant::Nothing,
            // Nothing was refused and nothing was asked: no price was known.
            Some(AgentEvent::Turn(TurnEvent::End { message: None, .. })) if script.ends_out_of_budget() => {
                return Grant::NoPrice;
            }
            Some(AgentEvent::Model(ModelEvent::Start { reserved, .. })) => reserved.unwrap_or_default(),
            // What is set aside for another try is not told.
            Some(_) | None => BudgetAmount::default(),
        };
        Grant::Call {
            answer_tokens_max: planned.answer_tokens_max,
            reservation: Reservation::untracked(reserved),
            is_last: script.is_last_call(place),
        }
    }

    fn spend(&self, _spent: BudgetAmount) {}

    fn time_left(&self) -> Option<Duration> {
        None
    }

    fn share(&self, _caps: Caps) -> Arc<dyn Budget> {
        Arc::new(self.clone())
    }
}

impl fmt::Debug for RecordedBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecordedBudget")
    }
}
