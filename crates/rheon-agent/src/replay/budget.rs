//! The recorded budget: warns, grants and refuses as recorded. The log does not contain the spending of other agents,
//! but it contains the effects on this run.

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

/// Replays the recorded budget.
#[derive(Clone)]
pub(super) struct RecordedBudget {
    pub(super) director: Arc<Director>,
}

impl Script {
    /// Whether a budget affected the run.
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

    /// Whether the call before the event at `place` was marked as the last one: then no tool ran and the run ended with
    /// the turn, although nothing was refused. If neither is in the log, it made no difference.
    fn is_last_call(&self, place: usize) -> bool {
        let is_not_run = |kind: &AgentEvent| matches!(kind, AgentEvent::Tool(ToolEvent::Blocked { reason, .. }) if reason == NOT_RUN);
        let continues = |kind: &AgentEvent| {
            matches!(
                kind,
                AgentEvent::Turn(TurnEvent::Start { .. }) | AgentEvent::Budget(BudgetEvent::Exceeded { .. })
            )
        };
        self.turn_from(place).any(is_not_run)
            || self.ends_out_of_budget() && !self.kinds_from(place).any(continues)
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
            ScriptPosition::PastEnd => self.director.script.recorded.produced,
        };
        let script = &self.director.script;
        let reserved = match script.kind(place) {
            Some(AgentEvent::Budget(BudgetEvent::Exceeded { .. })) => return Grant::Nothing,
            // Nothing was refused or requested: the price was unknown.
            Some(AgentEvent::Turn(TurnEvent::End { message: None, .. })) if script.ends_out_of_budget() => {
                return Grant::NoPrice;
            }
            Some(AgentEvent::Model(ModelEvent::Start { reserved, .. })) => reserved.unwrap_or_default(),
            // The reservation of a retry is not in the log.
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
