//! Reserves the maximum cost of a call before it is made.

use std::sync::Arc;

use rheon_types::{AgentEvent, BudgetEvent, Content, Grant, ModelInfo, PlannedCall, Request, ToolChoice};

use crate::halt::Halt;
use crate::live::Run;
use crate::reservation::PendingReservation;

/// The note to the model when this is the last call the budget can pay for.
const WRAP_UP: &str = include_str!("wrap_up.md");

/// Adapts the request to the budget: its answer may be shorter, and it may be the last. Stops the run if nothing is
/// left.
pub(crate) fn reserve(run: &mut Run, mut request: Request) -> Result<Request, Halt> {
    let Some(budget) = run.budget.clone() else { return Ok(request) };
    let planned = planned(run, &request);
    if budget.should_warn() {
        run.emit(AgentEvent::Budget(BudgetEvent::Warning { ledger: Arc::new(budget.ledger()) }));
    }
    match budget.reserve(&planned) {
        Grant::Call { answer_tokens_max, reservation, is_last } => {
            request.tokens_max = Some(answer_tokens_max);
            if is_last && !run.state.stops.is_wrapping_up {
                request.tool_choice = ToolChoice::None;
                request.reminder = Some(match request.reminder.take() {
                    Some(earlier) => format!("{earlier}\n\n{}", WRAP_UP.trim_end()).into(),
                    None => WRAP_UP.trim_end().into(),
                });
                run.state.stops.is_wrapping_up = true;
            }
            run.reservation = Some(PendingReservation::new(reservation));
            Ok(request)
        }
        Grant::Nothing => {
            let ledger = Arc::new(budget.ledger());
            run.emit(AgentEvent::Budget(BudgetEvent::Exceeded { ledger }));
            Err(Halt::OutOfBudget(SPENT.into()))
        }
        Grant::NoPrice => Err(Halt::OutOfBudget(format!(
            "the price of {} is unknown, so a cost budget cannot be enforced; set a token budget too",
            run.config.settings.model
        ))),
    }
}

/// The message for a run that the budget ended.
pub(crate) const SPENT: &str = "the budget is spent";

/// What the model reads about calls in its last affordable answer.
pub(crate) const NOT_RUN: &str = "not run: the budget is spent";

/// The expected number of prompt tokens, with the note of the last call.
fn prompt_tokens(run: &Run) -> u64 {
    let note_tokens = run.meter.written(&[Content::text(WRAP_UP)]);
    run.meter.tokens().saturating_add(note_tokens)
}

fn planned(run: &Run, request: &Request) -> PlannedCall {
    let model = &run.config.settings.model;
    let info = run.config.provider.describe(model);
    let answer = info.as_ref().map_or(ModelInfo::OUTPUT_TOKENS_UNKNOWN, |info| info.output_tokens_max);
    PlannedCall {
        prompt_tokens: prompt_tokens(run),
        cached_tokens: run.meter.cached_tokens(),
        answer_tokens_max: request.tokens_max.map_or(answer, |requested| requested.min(answer)),
        prices: info.and_then(|info| info.prices),
        is_first: run.state.turns <= 1,
    }
}
