//! `Wrap`: breaks running text between words, so that a terminal does not break it inside them. Sees text piece by piece.

use super::text::width;

/// How wide a tab may be.
const TAB_COLUMNS: usize = 8;

/// Where the text stands in its line.
pub(super) struct Wrap {
    /// How wide lines may be; any width if absent.
    columns: Option<usize>,
    column: usize,
    /// Blanks that are written once a word follows on the same line.
    blanks: String,
    /// What stands before the lines that a long line is broken into.
    hang: String,
}

impl Wrap {
    pub(super) fn new(columns: Option<usize>) -> Self {
        Self { columns, column: 0, blanks: String::new(), hang: String::new() }
    }

    /// The next piece of a line, which has no line break of its own. A word that comes in several pieces is not held back:
    /// if only a later piece goes beyond the edge, the terminal breaks it there.
    pub(super) fn piece(&mut self, text: &str) -> String {
        let Some(columns) = self.columns else { return text.to_owned() };
        let mut wrapped = String::with_capacity(text.len());
        for part in text.split_inclusive(is_blank) {
            let word = part.trim_end_matches(is_blank);
            if !word.is_empty() {
                self.place(word, columns, &mut wrapped);
            }
            // A gap as wide as the line ends it anyway, so no more of it need be kept.
            if self.blanks.len() < columns {
                self.blanks.extend(part.chars().next_back().filter(|c| is_blank(*c)));
            }
        }
        wrapped
    }

    /// A line break of the text itself.
    pub(super) fn line_break(&mut self) {
        self.column = 0;
        self.blanks.clear();
    }

    /// A line break inside a paragraph; gives what stands before the next line.
    pub(super) fn break_line(&mut self) -> String {
        self.line_break();
        self.column = width(&self.hang);
        self.hang.clone()
    }

    /// What stands before the lines that a long line is broken into, from now on. One that takes half of the line is none.
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
