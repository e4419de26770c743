//! `Wrap`: wraps running text between words, so that the terminal does not wrap inside them. Works piece by piece.

use super::text::width;

const TAB_COLUMNS: usize = 8;

/// The position in the current line.
pub(super) struct Wrap {
    /// The line width; unlimited if `None`.
    columns: Option<usize>,
    column: usize,
    /// Blanks to write once a word follows on the same line.
    blanks: String,
    /// The prefix of wrapped lines.
    hang: String,
}

impl Wrap {
    pub(super) fn new(columns: Option<usize>) -> Self {
        Self { columns, column: 0, blanks: String::new(), hang: String::new() }
    }

    /// Wraps the next piece of a line, which contains no line breaks. A word split over several pieces is not delayed:
    /// if a later piece crosses the edge, the terminal wraps it there.
    pub(super) fn piece(&mut self, text: &str) -> String {
        let Some(columns) = self.columns else { return text.to_owned() };
        let mut wrapped = String::with_capacity(text.len());
        for part in text.split_inclusive(is_blank) {
            let word = part.trim_end_matches(is_blank);
            if !word.is_empty() {
                self.place(word, columns, &mut wrapped);
            }
            // A gap as wide as the line wraps anyway, so no more of it is needed.
            if self.blanks.len() < columns {
                self.blanks.extend(part.chars().next_back().filter(|c| is_blank(*c)));
            }
        }
        wrapped
    }

    /// A line break in the text itself.
    pub(super) fn line_break(&mut self) {
        self.column = 0;
        self.blanks.clear();
    }

    /// Breaks the line inside a paragraph and returns the prefix of the next line.
    pub(super) fn break_line(&mut self) -> String {
        self.line_break();
        self.column = width(&self.hang);
        self.hang.clone()
    }

    /// Sets the prefix of wrapped lines. A prefix wider than half the line is ignored.
    pub(super) fn hang(&mut self, before: &str) {
        self.hang.clear();
        if self.columns.is_none_or(|columns| width(before) * 2 <= columns) {
            self.hang.push_str(before);
        }
    }

    fn place(&mut self, word: &str, columns: usize, wrapped: &mut String) {
        let blanks = std::mem::take(&mut self.blanks);
        let gap: usize = blanks.chars().map(|c| if c == '\t' { TAB_COLUMNS } else { 1 }).sum();
        let is_over = self.column + gap + width(word) > columns;
        if is_over && self.column > 0 && gap > 0 {
            wrapped.push('\n');
            wrapped.push_str(&self.hang);
            self.column = width(&self.hang);
        } else {
            wrapped.push_str(&blanks);
            self.column += gap;
        }
        wrapped.push_str(word);
        self.column += width(word);
    }
}

fn is_blank(character: char) -> bool {
    character == ' ' || character == '\t'
}

#[cfg(test)]
#[path = "wrap_tests.rs"]
mod tests;
