//! Parses a unified diff into numbered lines. Pure.

use super::page::Ink;
use rheon_text::visible_block;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiffLine {
    pub(super) ink: Ink,
    /// The line number in the new file, or in the old one for a removed line; `None` between hunks.
    pub(super) number: Option<u64>,
    pub(super) text: String,
}

/// The lines of `diff` without its header, because the file is named elsewhere. Text that is not a diff is shown
/// unchanged.
pub(super) fn lines(diff: &str) -> Vec<DiffLine> {
    let mut numbers: Option<Numbers> = None;
    let mut lines = Vec::new();
    for line in diff.lines() {
        let part = Numbers::of(line);
        match (&mut numbers, part) {
            (before, Some(part)) => {
                if before.is_some() {
                    lines.push(DiffLine { ink: Ink::Dim, number: None, text: "⋮".into() });
                }
                numbers = Some(part);
            }
            (None, None) if line.starts_with("--- ") || line.starts_with("+++ ") => {}
            (None, None) => lines.push(DiffLine { ink: Ink::Plain, number: None, text: visible_block(line) }),
            (Some(numbers), None) => lines.push(numbers.line(line)),
        }
    }
    lines
}

/// The current line numbers in a hunk.
struct Numbers {
    before: u64,
    after: u64,
}

impl Numbers {
    /// Parses `@@ -3,4 +3,5 @@`.
    fn of(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("@@ -")?.split([',', ' ', '+']).filter(|word| !word.is_empty());
        let before = words.next()?.parse().ok()?;
        let after = line.split(" +").nth(1)?.split([',', ' ']).next()?.parse().ok()?;
        Some(Self { before, after })
    }

    fn line(&mut self, line: &str) -> DiffLine {
        let (ink, number) = match line.chars().next() {
            Some('+') => (Ink::Green, Some(&mut self.after)),
            Some('-') => (Ink::Red, Some(&mut self.before)),
            // For example "No newline at end of file".
            Some('\\') => (Ink::Dim, None),
            Some(_) | None => {
                self.before += 1;
                (Ink::Dim, Some(&mut self.after))
            }
        };
        let number = number.map(|number| {
            *number += 1;
            *number - 1
        });
        DiffLine { ink, number, text: visible_block(line) }
    }
}

/// The line number, or blanks of the same width.
pub(super) fn gutter(number: Option<u64>) -> String {
    match number {
        Some(number) => format!("{number:>5} "),
        None => " ".repeat(6),
    }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
