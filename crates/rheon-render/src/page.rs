//! `Page`: text in blocks with an empty line between them, in colors where they are wanted. All text passes through it
//! and is made inert here, once.

use super::rendered_text::{RenderedText, Stream};
use super::wrap::Wrap;
use rheon_text::inert;

/// How to write to a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextStyle {
    /// Whether colors are wanted.
    pub colors: bool,
    /// How wide the lines may be that are made to fit.
    pub columns: usize,
    /// Whether it is a terminal, where running text is made to fit too. A file or another program gets it as it is.
    pub wraps: bool,
    /// Whether Markdown is shown formatted; needs colors.
    pub formats: bool,
}

impl TextStyle {
    /// Whether things may move: spinner, title, notification.
    pub fn is_animated(self) -> bool {
        self.colors && self.wraps
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
    /// All to one.
    All(Stream),
    /// The answer to standard output, all else to standard error; both are the same screen.
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

/// The text that is being written, and what it ends with.
pub(super) struct Page {
    style: TextStyle,
    route: Route,
    wrap: Wrap,
    block: Option<Block>,
    /// Line breaks at the end of all text so far; more than two do not matter.
    breaks: usize,
    /// What was written since it was last taken.
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

    /// Whether nothing stands in the line yet.
    pub(super) fn is_at_line_start(&self) -> bool {
        self.breaks > 0
    }

    /// Goes on in `block`, or begins it below an empty line.
    pub(super) fn begin(&mut self, block: Block) {
        if !self.is_in(block) {
            self.end_line();
            self.block = Some(block);
            self.gap();
        }
    }

    /// Makes sure that an empty line stands above what comes next.
    pub(super) fn gap(&mut self) {
        self.end_line();
        if self.breaks < 2 {
            self.write(Ink::Plain, "\n");
        }
    }

    /// What stands before the lines that a long line is broken into.
    pub(super) fn hang(&mut self, before: &str) {
        self.wrap.hang(before);
    }

    /// Writes `text`.
    pub(super) fn write(&mut self, ink: Ink, text: &str) {
        self.write_lines(text, |page, line| {
            let line = page.wrap.piece(&inert(line));
            page.put(ink, &line);
        });
    }

    /// A line break inside a paragraph: the next line begins with what hangs.
    pub(super) fn break_line(&mut self) {
        self.put(Ink::Plain, "\n");
        let before = self.wrap.break_line();
        self.put(Ink::Dim, &before);
        self.breaks = 0;
    }

    /// Writes `text` without breaking its lines: what is copied must be what was written.
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

    /// Puts down a piece of a line. It ends its own colour, so that a program that is killed leaves a clean terminal.
    fn put(&mut self, ink: Ink, text: &str) {
        let stream = self.route.stream(self.block);
        match ink.code().filter(|_| self.style.colors && !text.is_empty()) {
            Some(code) => self.fresh.push(stream, &format!("\x1b[{code}m{text}\x1b[0m")),
            None => self.fresh.push(stream, text),
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
    pub(super) fn take(&mut self) -> RenderedText {
        std::mem::take(&mut self.fresh)
    }
}
