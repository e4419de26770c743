//! `Page`: text in blocks with an empty line between them, in colours where they are wanted. All text passes through it
//! and is made inert here, once.

use super::inert::inert;
use super::wrap::Wrap;

/// How to write to a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// Whether colours are wanted.
    pub(crate) colours: bool,
    /// How wide the lines may be that are made to fit.
    pub(crate) columns: usize,
    /// Whether running text is made to fit too. A file or another program gets it as it is.
    pub(crate) wraps: bool,
}

/// What a piece of text means; shown as a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    Dim,
    Bold,
    Red,
    Yellow,
    Cyan,
}

impl Ink {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Dim => Some("2"),
            Self::Bold => Some("1"),
            Self::Red => Some("31"),
            Self::Yellow => Some("33"),
            Self::Cyan => Some("36"),
        }
    }
}

/// What a piece of text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    Prompt,
    Thinking,
    Text,
    Calls,
    Note,
}

/// The text that is being written, and what it ends with.
pub(super) struct Page {
    style: Style,
    wrap: Wrap,
    block: Option<Block>,
    /// Line breaks at the end of all text so far; more than two do not matter.
    breaks: usize,
    /// What was written since it was last taken.
    fresh: String,
}

impl Page {
    pub(super) fn new(style: Style) -> Self {
        let wrap = Wrap::new(style.wraps.then_some(style.columns));
        Self { style, wrap, block: None, breaks: 2, fresh: String::new() }
    }

    pub(super) fn columns(&self) -> usize {
        self.style.columns
    }

    pub(super) fn is_in(&self, block: Block) -> bool {
        self.block == Some(block)
    }

    /// Goes on in `block`, or begins it below an empty line.
    pub(super) fn begin(&mut self, block: Block) {
        if !self.is_in(block) {
            self.end_line();
            if self.breaks < 2 {
                self.write(Ink::Plain, "\n");
            }
            self.block = Some(block);
        }
    }

    /// Writes `text`.
    pub(super) fn write(&mut self, ink: Ink, text: &str) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.fresh.push('\n');
                self.breaks += 1;
                self.wrap.line_break();
            }
            if !line.is_empty() {
                self.write_line(ink, line);
                self.breaks = 0;
            }
        }
    }

    /// Writes a piece of a line. It ends its own colour, so that a program that is killed leaves a clean terminal.
    fn write_line(&mut self, ink: Ink, line: &str) {
        let line = self.wrap.piece(&inert(line));
        match ink.code().filter(|_| self.style.colours && !line.is_empty()) {
            Some(code) => self.fresh.push_str(&format!("\x1b[{code}m{line}\x1b[0m")),
            None => self.fresh.push_str(&line),
        }
    }

    /// Ends the line, if one is begun.
    pub(super) fn end_line(&mut self) {
        if self.breaks == 0 {
            self.write(Ink::Plain, "\n");
        }
    }

    /// Ends the line and a block of running text: whatever comes next begins anew. Calls of several turns stay together.
    pub(super) fn end_block(&mut self) {
        self.end_line();
        if !self.is_in(Block::Calls) {
            self.block = None;
        }
    }

    /// What was written since this was last called.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.fresh)
    }
}
