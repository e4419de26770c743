//! `LoopGuard`: the hook that warns about repeated calls, then asks, then blocks them and at last stops the run, and the
//! reminder that lists repeated failures.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rheon_types::{
    Amendment, Answer, Flow, History, Hook, HookPermission, HookVerdict, Reminder, ReminderContext, ToolCall,
    ToolError, ToolResult,
};
use serde_json::{Value, json};

use super::failures::{Failure, Failures};
use super::lesson::{Lesson, LessonRedactor};
use super::repeat_detector::{RepeatAdvice, RepeatDetector};
use super::resolutions::Resolutions;

/// A hook that tracks calls and their results. Also add it to the agent as a [`Reminder`]: each request then ends with
/// the list of calls that keep failing, as long as there are any.
#[derive(Default)]
pub struct LoopGuard {
    state: Mutex<State>,
}

/// How many calls in a row may be blocked as repetitions before the run is stopped.
const BLOCKED_MAX: u32 = 8;

#[derive(Default)]
struct State {
    repeats: RepeatDetector,
    /// The repeated calls that were blocked since a call last ran.
    blocked: u32,
    failures: Failures,
    resolutions: Resolutions,
}

impl LoopGuard {
    pub fn new() -> Self {
        Self::default()
    }

    /// Unresolved failures, oldest first.
    pub fn open_failures(&self) -> Vec<Failure> {
        self.state().failures.open().cloned().collect()
    }

    /// The lessons from failures resolved since the last call.
    pub fn take_lessons(&self) -> Vec<Lesson> {
        self.state().resolutions.take_lessons()
    }

    /// Redacts all further lessons with `redact`.
    pub fn redact_with(&self, redact: LessonRedactor) {
        self.state().resolutions.redact_with(redact);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hook for LoopGuard {
    fn name(&self) -> &str {
        "loop_guard"
    }

    fn before_run<'a>(&'a self, _history: &'a History, _run_index: usize) -> Answer<'a, Flow> {
        // A run starts with a new user message, so a repetition may be intended.
        let mut state = self.state();
        state.repeats.reset();
        state.blocked = 0;
        Answer::Now(Flow::Continue)
    }

    fn before_turn<'a>(&'a self, _history: &'a History, _turn_index: u32) -> Answer<'a, Flow> {
        let blocked = self.state().blocked;
        if blocked < BLOCKED_MAX {
            return Answer::Now(Flow::Continue);
        }
        let message = format!("the model repeats itself: {blocked} repeated calls in a row were blocked");
        Answer::Now(Flow::Stuck(message))
    }

    fn permit_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, HookPermission> {
        let permit = HookPermission::default();
        Answer::Now(match self.state().repeats.advise(call.name.as_str(), &call.arguments) {
            RepeatAdvice::Proceed => permit,
            RepeatAdvice::Warn(warning) => HookPermission { context: vec![warning], ..permit },
            RepeatAdvice::Ask(reason) => HookPermission { verdict: Some(HookVerdict::Ask(reason)), ..permit },
            RepeatAdvice::Block(reason) => {
                HookPermission { verdict: Some(HookVerdict::Deny(reason)), ..permit }
            }
        })
    }

    fn after_tool<'a>(
        &'a self,
        call: &'a ToolCall,
        result: &'a ToolResult,
        is_error: bool,
    ) -> Answer<'a, Amendment> {
        let (name, arguments, text) = (call.name.as_str(), &*call.arguments, result.as_text());
        let mut state = self.state();
        state.repeats.record(name, arguments, &text);
        state.blocked = 0;
        let State { failures, resolutions, .. } = &mut *state;
        match (is_error, exit_code(result)) {
            (_, Some(code)) if code != 0 => {
                failures.record_exit(name, arguments, &text);
                resolutions.record_failure(name, arguments);
            }
            (true, _) => {
                failures.record_error(name, arguments, &error_of(result, text));
                resolutions.record_failure(name, arguments);
            }
            (false, _) => {
                let resolved = failures.record_success(name, arguments);
                resolutions.record_success(name, arguments, resolved.as_ref(), failures);
            }
        }
        Answer::Now(Amendment::default())
    }

    fn tool_blocked(&self, call: &ToolCall, error: &ToolError) {
        let mut state = self.state();
        // Rules, a missing tool or invalid arguments block calls too, and a model may repeat those as well.
        if let RepeatAdvice::Block(_) = state.repeats.advise(call.name.as_str(), &call.arguments) {
            state.blocked += 1;
        }
        state.repeats.record_denied(call.name.as_str(), &call.arguments, &error.to_string());
        state.failures.record_error(call.name.as_str(), &call.arguments, error);
    }
}

impl Reminder for LoopGuard {
    fn name(&self) -> &str {
        "failures"
    }

    fn remind(&self, _situation: &ReminderContext<'_>) -> Option<String> {
        self.state().failures.note()
    }
}

/// The exit code of a command, if the tool ran one. A command that was stopped has no code and counts as failed.
fn exit_code(result: &ToolResult) -> Option<i64> {
    match result.details.get("exit_code")? {
        Value::Null => Some(-1),
        code => code.as_i64(),
    }
}

/// The error in a result.
fn error_of(result: &ToolResult, text: String) -> ToolError {
    let kind = result.details.get("error").and_then(Value::as_str).unwrap_or("failed");
    serde_json::from_value(json!({ "kind": kind, "message": text })).unwrap_or(ToolError::Failed(text))
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
