//! `Lesson`: something that a session may have learnt.

use serde_json::Value;

use super::failures::beginning;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LessonSource {
    /// Failures that were resolved.
    Failure,
    /// A correction by the user.
    Correction,
}

/// A call as a person would name it.
pub(super) fn shown(tool: &str, arguments: &Value) -> String {
    let subject = SUBJECTS.iter().find_map(|key| arguments.get(key)?.as_str().map(|value| (*key, value)));
    let line = |text: &str| beginning(&one_line(text), CALL_CHARS_MAX);
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
