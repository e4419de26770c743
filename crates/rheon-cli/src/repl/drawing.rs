//! `Drawing`: draws the line being typed after every key. Returns text for the caller to write.

use rheon_text::inert;
use unicode_width::UnicodeWidthStr as _;

use super::editing::Unit;
use crate::terminal::Size;

/// The position of the cursor after the last drawing.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    /// Widths of the rows above the cursor, and of the text before it in its own row.
    above: Vec<usize>,
    /// Rows below the cursor.
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
    /// Replaces the last drawing with `prompt` and the text.
    pub(super) fn draw(&mut self, prompt: &str, units: &[Unit], cursor: usize, size: Size) -> String {
        // The last column stays empty: terminals differ in how they wrap there.
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

    /// Erases the drawing, also if the terminal became narrower and rows wrapped.
    pub(super) fn hide(&mut self, size: Size) -> String {
        let above = std::mem::take(&mut self.above);
        self.below = 0;
        let rows = above.iter().map(|width| width.div_ceil(size.columns.max(1)).max(1)).sum::<usize>();
        format!("{}\r\x1b[J", up(rows.saturating_sub(1)))
    }

    /// Moves below the drawing and keeps it.
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
