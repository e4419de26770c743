//! `Outcome`: how a tool call ended, in one line, and the change it made.

use rheon_text::units::{bytes, count, duration, grouped};
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
    /// The lines of the output that say why a command failed.
    pub(super) lines: Vec<String>,
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
        let (ink, word, text, lines) = match exit_code {
            Some(0) => (Ink::Plain, "exit code 0".into(), Printed::of(result, &text).summary(), Vec::new()),
            Some(code) => {
                let printed = Printed::of(result, &text);
                let lines = printed.failing_lines();
                (Ink::Red, format!("exit code {code}"), printed.count(lines.len()), lines)
            }
            None => (Ink::Plain, String::new(), one_line(&text) + &size(&text), Vec::new()),
        };
        Self { ink, word, text, took, lines, change, change_rest }
    }

    /// The same with the output: the user typed the command to see it.
    pub(super) fn with_output(mut self, result: &ToolResult) -> Self {
        let text = result.as_text();
        if result.details.get("exit_code").and_then(Value::as_i64).is_some() {
            let printed = Printed::of(result, &text);
            self.lines = printed.last_lines(OUTPUT_LINES_MAX);
            self.text = printed.count(self.lines.len());
        }
        self
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
            lines: Vec::new(),
            change: Vec::new(),
            change_rest: 0,
        }
    }
}

/// The output of a command as the result has it: all of it, or its beginning and its end.
struct Printed<'a> {
    /// Without the last line, which tells the model the exit code.
    text: &'a str,
    is_cut: bool,
}

impl<'a> Printed<'a> {
    fn of(result: &ToolResult, text: &'a str) -> Self {
        let text = text.trim_end().rsplit_once('\n').map_or("", |(printed, _)| printed);
        let is_cut = result.details.get("truncated").and_then(Value::as_bool).unwrap_or_default();
        Self { text, is_cut }
    }

    /// How many lines there are, and the last one.
    fn summary(&self) -> String {
        match self.lines().filter(|line| !line.trim().is_empty()).count() {
            0 => " · no output".into(),
            1 => format!(" · {}", one_line(self.text)),
            _ => {
                let last = self.text.trim_end().rsplit('\n').next().unwrap_or_default();
                format!(" · {} · … {}", self.length(), one_line(last))
            }
        }
    }

    /// How many lines there are besides the `shown` ones.
    fn count(&self, shown: usize) -> String {
        let lines = self.lines().count();
        match lines.saturating_sub(shown) {
            _ if shown == 0 => " · no output".into(),
            0 if !self.is_cut => String::new(),
            _ => format!(" · {} of {} shown", grouped(shown as u64), self.length()),
        }
    }

    /// All lines, empty ones too. Of a cut output only a lower bound is known.
    fn length(&self) -> String {
        let at_least = if self.is_cut { "more than " } else { "" };
        format!("{at_least}{}{}", count(self.lines().count() as u64, "line"), size(self.text))
    }

    fn lines(&self) -> impl DoubleEndedIterator<Item = &'a str> {
        self.text.trim_end().lines()
    }

    /// The lines that name an error, and the last ones, in their order.
    fn failing_lines(&self) -> Vec<String> {
        let lines: Vec<&str> = self.lines().collect();
        let is_told = |line: &&str| !line.trim().is_empty();
        let mut wanted: Vec<usize> = Vec::new();
        let named = lines.iter().enumerate().filter(|(_, line)| is_told(line) && names_error(line));
        // The line behind one often says where it is.
        let with_next = named.flat_map(|(index, _)| [index, index + 1]).filter(|index| *index < lines.len());
        wanted.extend(with_next.take(ERROR_LINES_MAX));
        wanted.dedup();
        let last =
            lines.iter().enumerate().rev().filter(|(index, line)| is_told(line) && !wanted.contains(index));
        let rest: Vec<usize> = last.map(|(index, _)| index).take(FAILING_LINES_MAX - wanted.len()).collect();
        wanted.extend(rest);
        wanted.sort_unstable();
        wanted.into_iter().filter_map(|index| lines.get(index).map(|line| shown(line))).collect()
    }

    /// The last lines, all of them if there are few.
    fn last_lines(&self, lines_max: usize) -> Vec<String> {
        let mut lines: Vec<String> = self.lines().map(shown).collect();
        lines.split_off(lines.len().saturating_sub(lines_max))
    }
}

/// How many lines of a failed command are shown, and how many of them because they name an error.
const FAILING_LINES_MAX: usize = 8;
const ERROR_LINES_MAX: usize = 6;

/// How many lines of a typed command's output are shown.
const OUTPUT_LINES_MAX: usize = 100;

fn shown(line: &str) -> String {
    line.trim_end().replace('\t', "    ")
}

/// Words of lines that say what went wrong.
const ERROR_WORDS: [&str; 9] =
    ["error", "failed", "panicked", "fatal", "exception", "traceback", "assertion", "not found", "denied"];

fn names_error(line: &str) -> bool {
    let line = line.to_lowercase();
    // Counts such as "0 failed" are not failures.
    ERROR_WORDS.iter().any(|word| line.contains(word))
        && !line.contains("0 failed")
        && !line.contains("0 errors")
}

fn size(text: &str) -> String {
    if text.len() < SIZE_SHOWN_MIN { String::new() } else { format!(", {}", bytes(text.len() as u64)) }
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
