//! `spans`: the styled words of a paragraph, and how much of an incomplete one is settled. Pure.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::super::page::Ink;

/// Put before the text while parsing, so that it is a paragraph however it starts.
const GUARD: &str = ". ";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) ink: Ink,
    pub(super) text: String,
}

impl Span {
    pub(super) fn new(ink: Ink, text: impl Into<String>) -> Self {
        Self { ink, text: text.into() }
    }
}

/// The styled text of a paragraph. `None` if it is not a paragraph, or if any word would be lost.
pub(super) fn spans(source: &str) -> Option<Vec<Span>> {
    let guarded = format!("{GUARD}{source}");
    let mut collected = Collector::default();
    for (event, range) in Parser::new_ext(&guarded, Options::ENABLE_STRIKETHROUGH).into_offset_iter() {
        match event {
            Event::Start(Tag::Paragraph) if !collected.spans.is_empty() => collected.push(Ink::Plain, "\n\n"),
            Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) => {}
            event => collected.add(event, guarded.get(range).unwrap_or_default())?,
        }
    }
    let spans = unguarded(collected.spans)?;
    let shown: String = spans.iter().map(|span| span.text.as_str()).collect();
    same_letters(&shown, source).then_some(spans)
}

/// Removes the guard.
fn unguarded(mut spans: Vec<Span>) -> Option<Vec<Span>> {
    let first = spans.first_mut()?;
    first.text =
        first.text.strip_prefix(GUARD).or_else(|| first.text.strip_prefix(GUARD.trim_end()))?.to_owned();
    Some(spans)
}

/// Whether both contain the same letters and digits in the same order: markup may be removed, words may not.
pub(super) fn same_letters(one: &str, other: &str) -> bool {
    one.chars().filter(|c| c.is_alphanumeric()).eq(other.chars().filter(|c| c.is_alphanumeric()))
}

/// Collects the spans of inline events.
#[derive(Default)]
pub(super) struct Collector {
    pub(super) spans: Vec<Span>,
    inks: Vec<Ink>,
    /// The targets of the open links.
    targets: Vec<String>,
}

impl Collector {
    /// Adds an inline event. `None` if the event is not inline.
    pub(super) fn add(&mut self, event: Event<'_>, source: &str) -> Option<()> {
        match event {
            Event::Text(text) => self.push(self.ink(), &text),
            Event::Code(code) => self.push(Ink::Cyan, &code),
            Event::InlineHtml(html) => self.push(self.ink(), &html),
            Event::SoftBreak | Event::HardBreak => self.push(Ink::Plain, "\n"),
            Event::Start(Tag::Emphasis) => self.inks.push(Ink::Italic),
            Event::Start(Tag::Strikethrough) => self.inks.push(Ink::Strike),
            Event::Start(Tag::Strong) => {
                self.inks.push(Ink::Bold);
                self.underscores(source);
            }
            Event::End(TagEnd::Strong) => {
                self.underscores(source);
                self.inks.pop();
            }
            Event::End(TagEnd::Emphasis | TagEnd::Strikethrough) => drop(self.inks.pop()),
            Event::Start(Tag::Link { dest_url, title, .. } | Tag::Image { dest_url, title, .. }) => {
                // An autolink in angle brackets is its own target.
                let is_bare = source.starts_with('<');
                let gap = if title.is_empty() { "" } else { " " };
                self.targets.push(if is_bare { String::new() } else { format!("{dest_url}{gap}{title}") });
                self.inks.push(Ink::Underline);
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                self.inks.pop();
                if let Some(target) = self.targets.pop().filter(|target| !target.is_empty()) {
                    self.push(Ink::Dim, &format!(" ({target})"));
                }
            }
            Event::Start(_)
            | Event::End(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::Html(_)
            | Event::FootnoteReference(_)
            | Event::Rule
            | Event::TaskListMarker(_) => return None,
        }
        Some(())
    }

    /// `__init__` is more often a name than emphasis, so keep its underscores.
    fn underscores(&mut self, source: &str) {
        if source.starts_with('_') {
            self.push(self.ink(), "__");
        }
    }

    fn ink(&self) -> Ink {
        self.inks.last().copied().unwrap_or(Ink::Plain)
    }

    fn push(&mut self, ink: Ink, text: &str) {
        match self.spans.last_mut() {
            Some(last) if last.ink == ink => last.text.push_str(text),
            Some(_) | None => self.spans.push(Span::new(ink, text)),
        }
    }
}

/// How many bytes of an incomplete text have a final meaning: up to the end of a word outside all open markup.
pub(super) fn settled(source: &str) -> usize {
    let mut scan = Scan { source, at: 0, before: ' ', open: Vec::new(), settled: 0 };
    while let Some(next) = scan.peek() {
        if scan.step(next).is_none() {
            break;
        }
    }
    scan.settled
}

/// Scans a text that may be incomplete.
struct Scan<'a> {
    source: &'a str,
    at: usize,
    before: char,
    /// Emphasis that is not closed yet.
    open: Vec<(char, usize)>,
    settled: usize,
}

impl Scan<'_> {
    fn rest(&self) -> &str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, bytes: usize) {
        let skipped = self.rest().get(..bytes).unwrap_or_default();
        self.before = skipped.chars().next_back().unwrap_or(self.before);
        self.at += bytes;
    }

    /// Skips what `next` starts. `None` if its end is still missing.
    fn step(&mut self, next: char) -> Option<()> {
        match next {
            blank if blank.is_whitespace() => {
                if self.open.is_empty() && !self.before.is_whitespace() {
                    self.settled = self.at;
                }
                self.skip(blank.len_utf8());
            }
            '\\' => self.skip(1 + self.rest().chars().nth(1)?.len_utf8()),
            '`' => self.code()?,
            '[' => self.link()?,
            '<' => self.angle()?,
            '*' | '_' | '~' => self.emphasis(next)?,
            other => self.skip(other.len_utf8()),
        }
        Some(())
    }

    /// Code ends with as many backticks as it starts with.
    fn code(&mut self) -> Option<()> {
        let run = self.run('`');
        let mut at = run;
        loop {
            let inside = self.rest().get(at..)?;
            at += inside.find('`')?;
            let close = self.rest().get(at..)?;
            let length = close.len() - close.trim_start_matches('`').len();
            at += length;
            if length == run && at < self.rest().len() {
                self.skip(at);
                return Some(());
            }
        }
    }

    fn link(&mut self) -> Option<()> {
        let text_end = self.rest().find(']')? + 1;
        let end = match self.rest().get(text_end..)?.chars().next()? {
            '(' => text_end + self.rest().get(text_end..)?.find(')')? + 1,
            _ => 1,
        };
        self.skip(end);
        Some(())
    }

    fn angle(&mut self) -> Option<()> {
        let after = self.rest().chars().nth(1)?;
        let end = if after.is_alphabetic() || after == '/' { self.rest().find('>')? + 1 } else { 1 };
        self.skip(end);
        Some(())
    }

    fn emphasis(&mut self, mark: char) -> Option<()> {
        let run = self.run(mark);
        let after = self.rest().get(run..)?.chars().next()?;
        let opens = !after.is_whitespace();
        let closes = !self.before.is_whitespace();
        let is_inside_word = mark == '_' && self.before.is_alphanumeric() && after.is_alphanumeric();
        let is_open = self.open.last() == Some(&(mark, run));
        match (opens, closes) {
            _ if is_inside_word => {}
            (_, true) if is_open => drop(self.open.pop()),
            (true, _) => self.open.push((mark, run)),
            (false, _) => {}
        }
        self.skip(run);
        Some(())
    }

    fn run(&self, mark: char) -> usize {
        self.rest().len() - self.rest().trim_start_matches(mark).len()
    }
}

#[cfg(test)]
#[path = "inline_tests.rs"]
mod tests;
