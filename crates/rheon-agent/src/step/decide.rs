//! Step 7: decides between another turn and the end. Pure functions.

use std::time::Duration;

use rheon_types::{LimitKind, RunEnd, StopReason};

use crate::config::ExecutionLimits;
use crate::halt::out_of_time;

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunProgress {
    /// Turns started.
    pub turns: u32,
    /// Tokens of all turns.
    pub tokens: u64,
    /// Time since the run started, in milliseconds.
    pub elapsed_ms: u64,
    /// Whether the conversation ends with a message the model has to answer.
    pub expects_answer: bool,
    /// The number of queued messages.
    pub queued: usize,
    /// Why the model ended its last message.
    pub last_stop: Option<StopReason>,
}

/// The next step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStep {
    /// Another turn.
    Turn,
    /// The end, and why.
    Stop(RunEnd),
}

/// Decides what comes next. Queued messages stay in their queue when a limit ends the run.
pub fn decide(progress: &RunProgress, limits: &ExecutionLimits) -> NextStep {
    if !progress.expects_answer && progress.queued == 0 {
        return NextStep::Stop(match progress.last_stop {
            Some(StopReason::Length) => RunEnd::Truncated,
            Some(StopReason::Stop | StopReason::ToolUse | StopReason::Error | StopReason::Aborted) | None => {
                RunEnd::Completed
            }
        });
    }
    match limit_reached(progress, limits) {
        Some((limit, message)) => NextStep::Stop(RunEnd::Limit { limit, message }),
        None => NextStep::Turn,
    }
}

/// Whether another turn is within the limits.
pub(crate) fn may_continue(progress: &RunProgress, limits: &ExecutionLimits) -> bool {
    limit_reached(progress, limits).is_none()
}

fn limit_reached(progress: &RunProgress, limits: &ExecutionLimits) -> Option<(LimitKind, String)> {
    if let Some(limit) = limits.turns_max.filter(|limit| progress.turns >= *limit) {
        return Some((LimitKind::Turns, format!("the turn limit of {limit} was reached")));
    }
    if let Some(limit) = limits.tokens_max.filter(|limit| progress.tokens >= *limit) {
        let message = format!("the token limit of {limit} was reached ({} used)", progress.tokens);
        return Some((LimitKind::Tokens, message));
    }
    let elapsed = Duration::from_millis(progress.elapsed_ms);
    let limit = limits.duration_max.filter(|limit| elapsed >= *limit)?;
    Some((LimitKind::Duration, out_of_time(limit)))
}
