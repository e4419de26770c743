//! `Markdown`: renders Markdown while it streams in. A word is shown once nothing that follows can change its meaning.
//! What was shown is never revised, and no word is left out.

mod inline;
mod line;
mod table;

use super::highlight::Highlighter;
use super::page::{Ink, Margin, Page};
use inline::{Span, settled, spans};
use line::Line;

/// A longer paragraph is written out and restarted, because it is parsed again with every word.
const PARAGRAPH_BYTES_MAX: usize = 4 * 1024;

/// A longer table is written out, and the rest follows below it.
const TABLE_LINES_MAX: usize = 200;

const RULE_COLUMNS: usize = 40;

/// Text with at least this indent that is not part of a list is left unformatted.
const VERBATIM_INDENT: usize = 4;

/// The state between two pieces of text.
#[derive(Default)]
pub(super) struct Markdown {
    /// The start of a line that is not shown yet.
    line: String,
    /// Whether the rest of the line belongs to the paragraph.
    flows: bool,
    block: Open,
    /// Whether an empty line comes before the next block.
    gap: bool,
    /// Whether indented text belongs to a list.
    in_list: bool,
    highlighter: Highlighter,
}

/// The open block.
#[derive(Default)]
enum Open {
    #[default]
    Nothing,
    Paragraph(Paragraph),
    Code {
        mark: char,
        length: usize,
    },
    Table(Vec<String>),
}

/// Running text: a paragraph, heading, list item or quote.
struct Paragraph {
    kind: Kind,
    /// The source without line prefixes.
    source: String,
    /// How much of the source is shown.
    done: usize,
    /// The text shown so far, without colors.
    shown: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Heading,
    Quote,
}

impl Markdown {
    /// Renders the next piece of text.
    pub(super) fn push(&mut self, text: &str, page: &mut Page) {
        for piece in text.split_inclusive('\n') {
            match piece.strip_suffix('\n') {
                Some(end) => {
                    self.take(end);
                    self.end_line(page);
                }
                None => {
                    self.take(piece);
                    self.begin_line(page);
                }
            }
        }
        if let Open::Paragraph(paragraph) = &mut self.block {
            paragraph.advance(page);
        }
    }

    /// Renders the rest. The next piece starts a new answer.
    pub(super) fn finish(&mut self, page: &mut Page) {
        if !self.flows && !self.line.is_empty() {
            self.end_line(page);
        }
        self.close(page);
        (self.flows, self.gap, self.in_list) = (false, false, false);
    }

    fn take(&mut self, piece: &str) {
        match &mut self.block {
            Open::Paragraph(paragraph) if self.flows => paragraph.source.push_str(piece),
            Open::Nothing | Open::Paragraph(_) | Open::Code { .. } | Open::Table(_) => {
                self.line.push_str(piece)
            }
        }
    }

    /// Renders an incomplete line if its kind is already clear.
    fn begin_line(&mut self, page: &mut Page) {
        if self.flows || matches!(self.block, Open::Code { .. }) {
            return;
        }
        let line = std::mem::take(&mut self.line);
        match Line::incomplete(&line) {
            Some(begun) => {
                self.add(&line, begun, page);
                self.flows = matches!(self.block, Open::Paragraph(_));
            }
            None => self.line = line,
        }
    }

    /// The line is complete.
    fn end_line(&mut self, page: &mut Page) {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_end_matches('\r');
        if let Open::Paragraph(paragraph) = &mut self.block {
            let end = paragraph.source.trim_end_matches('\r').len();
            paragraph.source.truncate(end);
        }
        if !std::mem::take(&mut self.flows) {
            let whole = Line::of(line);
            match (&self.block, &whole) {
                (Open::Code { mark, length }, Line::Fence(fence)) if fence.closes(*mark, *length) => {
                    page.write_verbatim(Ink::Dim, line);
                    page.end_line();
                    self.block = Open::Nothing;
                }
                (Open::Code { .. }, _) => self.code_line(line, page),
                (Open::Nothing | Open::Paragraph(_) | Open::Table(_), _) => self.add(line, whole, page),
            }
        }
        if matches!(&self.block, Open::Paragraph(paragraph) if paragraph.kind == Kind::Heading) {
            self.close(page);
        }
    }

    fn code_line(&mut self, line: &str, page: &mut Page) {
        for (ink, text) in self.highlighter.line(line) {
            page.write_verbatim(ink, text);
        }
        page.write_verbatim(Ink::Plain, "\n");
    }

    fn add(&mut self, whole: &str, line: Line<'_>, page: &mut Page) {
        match line {
            Line::Blank => {
                self.close(page);
                self.gap = true;
            }
            Line::Fence(fence) => {
                self.open(page);
                page.write_verbatim(Ink::Dim, whole);
                page.end_line();
                self.highlighter.begin(fence.info, page.style().colors);
                self.block = Open::Code { mark: fence.mark, length: fence.length };
            }
            Line::Rule => {
                self.open(page);
                page.write_verbatim(Ink::Dim, &"─".repeat(page.columns().min(RULE_COLUMNS)));
                page.end_line();
            }
            Line::Row => self.row(whole, page),
            Line::Heading { text } => {
                self.in_list = false;
                self.paragraph(Kind::Heading, Margin::even(""), text, page);
            }
            Line::Item { indent, marker, text } => {
                let bullet = if ["-", "*", "+"].contains(&marker) { "•" } else { marker };
                let before = format!("{}{bullet} ", " ".repeat(indent));
                let hang = " ".repeat(before.chars().count());
                self.in_list = true;
                self.paragraph(Kind::Text, Margin { first: &before, hang: &hang }, text, page);
            }
            Line::Quote { text } => match &mut self.block {
                Open::Paragraph(paragraph) if paragraph.kind == Kind::Quote => paragraph.go_on(text),
                Open::Nothing | Open::Paragraph(_) | Open::Code { .. } | Open::Table(_) => {
                    self.paragraph(Kind::Quote, Margin::even("│ "), text, page);
                }
            },
            Line::Text { indent, text } => self.text(whole, indent, text, page),
        }
    }

    fn text(&mut self, whole: &str, indent: usize, text: &str, page: &mut Page) {
        if let Open::Paragraph(paragraph) = &mut self.block {
            return paragraph.go_on(text);
        }
        self.in_list &= indent > 0;
        if indent >= VERBATIM_INDENT && !self.in_list {
            self.open(page);
            let mut paragraph = Paragraph::new(Kind::Text, whole);
            paragraph.show_rest(page);
            page.end_line();
            return;
        }
        let before = " ".repeat(indent);
        self.paragraph(Kind::Text, Margin::even(&before), text, page);
    }

    fn row(&mut self, whole: &str, page: &mut Page) {
        match &mut self.block {
            Open::Table(lines) if lines.len() < TABLE_LINES_MAX => lines.push(whole.to_owned()),
            Open::Nothing | Open::Paragraph(_) | Open::Code { .. } | Open::Table(_) => {
                self.open(page);
                self.block = Open::Table(vec![whole.to_owned()]);
            }
        }
    }

    fn paragraph(&mut self, kind: Kind, margin: Margin<'_>, text: &str, page: &mut Page) {
        self.open(page);
        page.hang(margin.hang);
        page.write(if kind == Kind::Quote { Ink::Dim } else { Ink::Plain }, margin.first);
        self.block = Open::Paragraph(Paragraph::new(kind, text));
    }

    /// Closes the open block and makes room for the next.
    fn open(&mut self, page: &mut Page) {
        self.close(page);
        if std::mem::take(&mut self.gap) {
            page.gap();
        }
    }

    fn close(&mut self, page: &mut Page) {
        match std::mem::take(&mut self.block) {
            Open::Nothing | Open::Code { .. } => {}
            Open::Paragraph(mut paragraph) => paragraph.show_rest(page),
            Open::Table(lines) => table::show(&lines, page),
        }
        page.hang("");
        page.end_line();
    }
}

impl Paragraph {
    fn new(kind: Kind, text: &str) -> Self {
        Self { kind, source: text.to_owned(), done: 0, shown: String::new() }
    }

    /// Adds a line.
    fn go_on(&mut self, text: &str) {
        self.source.push('\n');
        self.source.push_str(text);
    }

    /// Renders what can no longer change.
    fn advance(&mut self, page: &mut Page) {
        let end = settled(&self.source);
        if end > self.done {
            let shown = self.source.get(..end).and_then(spans);
            if shown.is_some_and(|spans| self.show(&spans, page)) {
                self.done = end;
            }
        }
        if self.source.len() > PARAGRAPH_BYTES_MAX {
            self.show_rest(page);
            *self = Self::new(self.kind, "");
        }
    }

    /// Renders the rest: formatted if it continues what is already shown, as written if not.
    fn show_rest(&mut self, page: &mut Page) {
        if spans(&self.source).is_some_and(|spans| self.show(&spans, page)) {
            return;
        }
        let rest = self.source.get(self.done..).unwrap_or_default().to_owned();
        self.write(&[Span::new(Ink::Plain, rest)], 0, page);
    }

    /// Renders the part of `spans` after what is already shown. Returns false if they start differently.
    fn show(&mut self, spans: &[Span], page: &mut Page) -> bool {
        let text: String = spans.iter().map(|span| span.text.as_str()).collect();
        let goes_on = text.starts_with(&self.shown);
        if goes_on {
            self.write(spans, self.shown.len(), page);
            self.shown = text;
        }
        goes_on
    }

    /// Writes the spans without their first `skipped` bytes.
    fn write(&self, spans: &[Span], mut skipped: usize, page: &mut Page) {
        for span in spans {
            let skip = skipped.min(span.text.len());
            skipped -= skip;
            let ink = match (self.kind, span.ink) {
                (Kind::Heading, Ink::Plain) => Ink::Bold,
                (Kind::Heading | Kind::Text | Kind::Quote, ink) => ink,
            };
            for (index, line) in span.text.get(skip..).unwrap_or_default().split('\n').enumerate() {
                if index > 0 {
                    page.break_line();
                }
                page.write(ink, line);
            }
        }
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
