//! `Resolutions`: lessons from calls that failed the same way more than once and then succeeded. Pure.

use std::collections::{HashSet, VecDeque};

use serde_json::Value;

use super::failures::{Failure, FailureKind, Failures, action, truncate};
use super::lesson::{Lesson, LessonRedactor, LessonSource, describe_call};

/// The most calls to look back at.
const CALLS_MAX: usize = 64;
/// The most pending lessons, and the most failures remembered as already reported.
const LESSONS_MAX: usize = 16;
/// How many failures make a lesson.
const FAILURES_MIN: usize = 2;
/// The most steps before a success that a lesson names.
const STEPS_MAX: usize = 3;
/// The most characters of a message that are quoted.
const MESSAGE_CHARS_MAX: usize = 160;

/// Tools that change nothing, so their calls cannot have fixed a failure.
const READ_ONLY_TOOLS: [&str; 13] = [
    "read",
    "list",
    "glob",
    "search",
    "todo",
    "ask_user",
    "plan",
    "skill",
    "memory",
    "bash_output",
    "bash_kill",
    "web_fetch",
    "web_search",
];

/// The recent calls of a session and the lessons drawn from them.
#[derive(Debug, Clone, Default)]
pub struct Resolutions {
    calls: VecDeque<PastCall>,
    lessons: VecDeque<Lesson>,
    /// Failures that already led to a lesson.
    reported: VecDeque<String>,
    redact: LessonRedactor,
}

#[derive(Debug, Clone)]
struct PastCall {
    action: String,
    description: String,
    outcome: CallOutcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallOutcome {
    Failed,
    /// The call succeeded and may have changed something.
    Changed,
    ReadOnly,
}

impl Resolutions {
    pub fn new() -> Self {
        Self::default()
    }

    /// Redacts all further lessons with `redact`.
    pub fn redact_with(&mut self, redact: LessonRedactor) {
        self.redact = redact;
    }

    pub fn record_failure(&mut self, tool: &str, arguments: &Value) {
        self.remember(tool, arguments, CallOutcome::Failed);
    }

    /// Records a successful call. `resolved` is the failure it resolves, and `failures` are those still open.
    pub fn record_success(
        &mut self,
        tool: &str,
        arguments: &Value,
        resolved: Option<&Failure>,
        failures: &Failures,
    ) {
        let lesson = match resolved {
            Some(failure) => self.lesson_from_steps(failure),
            None => self.lesson_from_variant(tool, arguments, failures),
        };
        if let Some((action, text)) = lesson
            && !self.reported.contains(&action)
        {
            push_bounded(&mut self.reported, action, LESSONS_MAX);
            push_bounded(&mut self.lessons, Lesson { text, source: LessonSource::Failure }, LESSONS_MAX);
        }
        let outcome =
            if READ_ONLY_TOOLS.contains(&tool) { CallOutcome::ReadOnly } else { CallOutcome::Changed };
        self.remember(tool, arguments, outcome);
    }

    /// The lessons since the last call.
    pub fn take_lessons(&mut self) -> Vec<Lesson> {
        self.lessons.drain(..).collect()
    }

    /// The failed call itself succeeded: the lesson names the changes made since it last failed. Without changes, it
    /// was chance.
    fn lesson_from_steps(&self, failure: &Failure) -> Option<(String, String)> {
        if failure.count < FAILURES_MIN {
            return None;
        }
        let is_failure =
            |call: &PastCall| call.outcome == CallOutcome::Failed && call.action == failure.action;
        let last = self.calls.iter().rposition(is_failure)?;
        let failed_call = self.calls.get(last)?;
        let changes = self.calls.iter().skip(last + 1).filter(|call| call.outcome == CallOutcome::Changed);
        let mut steps: Vec<&str> = Vec::new();
        for step in changes {
            steps.retain(|known| *known != step.description);
            steps.push(&step.description);
        }
        let steps = steps.get(steps.len().saturating_sub(STEPS_MAX)..).filter(|steps| !steps.is_empty())?;
        let text = format!(
            "{}: {} came before it worked.",
            self.condition(&failed_call.description, failure),
            steps.join(", then ")
        );
        Some((failure.action.clone(), text))
    }

    /// A similar command succeeded after failures that a different spelling can fix.
    fn lesson_from_variant(
        &self,
        tool: &str,
        arguments: &Value,
        failures: &Failures,
    ) -> Option<(String, String)> {
        arguments.get("command")?;
        let worked = describe_call(tool, arguments, &self.redact);
        let similar: Vec<(&Failure, &str)> = failures
            .open()
            .filter(|failure| matches!(failure.kind, FailureKind::NotFound | FailureKind::Malformed))
            .filter_map(|failure| Some((failure, self.description_of(&failure.action)?)))
            .filter(|(_, failed)| are_similar(failed, &worked))
            .collect();
        let (last, failed) = similar.last()?;
        let same_kind = similar.iter().filter(|(failure, _)| failure.kind == last.kind);
        if same_kind.map(|(failure, _)| failure.count).sum::<usize>() < FAILURES_MIN {
            return None;
        }
        Some((last.action.clone(), format!("{}: {worked} worked.", self.condition(failed, last))))
    }

    /// The readable form of the call with this action.
    fn description_of(&self, action: &str) -> Option<&str> {
        self.calls.iter().rfind(|call| call.action == action).map(|call| call.description.as_str())
    }

    fn remember(&mut self, tool: &str, arguments: &Value, outcome: CallOutcome) {
        let call = PastCall {
            action: action(tool, arguments),
            description: describe_call(tool, arguments, &self.redact),
            outcome,
        };
        push_bounded(&mut self.calls, call, CALLS_MAX);
    }

    fn condition(&self, failed: &str, failure: &Failure) -> String {
        let message = self.redact.text(failure.message.trim());
        format!("When {failed} fails with \"{}\"", truncate(&message, MESSAGE_CHARS_MAX))
    }
}

/// Whether two commands differ but share at least half of their words.
fn are_similar(one: &str, other: &str) -> bool {
    let words = |text: &str| text.split([' ', '`']).map(str::to_owned).collect::<HashSet<String>>();
    let (mut one, mut other) = (words(one), words(other));
    one.remove("");
    other.remove("");
    let common = one.intersection(&other).count();
    one != other && 2 * common >= one.union(&other).count()
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, count_max: usize) {
    if queue.len() == count_max {
        queue.pop_front();
    }
    queue.push_back(item);
}
