//! `Template`: the parsed text of a command. Pure: it reads no files and runs nothing.

use std::path::PathBuf;

use crate::commands::command::Numbering;

/// One part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptPart {
    Text(String),
    /// The content of a file, to be read through the gate. If the file does not exist, the literal text `@path` was
    /// meant.
    File(PathBuf),
    Command(String),
}

/// The parsed text of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub(super) pieces: Vec<Piece>,
}

/// A part before arguments are filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(Vec<Span>),
    File(Vec<Span>),
    Command(Vec<Span>),
}

/// A piece of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Span {
    Plain(String),
    All,
    /// One argument, numbered from zero.
    One(usize),
}

/// Punctuation that ends a sentence, not a path.
const PUNCTUATION: [char; 9] = [',', '.', ';', ':', '!', '?', ')', ']', '"'];

impl Template {
    pub fn parse(text: &str, numbering: Numbering) -> Self {
        let mut parser = Parser { numbering, pieces: Vec::new(), plain: String::new(), text: Vec::new() };
        let mut fence = None;
        for line in text.split_inclusive('\n') {
            let was_fenced = fence.is_some();
            fence = fence_after(fence, line);
            if was_fenced || fence.is_some() {
                parser.fenced(line);
            } else {
                parser.prose(line);
            }
        }
        parser.finish()
    }
}

/// What a block of code stands between.
#[derive(Clone, Copy)]
struct Fence {
    sign: char,
    /// How many of the sign.
    count: usize,
}

/// The fence that is open after `line`, if one is.
fn fence_after(open: Option<Fence>, line: &str) -> Option<Fence> {
    let line = line.trim();
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'));
    let count = line.chars().take_while(|one| Some(*one) == sign).count();
    match (open, sign) {
        (None, Some(sign)) if count >= 3 => Some(Fence { sign, count }),
        // Only signs close a fence, and at least as many as opened it.
        (Some(opened), Some(sign))
            if sign == opened.sign && count >= opened.count && count == line.chars().count() =>
        {
            None
        }
        (open, _) => open,
    }
}

struct Parser {
    numbering: Numbering,
    pieces: Vec<Piece>,
    plain: String,
    text: Vec<Span>,
}

impl Parser {
    fn fenced(&mut self, line: &str) {
        let mut rest = line;
        while let Some(step) = self.step(rest) {
            rest = step;
        }
    }

    fn prose(&mut self, line: &str) {
        let mut rest = line;
        let mut before = None;
        while let Some(character) = rest.chars().next() {
            let is_start = before.is_none_or(|one: char| one.is_whitespace() || one == '(');
            before = Some(character);
            if let Some(after) = escaped(rest) {
                self.plain.push_str(rest.get(1..rest.len() - after.len()).unwrap_or_default());
                rest = after;
            } else if let Some((line, after)) = command(rest).filter(|_| is_start) {
                let spans = self.spans(line);
                self.piece(Piece::Command(spans));
                rest = after;
            } else if let Some((path, after)) = file(rest).filter(|_| is_start) {
                let spans = self.spans(path);
                self.piece(Piece::File(spans));
                rest = after;
            } else {
                let Some(after) = self.step(rest) else { break };
                rest = after;
            }
        }
    }

    /// Consumes one character or placeholder. `None` at the end.
    fn step<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        if let Some(after) = rest.strip_prefix('\\')
            && let Some((_, rest)) = placeholder(after, self.numbering)
        {
            self.plain.push_str(after.get(..after.len() - rest.len()).unwrap_or_default());
            return Some(rest);
        }
        if let Some((span, after)) = placeholder(rest, self.numbering) {
            self.end_plain();
            self.text.push(span);
            return Some(after);
        }
        let mut characters = rest.chars();
        self.plain.push(characters.next()?);
        Some(characters.as_str())
    }

    /// The spans of one file or command.
    fn spans(&mut self, text: &str) -> Vec<Span> {
        let mut inner =
            Parser { numbering: self.numbering, pieces: Vec::new(), plain: String::new(), text: Vec::new() };
        inner.fenced(text);
        inner.end_plain();
        inner.text
    }

    fn piece(&mut self, piece: Piece) {
        self.end_text();
        self.pieces.push(piece);
    }

    fn end_plain(&mut self) {
        if !self.plain.is_empty() {
            self.text.push(Span::Plain(std::mem::take(&mut self.plain)));
        }
    }

    fn end_text(&mut self) {
        self.end_plain();
        if !self.text.is_empty() {
            self.pieces.push(Piece::Text(std::mem::take(&mut self.text)));
        }
    }

    fn finish(mut self) -> Template {
        self.end_text();
        Template { pieces: self.pieces }
    }
}

/// The rest after an escaped file or command.
fn escaped(rest: &str) -> Option<&str> {
    let after = rest.strip_prefix('\\')?;
    command(after).or_else(|| file(after)).map(|(_, rest)| rest)
}

/// The line of `` !`line` `` and the rest. It must be on one line.
fn command(rest: &str) -> Option<(&str, &str)> {
    let (line, after) = rest.strip_prefix("!`")?.split_once('`')?;
    (!line.trim().is_empty() && !line.contains('\n')).then_some((line.trim(), after))
}

/// The path of `@path` and the rest.
fn file(rest: &str) -> Option<(&str, &str)> {
    let after = rest.strip_prefix('@')?;
    let end = after.find(char::is_whitespace).unwrap_or(after.len());
    let path = after.get(..end)?;
    // The bracket belongs to the placeholder.
    let path = if path.ends_with(']') && path.contains("$ARGUMENTS[") {
        path
    } else {
        path.trim_end_matches(PUNCTUATION)
    };
    let is_path = path.chars().any(|one| one.is_alphanumeric()) && !path.starts_with('@');
    is_path.then(|| (path, after.get(path.len()..).unwrap_or_default()))
}

/// The placeholder at the start of `rest`, and what follows it.
fn placeholder(rest: &str, numbering: Numbering) -> Option<(Span, &str)> {
    let after = rest.strip_prefix('$')?;
    if let Some(rest) = after.strip_prefix("ARGUMENTS") {
        if let Some((number, rest)) = rest.strip_prefix('[').and_then(|inner| inner.split_once(']'))
            && let Some(index) = number_of(number)
        {
            return Some((Span::One(index), rest));
        }
        // It is a longer name.
        let is_longer = rest.starts_with(|one: char| one.is_alphanumeric() || one == '_');
        return (!is_longer).then_some((Span::All, rest));
    }
    let digits = after.chars().take_while(char::is_ascii_digit).count();
    let number = number_of(after.get(..digits)?)?;
    let rest = after.get(digits..)?;
    match numbering {
        Numbering::FromZero => Some((Span::One(number), rest)),
        Numbering::FromOne => Some((Span::One(number.checked_sub(1)?), rest)),
    }
}

/// An index of at most three digits. More digits are money or an id.
fn number_of(digits: &str) -> Option<usize> {
    let is_count = (1..=3).contains(&digits.len()) && digits.chars().all(|one| one.is_ascii_digit());
    is_count.then(|| digits.parse().ok()).flatten()
}
