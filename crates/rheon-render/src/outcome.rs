//! `Outcome`: how a tool call ended, in one line, and the change it made.

use rheon_text::units::{bytes, count, duration};
use rheon_types::ToolResult;
use serde_json::Value;

use super::diff::{self, DiffLine};
use super::page::Ink;
use super::text::one_line;

const DIFF_LINES_MAX: usize = 40;

/// Show the size of a result from here on.
const SIZE_SHOWN_MIN: usize = 10_000;

/// How a call ended.
pub(super) struct Outcome {
    pub(super) ink: Ink,
    /// The first word, in color.
    pub(super) word: String,
    pub(super) text: String,
    pub(super) took: Option<String>,
    pub(super) change: Vec<DiffLine>,
    /// Lines of the change that are not shown.
    pub(super) change_rest: usize,
}

impl Outcome {
    /// The call ran.
    pub(super) fn of(result: &ToolResult, is_error: bool, duration_ms: u64) -> Self {
        let took = Some(duration(duration_ms));
        let text = result.as_text();
        if is_error {
            return Self { took, ..Self::bad("failed: ", &text) };
        }
        let exit_code = result.details.get("exit_code").and_then(Value::as_i64);
        let mut change =
            result.details.get("diff").and_then(Value::as_str).map(diff::lines).unwrap_or_default();
        let change_rest = change.len().saturating_sub(DIFF_LINES_MAX);
        change.truncate(DIFF_LINES_MAX);
        let (ink, word, text) = match exit_code {
            Some(code) => (Self::ink_of(code), format!("exit code {code}"), Self::printed(&text)),
            None => (Ink::Plain, String::new(), one_line(&text) + &Self::size(&text)),
        };
        Self { ink, word, text, took, change, change_rest }
    }

    /// The call did not run.
    pub(super) fn not_run(reason: &str) -> Self {
        Self::bad("not run: ", reason)
    }

    fn bad(word: &str, reason: &str) -> Self {
        Self {
            ink: Ink::Red,
            word: format!("{word}{}", one_line(reason)),
            text: String::new(),
            took: None,
            change: Vec::new(),
            change_rest: 0,
        }
    }

    fn ink_of(exit_code: i64) -> Ink {
        if exit_code == 0 { Ink::Plain } else { Ink::Red }
    }

    /// The output of a command, without the last line, which tells the model the exit code.
    fn printed(text: &str) -> String {
        let printed = text.trim_end().rsplit_once('\n').map_or("", |(printed, _)| printed);
        match printed.lines().filter(|line| !line.trim().is_empty()).count() {
            0 => " · no output".into(),
            1 => format!(" · {}", one_line(printed)),
            lines => {
                let last = printed.trim_end().rsplit('\n').next().unwrap_or_default();
                format!(" · {}{} · … {}", count(lines as u64, "line"), Self::size(printed), one_line(last))
            }
        }
    }

    fn size(text: &str) -> String {
        if text.len() < SIZE_SHOWN_MIN { String::new() } else { format!(", {}", bytes(text.len() as u64)) }
    }
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
