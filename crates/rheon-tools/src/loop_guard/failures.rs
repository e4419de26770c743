//! `Failures`: calls that failed and have not succeeded since, with a suggestion for each.

use std::collections::VecDeque;

use rheon_types::ToolError;
use serde_json::Value;

use super::normal_form::normal_form;

/// The most failures that are tracked, and the most that one reminder lists.
const FAILURES_MAX: usize = 16;
const NOTE_FAILURES_MAX: usize = 5;
/// The length of an action and of a message in a reminder, which is sent with every request.
const NOTE_ACTION_CHARS_MAX: usize = 120;
const NOTE_MESSAGE_CHARS_MAX: usize = 160;
/// The length of an action and of a message that is stored.
const ACTION_CHARS_MAX: usize = 200;
const MESSAGE_CHARS_MAX: usize = 400;

/// A call that failed and has not succeeded since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The call in its normal form.
    pub action: String,
    pub kind: FailureKind,
    /// The start of the error message.
    pub message: String,
    /// How many times in a row it failed with the same kind of error.
    pub count: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    NotFound,
    Forbidden,
    Malformed,
    TimedOut,
    Network,
    /// The file is not what the model expects.
    Stale,
    /// A command with a non-zero exit code.
    Exit,
    Other,
}

/// Phrases that identify the kind of a failure if the error itself does not.
const KEYWORDS: [(FailureKind, &[&str]); 6] = [
    (
        FailureKind::Forbidden,
        &["permission denied", "operation not permitted", "read-only file system", "eacces"],
    ),
    (FailureKind::TimedOut, &["timed out", "timeout", "deadline exceeded"]),
    (
        FailureKind::Network,
        &["could not resolve", "network is unreachable", "connection refused", "connection reset"],
    ),
    (FailureKind::NotFound, &["no such file", "not found", "cannot find", "does not exist", "enoent"]),
    (FailureKind::Stale, &["changed since", "not been read", "occurs more than once", "is not in the file"]),
    (
        FailureKind::Malformed,
        &["syntax error", "parse error", "invalid argument", "unexpected token", "usage:"],
    ),
];

impl FailureKind {
    /// Advice for the model.
    pub fn suggestion(self) -> &'static str {
        match self {
            Self::NotFound => "check what exists before you name it",
            Self::Forbidden => "do it another way, or tell the user what permission is missing",
            Self::Malformed => "read the message, fix the arguments and try once more",
            Self::TimedOut => "do less at once, or run it in the background",
            Self::Network => "there may be no network; work without it or tell the user",
            Self::Stale => "read the file again before you change it",
            Self::Exit => "read its output, fix the cause, then run it again",
            Self::Other => "try something else, or tell the user",
        }
    }

    fn of(error: &ToolError) -> Self {
        match error {
            ToolError::NotFound(_) => Self::NotFound,
            ToolError::Denied(_) => Self::Forbidden,
            ToolError::InvalidArgs(_) => Self::Malformed,
            ToolError::TimedOut(_) => Self::TimedOut,
            ToolError::Failed(message) => Self::from_message(message).unwrap_or(Self::Other),
            ToolError::Cancelled(_) | ToolError::Panicked(_) | ToolError::Fatal(_) => Self::Other,
        }
    }

    fn from_message(message: &str) -> Option<Self> {
        let text = message.to_lowercase();
        KEYWORDS
            .iter()
            .find(|(_, keywords)| keywords.iter().any(|keyword| text.contains(keyword)))
            .map(|(kind, _)| *kind)
    }
}

/// The recent failures of a run.
#[derive(Debug, Clone, Default)]
pub struct Failures {
    /// Ordered by last failure.
    open: VecDeque<Failure>,
}

impl Failures {
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a failed call. A cancelled call is not a failure.
    pub fn record_error(&mut self, tool: &str, arguments: &Value, error: &ToolError) {
        match error {
            ToolError::Cancelled(_) => {}
            ToolError::Failed(message)
            | ToolError::NotFound(message)
            | ToolError::InvalidArgs(message)
            | ToolError::Denied(message)
            | ToolError::TimedOut(message)
            | ToolError::Panicked(message)
            | ToolError::Fatal(message) => self.add(tool, arguments, FailureKind::of(error), message),
        }
    }

    /// Records a command with a non-zero exit code.
    pub fn record_exit(&mut self, tool: &str, arguments: &Value, output: &str) {
        self.add(tool, arguments, FailureKind::from_message(output).unwrap_or(FailureKind::Exit), output);
    }

    /// Records a successful call, and returns the failure it resolves.
    pub fn record_success(&mut self, tool: &str, arguments: &Value) -> Option<Failure> {
        let action = action(tool, arguments);
        let index = self.open.iter().position(|failure| failure.action == action)?;
        self.open.remove(index)
    }

    /// Unresolved failures, oldest first.
    pub fn open(&self) -> impl Iterator<Item = &Failure> {
        self.open.iter()
    }

    /// A reminder for the model of repeated failures, latest last. A first failure is left out, because the model has
    /// just read its result.
    pub fn note(&self) -> Option<String> {
        let repeated: Vec<&Failure> = self.open.iter().filter(|failure| failure.count > 1).collect();
        let latest = repeated.get(repeated.len().saturating_sub(NOTE_FAILURES_MAX)..).unwrap_or_default();
        if latest.is_empty() {
            return None;
        }
        let lines = latest.iter().map(|Failure { action, kind, message, count }| {
            let (action, message) =
                (truncate(action, NOTE_ACTION_CHARS_MAX), truncate(message, NOTE_MESSAGE_CHARS_MAX));
            format!("- {action} (failed {count} times: {message}); {}", kind.suggestion())
        });
        Some(format!("These calls keep failing:\n{}", lines.collect::<Vec<_>>().join("\n")))
    }

    fn add(&mut self, tool: &str, arguments: &Value, kind: FailureKind, message: &str) {
        let action = action(tool, arguments);
        let message = truncate(message.lines().next().unwrap_or_default(), MESSAGE_CHARS_MAX);
        let known = self.open.iter().position(|failure| failure.action == action);
        let known = known.and_then(|index| self.open.remove(index));
        let count = known.filter(|known| known.kind == kind).map_or(1, |known| known.count + 1);
        if self.open.len() == FAILURES_MAX {
            self.open.pop_front();
        }
        self.open.push_back(Failure { action, kind, message, count });
    }
}

/// How failures identify a call.
pub(super) fn action(tool: &str, arguments: &Value) -> String {
    truncate(&normal_form(tool, arguments), ACTION_CHARS_MAX)
}

/// The first `chars_max` characters of `text`.
pub(super) fn truncate(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_kind_comes_from_the_error_or_its_message() {
        let mut failures = Failures::new();
        let errors = [
            ToolError::Failed("bash: foo: command not found".into()),
            ToolError::Failed("open /x: Permission denied".into()),
            ToolError::Failed("curl: (6) Could not resolve host".into()),
            ToolError::Failed("the file has changed since it was read".into()),
            ToolError::InvalidArgs("no path".into()),
            ToolError::Denied("no".into()),
            ToolError::TimedOut("120 s".into()),
            ToolError::Cancelled("stop".into()),
            ToolError::Failed("strange".into()),
        ];
        for (index, error) in errors.iter().enumerate() {
            failures.record_error("t", &json!({ "n": index }), error);
        }
        failures.record_exit("bash", &json!({"command": "make"}), "make: *** [all] Error 2\nmore");
        let lines: Vec<String> = failures
            .open()
            .map(|failure| format!("{} {:?} {}", failure.action, failure.kind, failure.message))
            .collect();
        expect![[r#"
            t n=0 NotFound bash: foo: command not found
            t n=1 Forbidden open /x: Permission denied
            t n=2 Network curl: (6) Could not resolve host
            t n=3 Stale the file has changed since it was read
            t n=4 Malformed no path
            t n=5 Forbidden no
            t n=6 TimedOut 120 s
            t n=8 Other strange
            bash command=make Exit make: *** [all] Error 2"#]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn a_repeated_failure_is_noted_until_it_is_resolved() {
        let mut failures = Failures::new();
        let call = json!({"command": "cargo test"});
        failures.record_exit("bash", &call, "error[E0425]");
        assert_eq!(failures.note(), None);
        failures.record_exit("bash", &call, "error[E0425]");
        expect![[r#"
            These calls keep failing:
            - bash command=cargo test (failed 2 times: error[E0425]); read its output, fix the cause, then run it again"#]].assert_eq(&failures.note().unwrap_or_default());
        failures.record_exit("bash", &call, "error[E0425]");
        assert!(failures.note().is_some_and(|note| note.contains("failed 3 times")));
        assert_eq!(failures.record_success("bash", &call).map(|failure| failure.count), Some(3));
        assert_eq!(failures.note(), None);
        assert_eq!((failures.open().count(), failures.record_success("bash", &call)), (0, None));
        failures.record_exit("bash", &call, "again");
        failures.record_exit("bash", &call, "again");
        assert!(failures.note().is_some());
    }

    #[test]
    fn the_note_lists_the_five_latest_failures_and_is_bounded() {
        let mut failures = Failures::new();
        let command = |index: usize| json!({"command": format!("{index} {}", "\u{10000}".repeat(500))});
        for index in [0, 1, 2, 3, 4, 5, 6, 7, 0, 7, 6, 5, 4, 3, 2, 1, 0] {
            failures.record_exit("bash", &command(index), &"\u{10000}".repeat(5_000));
        }
        let note = failures.note().unwrap_or_default();
        let heads: Vec<&str> = note.lines().filter_map(|line| line.get(..16)).collect();
        assert_eq!(
            heads.join("\n"),
            "These calls keep\n- bash command=4\n- bash command=3\n- bash command=2\n- bash command=1\n\
             - bash command=0"
        );
        assert!(note.len() < 7 * 1024, "{}", note.len());
    }

    #[test]
    fn only_the_latest_failures_are_stored_and_long_ones_are_truncated() {
        let mut failures = Failures::new();
        for index in 0..40 {
            failures.record_exit(
                "bash",
                &json!({"command": format!("{index} {}", "ü".repeat(1_000))}),
                &"ä".repeat(5_000),
            );
        }
        assert_eq!(failures.open().count(), FAILURES_MAX);
        assert!(failures.open().all(|failure| failure.action.chars().count() <= ACTION_CHARS_MAX + 3));
        assert!(failures.open().all(|failure| failure.message.chars().count() <= MESSAGE_CHARS_MAX + 3));
    }
}
