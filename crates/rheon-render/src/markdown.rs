//! `Markdown`: an answer that is still being written, shown as it comes. Words are shown once nothing that follows can
//! change what they mean; what was shown is never shown differently; no word is ever left out.

mod inline;
mod line;
mod table;

use super::highlight::Highlighter;
use super::page::{Ink, Page};
use inline::{Span, settled, spans};
use line::Line;

/// From this size on a paragraph is shown as it is and begun anew: it is parsed again with every word.
const PARAGRAPH_BYTES_MAX: usize = 4 * 1024;

/// From this many lines on a table is shown, and what follows stands below it.
const TABLE_LINES_MAX: usize = 200;

/// How long the line is that is drawn between two parts.
const RULE_COLUMNS: usize = 40;

/// An indent from which on text that is no part of a list is left as it is.
const VERBATIM_INDENT: usize = 4;

/// The state between two pieces of an answer.
#[derive(Default)]
pub(super) struct Markdown {
    /// The beginning of a line that is not shown yet.
    line: String,
    /// Whether the rest of the line belongs to the paragraph.
    flows: bool,
    block: Open,
    /// Whether an empty line comes before whatever is next.
    gap: bool,
    /// Whether indented text belongs to a list.
    in_list: bool,
    highlighter: Highlighter,
}

/// What is open.
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

/// Running text: a paragraph, a heading, a list item, a quotation.
struct Paragraph {
    kind: Kind,
    /// All of it, without what stands before its lines.
    source: String,
    /// How much of the source is shown.
    done: usize,
    /// What of it was shown, without colors.
    shown: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Heading,
    Quote,
}

impl Markdown {
    /// Shows what `text` adds.
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

    /// Shows all that was held back; what comes next is another answer.
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

    /// The end of the line is not there yet: shows it if it is clear what it is.
    fn begin_line(&mut self, page: &mut Page) {
        if self.flows || matches!(self.block, Open::Code { .. }) {
            return;
        }
        let line = std::mem::take(&mut self.line);
        match Line::begun(&line) {
            Some(begun) => {
                self.add(&line, begun, page);
                self.flows = matches!(self.block, Open::Paragraph(_));
            }
            None => self.line = line,
        }
    }

    /// The line is whole.
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
                self.paragraph(Kind::Heading, ("", ""), text, page);
            }
            Line::Item { indent, marker, text } => {
                let bullet = if ["-", "*", "+"].contains(&marker) { "•" } else { marker };
                let before = format!("{}{bullet} ", " ".repeat(indent));
                let hang = " ".repeat(before.chars().count());
                self.in_list = true;
                self.paragraph(Kind::Text, (&before, &hang), text, page);
            }
            Line::Quote { text } => match &mut self.block {
                Open::Paragraph(paragraph) if paragraph.kind == Kind::Quote => paragraph.go_on(text),
                Open::Nothing | Open::Paragraph(_) | Open::Code { .. } | Open::Table(_) => {
                    self.paragraph(Kind::Quote, ("│ ", "│ "), text, page);
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
        self.paragraph(Kind::Text, (&before, &before), text, page);
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

    fn paragraph(&mut self, kind: Kind, (before, hang): (&str, &str), text: &str, page: &mut Page) {
        self.open(page);
        page.hang(hang);
        page.write(if kind == Kind::Quote { Ink::Dim } else { Ink::Plain }, before);
        self.block = Open::Paragraph(Paragraph::new(kind, text));
    }

    /// Ends what is open and makes room for something new.
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

    /// Another line of it.
    fn go_on(&mut self, text: &str) {
        self.source.push('\n');
        self.source.push_str(text);
    }

    /// Shows what is settled.
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

    /// Shows all that is left: formatted if it goes on with what is shown already, as it was written if not.
    fn show_rest(&mut self, page: &mut Page) {
        if spans(&self.source).is_some_and(|spans| self.show(&spans, page)) {
            return;
        }
        let rest = self.source.get(self.done..).unwrap_or_default().to_owned();
        self.write(&[Span::new(Ink::Plain, rest)], 0, page);
    }

    /// Shows what follows in `spans` what is shown already; not if they begin in another way.
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
