//! Ends a run: closes everything that is open, in order, and emits `agent.end`. Never waits, so that it also works for
//! a run that is dropped.

use std::sync::Arc;

use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, Author, Message, RunEnd, RunEvent, RunFailure, StopReason,
    ToolError, Usage,
};

use crate::approval;
use crate::live::Run;
use crate::step::{call, execute, intake, settle};

/// Ends the current turn, if any: its answer, model call and tool calls. Returns its usage.
pub(crate) fn close_turn(run: &mut Run, end: &RunEnd) -> Option<Usage> {
    let why = describe(end);
    if run.state.turn.as_ref()?.model_call.is_some() {
        call::end_message(run, StopReason::Aborted, Some(why.clone()));
        call::end_call(run);
    }
    approval::withdraw_questions(run);
    execute::refuse_open_calls(run, &ToolError::Cancelled(not_completed(end)));
    settle::enter_results(run);
    settle::end_turn(run)
}

/// Ends the run.
pub(crate) fn end_run(run: &mut Run, end: RunEnd) -> Arc<AgentOutput> {
    match &end {
        // The prompt itself was rejected.
        RunEnd::Rejected { .. } | RunEnd::Vetoed { .. } => {}
        RunEnd::Completed
        | RunEnd::Truncated
        | RunEnd::Limit { .. }
        | RunEnd::Stuck { .. }
        | RunEnd::Aborted
        | RunEnd::Failed { .. } => {
            intake::enter_prompts(run);
        }
    }
    if let RunEnd::Limit { message, .. } = &end {
        let note = limit_note(message);
        run.enter_now(|now| Message::note(note, now));
    }
    let output = Arc::new(output(run, end));
    run.hand_off();
    run.ending.complete(|| run.emit(AgentEvent::Run(RunEvent::End { output: Arc::clone(&output) })));
    output
}

/// The note about the limit that ended the run.
fn limit_note(message: &str) -> String {
    format!("[Agent stopped: {message}]")
}

/// The limit named in a [`limit_note`].
pub(crate) fn limit_in_note(note: &AgentMessage) -> Option<String> {
    let Some(Message::User(user)) = note.as_llm() else { return None };
    let text = note.as_llm().filter(|_| user.author == Author::Runtime)?.text();
    Some(text.strip_prefix("[Agent stopped: ")?.strip_suffix(']')?.to_owned())
}

fn output(run: &Run, end: RunEnd) -> AgentOutput {
    AgentOutput {
        messages: run.state.produced.clone(),
        text: run.state.last_text(),
        usage: run.state.usage,
        cost: run.state.bill.total(),
        turns: run.state.turns,
        end,
        structured: run.state.stops.structured.clone(),
        unfinished: run.state.stops.unfinished.clone(),
    }
}

/// What the model reads about a call that was open when the run ended.
pub(crate) fn not_completed(end: &RunEnd) -> String {
    format!("Not completed: {}.", describe(end))
}

fn describe(end: &RunEnd) -> String {
    match end {
        RunEnd::Completed | RunEnd::Truncated => "the run ended".into(),
        RunEnd::Limit { message, .. } | RunEnd::Vetoed { message, .. } | RunEnd::Stuck { message } => {
            message.clone()
        }
        RunEnd::Rejected { rejection } => rejection.clone(),
        RunEnd::Aborted => "the run was canceled".into(),
        RunEnd::Failed { failure } => failure.to_string(),
    }
}

impl Run {
    /// Ends a run whose future was dropped or whose code panicked.
    pub(crate) fn close(&mut self) {
        if self.ending.has_begun() {
            return;
        }
        if std::thread::panicking() {
            self.close_as_panicked("see the panic message on standard error");
        } else {
            let end = RunEnd::Aborted;
            close_turn(self, &end);
            end_run(self, end);
        }
    }

    /// Ends a run in which code panicked.
    pub(crate) fn close_as_panicked(&mut self, message: &str) -> Arc<AgentOutput> {
        let end = RunEnd::Failed { failure: RunFailure::Panic { message: message.into() } };
        if self.ending.has_begun() {
            // The last event is already emitted, so only the caller sees the failure.
            return Arc::new(output(self, end));
        }
        close_turn(self, &end);
        end_run(self, end)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.close();
    }
}
