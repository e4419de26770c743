//! `Lesson`: something a session may have learned.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::failures::truncate;

/// The most characters of a call in a lesson.
const CALL_CHARS_MAX: usize = 160;

const SUBJECTS: [&str; 4] = ["command", "path", "file_path", "name"];

/// Something a session may have learned, in the words of what happened. It is a proposal until the user confirms it or
/// until it has helped again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    pub text: String,
    pub source: LessonSource,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LessonSource {
    Failure,
    Correction(Correction),
}

/// What the user objected to, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// The changes before the correction, in a readable form.
    pub changes: Vec<String>,
    /// The start of the user's message.
    pub quote: String,
}

/// Removes secrets from text before it is truncated and stored, because half a key does not look like a key. The
/// default removes nothing.
#[derive(Clone)]
pub struct LessonRedactor(Arc<Rule>);

type Rule = dyn Fn(&str) -> String + Send + Sync;

impl LessonRedactor {
    pub fn new(rule: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(rule))
    }

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

/// A readable form of a call.
pub(super) fn describe_call(tool: &str, arguments: &Value, redact: &LessonRedactor) -> String {
    let subject = SUBJECTS.iter().find_map(|key| arguments.get(key)?.as_str().map(|value| (*key, value)));
    let line = |text: &str| truncate(&redact.text(&one_line(text)), CALL_CHARS_MAX);
    match subject {
        Some(("command", command)) => format!("`{}`", line(command)),
        Some((_, value)) => format!("`{tool} {}`", line(value)),
        None => format!("`{}`", line(tool)),
    }
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
