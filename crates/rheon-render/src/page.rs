//! `Page`: text in blocks separated by an empty line, with colors if enabled. All text passes through it, and is made
//! safe for terminals here, once.

use super::rendered_text::{RenderedText, Stream};
use super::wrap::Wrap;
use rheon_text::inert;

/// How to write to a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextStyle {
    pub colors: bool,
    /// The width to fit lines to.
    pub columns: usize,
    /// Whether it is a terminal, so that running text is wrapped. A file or another program gets it unwrapped.
    pub wraps: bool,
    /// Whether Markdown is formatted. Requires colors.
    pub formats: bool,
}

impl TextStyle {
    /// Whether the spinner, title and notifications are shown.
    pub fn is_animated(self) -> bool {
        self.colors && self.wraps
    }
}

/// What stands at the left of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Margin<'a> {
    /// Before its first line.
    pub(super) first: &'a str,
    /// Before the lines that it is broken into.
    pub(super) hang: &'a str,
}

impl<'a> Margin<'a> {
    /// The same before every line.
    pub(super) fn even(before: &'a str) -> Self {
        Self { first: before, hang: before }
    }
}

/// What a piece of text means; shown as a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    Dim,
    Bold,
    Italic,
    Underline,
    Strike,
    Red,
    Green,
    Yellow,
    Magenta,
    Cyan,
}

impl Ink {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Bold => Some("1"),
            Self::Dim => Some("2"),
            Self::Italic => Some("3"),
            Self::Underline => Some("4"),
            Self::Strike => Some("9"),
            Self::Red => Some("31"),
            Self::Green => Some("32"),
            Self::Yellow => Some("33"),
            Self::Magenta => Some("35"),
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
    Question,
    Note,
}

/// Which block goes to which stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    All(Stream),
    /// The answer to standard output and the rest to standard error; both are the same screen.
    Split,
}

impl Route {
    fn stream(self, block: Option<Block>) -> Stream {
        match (self, block) {
            (Self::All(stream), _) => stream,
            (Self::Split, Some(Block::Text)) => Stream::Stdout,
            (
                Self::Split,
                Some(Block::Prompt | Block::Thinking | Block::Calls | Block::Question | Block::Note) | None,
            ) => Stream::Stderr,
        }
    }
}

/// The text being written, and how it ends so far.
pub(super) struct Page {
    style: TextStyle,
    route: Route,
    wrap: Wrap,
    block: Option<Block>,
    /// Trailing line breaks; counts up to two.
    breaks: usize,
    /// Written since the last [`Self::take`].
    fresh: RenderedText,
}

impl Page {
    pub(super) fn new(style: TextStyle, route: Route) -> Self {
        let wrap = Wrap::new(style.wraps.then_some(style.columns));
        Self { style, route, wrap, block: None, breaks: 2, fresh: RenderedText::default() }
    }

    pub(super) fn style(&self) -> TextStyle {
        self.style
    }

    pub(super) fn columns(&self) -> usize {
        self.style.columns
    }

    pub(super) fn is_in(&self, block: Block) -> bool {
        self.block == Some(block)
    }

    pub(super) fn is_at_line_start(&self) -> bool {
        self.breaks > 0
    }

    /// Continues `block`, or starts it after an empty line.
    pub(super) fn begin(&mut self, block: Block) {
        if !self.is_in(block) {
            self.end_line();
            self.block = Some(block);
            self.gap();
        }
    }

    /// Ensures an empty line before the next text.
    pub(super) fn gap(&mut self) {
        self.end_line();
        if self.breaks < 2 {
            self.write(Ink::Plain, "\n");
        }
    }

    /// Sets the prefix of wrapped lines.
    pub(super) fn hang(&mut self, before: &str) {
        self.wrap.hang(before);
    }

    pub(super) fn write(&mut self, ink: Ink, text: &str) {
        self.write_lines(text, |page, line| {
            let line = page.wrap.piece(&inert(line));
            page.put(ink, &line);
        });
    }

    /// Breaks the line inside a paragraph. The next line starts with the prefix.
    pub(super) fn break_line(&mut self) {
        self.put(Ink::Plain, "\n");
        let before = self.wrap.break_line();
        self.put(Ink::Dim, &before);
        self.breaks = 0;
    }

    /// Writes `text` without wrapping it, so that it can be copied unchanged.
    pub(super) fn write_verbatim(&mut self, ink: Ink, text: &str) {
        self.write_lines(text, |page, line| page.put(ink, &inert(line)));
    }

    fn write_lines(&mut self, text: &str, mut write: impl FnMut(&mut Self, &str)) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.put(Ink::Plain, "\n");
                self.breaks += 1;
                self.wrap.line_break();
            }
            if !line.is_empty() {
                write(self, line);
                self.breaks = 0;
            }
        }
    }

    /// Writes a piece of a line. Each piece resets its own color, so that a killed program leaves the terminal clean.
    fn put(&mut self, ink: Ink, text: &str) {
        let stream = self.route.stream(self.block);
        match ink.code().filter(|_| self.style.colors && !text.is_empty()) {
            Some(code) => self.fresh.push(stream, &format!("\x1b[{code}m{text}\x1b[0m")),
            None => self.fresh.push(stream, text),
        }
    }

    /// Ends the current line, if any.
    pub(super) fn end_line(&mut self) {
        if self.breaks == 0 {
            self.write(Ink::Plain, "\n");
        }
    }

    /// Ends the line and a block of running text, so that the next text starts a new block. Calls of several turns stay
    /// together.
    pub(super) fn end_block(&mut self) {
        self.end_line();
        if !self.is_in(Block::Calls) {
            self.block = None;
        }
    }

    /// Returns what was written since the last call.
    pub(super) fn take(&mut self) -> RenderedText {
        std::mem::take(&mut self.fresh)
    }
}
