//! `LoopGuard`: the hook that warns about repeated calls, then asks, then blocks them, and the reminder that lists
//! repeated failures.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rheon_types::{
    Amendment, Answer, Flow, History, Hook, Opinion, Permit, Reminder, Situation, ToolCall, ToolError,
    ToolResult,
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

#[derive(Default)]
struct State {
    repeats: RepeatDetector,
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
        self.state().repeats.reset();
        Answer::Now(Flow::Continue)
    }

    fn permit_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, Permit> {
        let permit = Permit::default();
        Answer::Now(match self.state().repeats.advise(call.name.as_str(), &call.arguments) {
            RepeatAdvice::Proceed => permit,
            RepeatAdvice::Warn(warning) => Permit { context: vec![warning], ..permit },
            RepeatAdvice::Ask(reason) => Permit { opinion: Some(Opinion::Ask(reason)), ..permit },
            RepeatAdvice::Block(reason) => Permit { opinion: Some(Opinion::Deny(reason)), ..permit },
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
        state.repeats.record_denied(call.name.as_str(), &call.arguments, &error.to_string());
        state.failures.record_error(call.name.as_str(), &call.arguments, error);
    }
}

impl Reminder for LoopGuard {
    fn name(&self) -> &str {
        "failures"
    }

    fn remind(&self, _situation: &Situation<'_>) -> Option<String> {
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
