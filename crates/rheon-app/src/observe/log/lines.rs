//! `Log`: the events of a session as log lines.

use std::sync::{Arc, Mutex};

use rheon_types::event::{PermissionDecision, Responder};
use rheon_types::{
    AgentEvent, AgentOutput, ApprovalEvent, BudgetEvent, ChildEvent, Clock, ContextEvent, Event, MicroUsd,
    ModelEvent, RunEnd, RunEvent, RunId, SessionEvent, SessionId, StopReason, ToolEvent, TurnEvent, Usage,
};
use tracing::dispatcher::with_default;
use tracing::level_filters::LevelFilter;
use tracing::{Dispatch, debug, error, info, trace, warn};

use super::file::DayFiles;
use super::redactor::Redactor;
use super::subscriber::LogSubscriber;
use crate::config::LogLevel;
use crate::observe::notify_once::Once;

/// The log of one session. Clones write to the same one.
///
/// Each session has its own subscriber, so that sessions of one process do not share a log and libraries do not write to it.
#[derive(Clone)]
pub(in crate::observe) struct Log {
    dispatch: Dispatch,
}

impl Log {
    /// A log in these files; none if the level is off.
    pub(in crate::observe) fn new(
        level: LogLevel,
        files: DayFiles,
        redactor: Redactor,
        clock: Arc<dyn Clock>,
        trouble: Once,
    ) -> Option<Self> {
        let level = match level {
            LogLevel::Off => return None,
            LogLevel::Error => LevelFilter::ERROR,
            LogLevel::Warn => LevelFilter::WARN,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Trace => LevelFilter::TRACE,
        };
        let files = Mutex::new(files);
        let dispatch = Dispatch::new(LogSubscriber { level, clock, redactor, files, trouble });
        Some(Self { dispatch })
    }

    /// A session is ready for prompts.
    pub(in crate::observe) fn opened(&self, session_id: &SessionId, model: &str, dir: &str) {
        with_default(&self.dispatch, || info!(session = %session_id, model, dir, "session opened"));
    }

    /// A session is over.
    pub(in crate::observe) fn closed(&self, session_id: &SessionId) {
        with_default(&self.dispatch, || info!(session = %session_id, "session closed"));
    }

    /// Something happened.
    pub(in crate::observe) fn observe(&self, event: &Event) {
        // Live events are frequent and are never logged.
        if !event.kind.is_durable() {
            return;
        }
        with_default(&self.dispatch, || say(event));
    }
}

/// The name of an event's run in the log.
fn run_text(event: &Event) -> &str {
    event.run_id.as_ref().map_or("-", RunId::as_str)
}

fn say(event: &Event) {
    let run = run_text(event);
    trace!(%run, seq = event.seq, "event {}", event.kind.name());
    match &event.kind {
        AgentEvent::Run(RunEvent::Start { model, .. }) => info!(%run, %model, "run began"),
        AgentEvent::Run(RunEvent::End { output }) => say_end(event, output),
        AgentEvent::Turn(TurnEvent::Start { turn_index, .. }) => {
            debug!(%run, turn = turn_index, "turn began")
        }
        AgentEvent::Turn(TurnEvent::End { turn_index, tool_results, .. }) => {
            info!(%run, turn = turn_index, tools = tool_results.len(), "turn over");
        }
        AgentEvent::Model(ModelEvent::Start { model, tokens_estimate, .. }) => {
            debug!(%run, %model, tokens = tokens_estimate, "model called");
        }
        AgentEvent::Model(ModelEvent::End {
            usage, stop_reason, cost, first_token_ms, duration_ms, ..
        }) => {
            say_answer(event, *usage, *stop_reason, *cost, *first_token_ms, *duration_ms);
        }
        AgentEvent::Tool(ToolEvent::Start { call_id, name, effect, .. }) => {
            debug!(%run, tool = %name, call = %call_id, ?effect, "tool began");
        }
        AgentEvent::Tool(ToolEvent::End { call_id, name, is_error, duration_ms, .. }) => {
            info!(%run, tool = %name, call = %call_id, outcome = outcome_word(*is_error), ms = duration_ms, "tool done");
        }
        // The reason may quote the command, so it is not logged.
        AgentEvent::Tool(ToolEvent::Blocked { call_id, name, .. }) => {
            info!(%run, tool = %name, call = %call_id, "tool blocked");
        }
        AgentEvent::Approval(ApprovalEvent::Required { request }) => {
            info!(%run, tool = %request.tool_name, call = %request.call_id, danger = ?request.danger, "approval asked for");
        }
        AgentEvent::Approval(ApprovalEvent::Resolved { decision, by, .. }) => {
            info!(%run, decision = decision_word(*decision), by = responder_word(*by), "approval answered");
        }
        AgentEvent::Model(ModelEvent::Retry { attempt, attempts_max, delay_ms, cause }) => {
            warn!(%run, attempt, attempts_max, delay_ms, "model call is tried again: {cause}");
        }
        AgentEvent::Model(ModelEvent::Recovered { attempts }) => {
            info!(%run, attempts, "model call recovered")
        }
        AgentEvent::Run(RunEvent::Hook { hook, point, veto, duration_ms, .. }) => {
            debug!(%run, hook, ?point, vetoed = veto.is_some(), ms = duration_ms, "hook ran");
        }
        AgentEvent::Run(RunEvent::Error { message }) => error!(%run, "{message}"),
        AgentEvent::Message(_) | AgentEvent::Tool(ToolEvent::Update { .. } | ToolEvent::Progress { .. }) => {}
        AgentEvent::Session(SessionEvent::Notice { notice }) => warn!("notice: {}", notice.message),
        AgentEvent::Session(SessionEvent::Model { model, .. }) => info!(%model, "model changed"),
        AgentEvent::Session(SessionEvent::Mode { mode }) => info!(%run, ?mode, "permission mode changed"),
        AgentEvent::Context(ContextEvent::CompactionEnd {
            messages_dropped,
            tokens_before,
            tokens_after,
            ..
        }) => {
            info!(%run, messages_dropped, tokens_before, tokens_after, "window made shorter");
        }
        AgentEvent::Budget(BudgetEvent::Warning { .. }) => warn!(%run, "budget nearly spent"),
        AgentEvent::Budget(BudgetEvent::Exceeded { .. }) => warn!(%run, "budget spent"),
        AgentEvent::Run(RunEvent::InputRejected { .. }) => warn!(%run, "input rejected"),
        AgentEvent::Child(ChildEvent::Start { child, .. }) => {
            info!(%run, child = %child.run_id, "sub-agent began")
        }
        AgentEvent::Child(ChildEvent::End { child, is_error, .. }) => {
            info!(%run, child = %child.run_id, outcome = outcome_word(*is_error), "sub-agent done");
        }
        _ => debug!(%run, "{}", event.kind.name()),
    }
}

fn say_answer(
    event: &Event,
    usage: Usage,
    stop_reason: StopReason,
    cost: Option<MicroUsd>,
    first_token_ms: Option<u64>,
    ms: u64,
) {
    let run = run_text(event);
    let Usage { input, output, cache_read, cache_write, .. } = usage;
    let (stop, cost) = (stop_word(stop_reason), price(cost));
    info!(%run, stop, input, cache_read, cache_write, output, cost, first_token_ms, ms, "model answered");
}

fn say_end(event: &Event, output: &AgentOutput) {
    let run = run_text(event);
    let AgentOutput { usage, cost, turns, .. } = output;
    let (tokens, cost) = (usage.total(), price(*cost));
    match &output.end {
        RunEnd::Completed => info!(%run, turns, tokens, cost, "run completed"),
        RunEnd::Truncated => warn!(%run, turns, tokens, cost, "run ended with an answer that was cut off"),
        RunEnd::Limit { limit, message } => warn!(%run, turns, tokens, cost, ?limit, "run ended: {message}"),
        RunEnd::Rejected { .. } => warn!(%run, "run ended: its prompt was rejected"),
        RunEnd::Vetoed { point, .. } => warn!(%run, turns, ?point, "run ended: a hook vetoed it"),
        RunEnd::Stuck { message } => warn!(%run, turns, tokens, cost, "run ended: {message}"),
        RunEnd::Aborted => info!(%run, turns, tokens, cost, "run cancelled"),
        RunEnd::Failed { failure } => error!(%run, turns, tokens, cost, "run failed: {failure}"),
    }
}

fn price(cost: Option<MicroUsd>) -> String {
    cost.map_or("unknown".into(), |cost| cost.to_string())
}

fn outcome_word(is_error: bool) -> &'static str {
    if is_error { "failed" } else { "ok" }
}

fn stop_word(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Stop => "stop",
        StopReason::Length => "length",
        StopReason::ToolUse => "tool_use",
        StopReason::Error => "error",
        StopReason::Aborted => "aborted",
    }
}

fn decision_word(decision: PermissionDecision) -> &'static str {
    match decision {
        PermissionDecision::Allow => "allow",
        PermissionDecision::Deny => "deny",
    }
}

fn responder_word(by: Responder) -> &'static str {
    match by {
        Responder::User => "user",
        Responder::Hook => "hook",
        Responder::NonInteractive => "non-interactive",
        Responder::Cancelled => "cancelled",
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
