//! `Drawing`: a text that is being typed, on a terminal: drawn again after every key. Gives text; whoever calls it writes it.

use rheon_text::inert;
use unicode_width::UnicodeWidthStr as _;

use super::editing::Unit;
use crate::terminal::Size;

/// Where the cursor was left.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    /// How wide the rows of the text are that are above the cursor, and what stands before it in its own.
    above: Vec<usize>,
    /// How many rows are below.
    below: usize,
}

/// Rows of cells, none wider than the terminal.
struct Rows {
    rows: Vec<String>,
    column: usize,
    columns: usize,
}

impl Rows {
    fn push(&mut self, shown: &str) {
        let width = shown.width();
        if self.column + width > self.columns {
            self.end();
        }
        if let Some(row) = self.rows.last_mut() {
            row.push_str(shown);
        }
        self.column += width;
    }

    fn end(&mut self) {
        self.rows.push(String::new());
        self.column = 0;
    }

    fn place(&self) -> (usize, usize) {
        (self.rows.len() - 1, self.column)
    }
}

impl Drawing {
    /// Draws `prompt` and the text in the place of what was drawn before.
    pub(super) fn draw(&mut self, prompt: &str, units: &[Unit], cursor: usize, size: Size) -> String {
        // The last column stays free: terminals differ in what they do when it is written to.
        let columns = size.columns.saturating_sub(1).max(1);
        let mut rows = Rows { rows: vec![String::new()], column: 0, columns };
        prompt.chars().for_each(|character| rows.push(character.encode_utf8(&mut [0; 4])));
        let mut at = rows.place();
        for (index, unit) in units.iter().enumerate() {
            match unit {
                Unit::Character('\n') => rows.end(),
                Unit::Character('\t') => rows.push("    "),
                Unit::Character(character) => rows.push(&inert(character.encode_utf8(&mut [0; 4]))),
                Unit::Paste(text) => {
                    let lines = text.lines().count();
                    let name = match lines {
                        0 | 1 => format!("[pasted: {} characters]", text.chars().count()),
                        _ => format!("[pasted: {lines} lines]"),
                    };
                    name.chars().for_each(|character| rows.push(character.encode_utf8(&mut [0; 4])));
                }
            }
            if index + 1 == cursor {
                at = rows.place();
            }
        }
        let shown_max = size.rows.saturating_sub(1).max(1);
        let first = (at.0 + 1).saturating_sub(shown_max);
        let shown: Vec<&str> = rows.rows.iter().skip(first).take(shown_max).map(String::as_str).collect();
        let mut text = self.hide(size);
        text.push_str(&shown.join("\r\n"));
        let above = at.0 - first;
        self.above = shown.iter().take(above).map(|row| row.width()).chain([at.1]).collect();
        self.below = shown.len().saturating_sub(above + 1);
        text.push_str(&up(self.below));
        text.push('\r');
        if at.1 > 0 {
            text.push_str(&format!("\x1b[{}C", at.1));
        }
        text
    }

    /// Takes away what is drawn, on a terminal that may have become narrower since: its rows are more of them now.
    pub(super) fn hide(&mut self, size: Size) -> String {
        let above = std::mem::take(&mut self.above);
        self.below = 0;
        let rows = above.iter().map(|width| width.div_ceil(size.columns.max(1)).max(1)).sum::<usize>();
        format!("{}\r\x1b[J", up(rows.saturating_sub(1)))
    }

    /// Leaves what is drawn and goes below it.
    pub(super) fn leave(&mut self) -> String {
        self.above.clear();
        "\r\n".repeat(std::mem::take(&mut self.below) + 1)
    }
}

fn up(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\x1b[{rows}A") }
}

#[cfg(test)]
#[path = "drawing_tests.rs"]
mod tests;
