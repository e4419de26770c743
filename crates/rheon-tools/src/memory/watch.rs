//! `Watch`: the memory at work in a run. As a hook it warns of calls in circles, then asks, then refuses; as a reminder it tells
//! the model what keeps failing.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rheon_types::{
    Amendment, Answer, Flow, History, Hook, HookPermission, HookVerdict, Reminder, ReminderContext, ToolCall,
    ToolError, ToolResult,
};
use serde_json::{Value, json};

use super::circles::{CallCircles, CircleAdvice};
use super::failures::{Failure, Failures};
use super::lesson::{Lesson, Redact};
use super::resolutions::Resolutions;

/// A hook that remembers what was called and what came of it. Give it to an agent as a [`Reminder`] too: as long as something
/// keeps failing, each request says so once, at its end, and when it is mended nothing is left of it.
#[derive(Default)]
pub struct Watch {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    circles: CallCircles,
    failures: Failures,
    resolutions: Resolutions,
}

impl Watch {
    /// A watch that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// What failed and is not mended, oldest first.
    pub fn open_failures(&self) -> Vec<Failure> {
        self.state().failures.open().cloned().collect()
    }

    /// What was learnt from failures that were resolved since this was asked last.
    pub fn take_lessons(&self) -> Vec<Lesson> {
        self.state().resolutions.take()
    }

    /// From now on, what `redact` takes out is in no lesson.
    pub fn redact_with(&self, redact: Redact) {
        self.state().resolutions.redact_with(redact);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hook for Watch {
    fn name(&self) -> &str {
        "watch"
    }

    fn before_run<'a>(&'a self, _history: &'a History, _run_index: usize) -> Answer<'a, Flow> {
        // A run begins with something new, so that what looked like a circle may be meant.
        self.state().circles.reset();
        Answer::Now(Flow::Continue)
    }

    fn permit_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, HookPermission> {
        let permit = HookPermission::default();
        Answer::Now(match self.state().circles.advise(call.name.as_str(), &call.arguments) {
            CircleAdvice::Go => permit,
            CircleAdvice::Warn(said) => HookPermission { context: vec![said], ..permit },
            CircleAdvice::Ask(why) => HookPermission { verdict: Some(HookVerdict::Ask(why)), ..permit },
            CircleAdvice::Block(why) => HookPermission { verdict: Some(HookVerdict::Deny(why)), ..permit },
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
        state.circles.record(name, arguments, &text);
        let State { failures, resolutions, .. } = &mut *state;
        match (is_error, exit_code(result)) {
            (_, Some(code)) if code != 0 => {
                failures.exited(name, arguments, &text);
                resolutions.failed(name, arguments);
            }
            (true, _) => {
                failures.failed(name, arguments, &error_of(result, text));
                resolutions.failed(name, arguments);
            }
            (false, _) => {
                let mended = failures.succeeded(name, arguments);
                resolutions.succeeded(name, arguments, mended.as_ref(), failures);
            }
        }
        Answer::Now(Amendment::default())
    }

    fn tool_blocked(&self, call: &ToolCall, error: &ToolError) {
        let mut state = self.state();
        state.circles.record_refused(call.name.as_str(), &call.arguments, &error.to_string());
        state.failures.failed(call.name.as_str(), &call.arguments, error);
    }
}

impl Reminder for Watch {
    fn name(&self) -> &str {
        "failures"
    }

    fn remind(&self, _situation: &ReminderContext<'_>) -> Option<String> {
        self.state().failures.note()
    }
}

/// How a command ended, where the tool ran one. One that was stopped has no code, which is no success either.
fn exit_code(result: &ToolResult) -> Option<i64> {
    match result.details.get("exit_code")? {
        Value::Null => Some(-1),
        code => code.as_i64(),
    }
}

/// The error that a result tells of.
fn error_of(result: &ToolResult, text: String) -> ToolError {
    let kind = result.details.get("error").and_then(Value::as_str).unwrap_or("failed");
    serde_json::from_value(json!({ "kind": kind, "message": text })).unwrap_or(ToolError::Failed(text))
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
