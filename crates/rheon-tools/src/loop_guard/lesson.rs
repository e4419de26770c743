//! `Lesson`: something that a session may have learnt.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::failures::truncate;

/// How much of a call is shown in a lesson.
const CALL_CHARS_MAX: usize = 160;

/// Arguments that say what a call is about.
const SUBJECTS: [&str; 4] = ["command", "path", "file_path", "name"];

/// Something that a session may have learnt: only what happened and what was said, in its own words. It is a proposal until the
/// user says so or until it has helped again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// What was learnt.
    pub text: String,
    /// What it was learnt from.
    pub source: LessonSource,
}

/// What a lesson was learnt from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LessonSource {
    /// Failures that were resolved.
    Failure,
    /// A correction by the user.
    Correction(Correction),
}

/// What the user said against what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// The changes that came before, as a person would name them.
    pub changes: Vec<String>,
    /// The beginning of what the user said.
    pub quote: String,
}

/// Takes secrets out of a text, before it is cut and kept: half a key does not look like one. Without a rule of its own it takes
/// out nothing.
#[derive(Clone)]
pub struct LessonRedactor(Arc<Rule>);

type Rule = dyn Fn(&str) -> String + Send + Sync;

impl LessonRedactor {
    /// Takes out what `rule` takes out.
    pub fn new(rule: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(rule))
    }

    /// `text` without secrets.
    pub fn text(&self, text: &str) -> String {
        (self.0)(text)
    }
}

impl Default for LessonRedactor {
    fn default() -> Self {
        Self::new(str::to_owned)
    }
}

impl fmt::Debug for LessonRedactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LessonRedactor").finish_non_exhaustive()
    }
}

/// A call as a person would name it.
pub(super) fn describe_call(tool: &str, arguments: &Value, redact: &LessonRedactor) -> String {
    let subject = SUBJECTS.iter().find_map(|key| arguments.get(key)?.as_str().map(|value| (*key, value)));
    let line = |text: &str| truncate(&redact.text(&one_line(text)), CALL_CHARS_MAX);
    match subject {
        Some(("command", command)) => format!("`{}`", line(command)),
        Some((_, value)) => format!("`{tool} {}`", line(value)),
        None => format!("`{}`", line(tool)),
    }
}

/// `text` on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
