//! The bash lexer: where words end, and what the shell makes of their quotes.
//!
//! Anything that only the running shell knows (a variable, a glob, a substitution) leaves a word without a value and
//! records a reason. From there on, lexing is best effort: the line already counts as unknown.

use std::ops::Range;

use super::braces;
use super::report::{ARITHMETIC, BRACES, GLOB};

/// Nested substitutions to follow. Deeper ones are unknown.
pub(super) const NESTING_MAX: usize = 24;

/// A word as written, and as the command would see it.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub start: usize,
    pub end: usize,
    /// Unquoted; `None` if only the running shell knows it.
    pub value: Option<String>,
    /// Text inside that the shell would run first.
    pub substitutions: Vec<Substitution>,
    /// Why parts of it are unknown.
    pub reasons: Vec<&'static str>,
    /// Whether it has more than letters, plain quotes and escapes, so that it needs the cross-check.
    pub intricate: bool,
    /// Whether it contains braces outside quotes.
    pub braces: bool,
    /// The words that it expands to by its braces, if it is certain which.
    pub expanded: Option<Vec<Word>>,
    /// The file name pattern that it is; a backslash stands before each character that is not special.
    pub glob: Option<String>,
    /// Whether bash evaluates variables in it, and would run commands in their values.
    pub evaluates: bool,
    /// Whether only arithmetic is unknown about it.
    pub numeric: bool,
}

impl Word {
    /// Drops the reason that it is a file name pattern: an argument that is one names files and nothing else.
    pub(super) fn forget_glob(&mut self) {
        if self.glob.is_some() {
            self.reasons.clear();
        }
    }
}

/// Text inside a word that the shell would run.
#[derive(Debug)]
pub(super) enum Substitution {
    /// A part of the same text.
    Span(Range<usize>),
    /// Text between backticks, with one level of backslashes removed.
    Backticks(String),
}

/// What happens to unquoted glob characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Globs {
    /// They expand to file names.
    Expand,
    /// They stay, as in the patterns of `case`.
    Stay,
}

/// Whether text is inside double quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoted {
    Yes,
    No,
}

/// Reads words from a text.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'a> {
    pub text: &'a str,
    /// The position of the next byte.
    pub at: usize,
    /// The position where reading stops.
    pub end: usize,
    depth: usize,
}

/// Whether the parenthesis that opens `text` closes at its very end. Quotes are not parsed, so text with quotes returns
/// false.
fn is_one_parenthesis(text: &[u8]) -> bool {
    let mut depth = 0_usize;
    for (place, byte) in text.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'\'' | b'"' | b'\\' | b'`' => return false,
            _ => {}
        }
        if depth == 0 {
            return place + 1 == text.len();
        }
    }
    false
}

/// A word while it is being read.
#[derive(Default)]
struct Draft {
    value: Vec<u8>,
    substitutions: Vec<Substitution>,
    reasons: Vec<&'static str>,
    marks: Marks,
    intricate: bool,
    /// The value as a file name pattern.
    pattern: Vec<u8>,
    evaluates: bool,
}

/// Unquoted characters that may have a special meaning once the whole word is read.
#[derive(Default)]
struct Marks {
    wildcard: bool,
    bracket_open: bool,
    bracket: bool,
    brace_open: bool,
    brace_choice: bool,
    brace: bool,
    braces: bool,
}

impl Draft {
    fn reason(&mut self, reason: &'static str) {
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    fn push(&mut self, byte: u8) {
        if matches!(byte, b'*' | b'?' | b'[' | b']' | b'\\') {
            self.pattern.push(b'\\');
        }
        self.add(byte);
    }

    fn add(&mut self, byte: u8) {
        self.pattern.push(byte);
        self.value.push(byte);
        match byte {
            b',' if self.marks.brace_open => self.marks.brace_choice = true,
            b'.' if self.marks.brace_open && self.value.ends_with(b"..") => self.marks.brace_choice = true,
            b'}' if self.marks.brace_choice => self.marks.brace = true,
            b']' if self.marks.bracket_open => self.marks.bracket = true,
            _ => {}
        }
    }

    fn push_unquoted(&mut self, byte: u8) {
        match byte {
            b'*' | b'?' => self.marks.wildcard = true,
            b'[' => self.marks.bracket_open = true,
            b'{' => {
                self.marks.brace_open = true;
                self.marks.braces = true;
            }
            b'}' => self.marks.braces = true,
            _ => {}
        }
        self.add(byte);
    }
}

impl<'a> Lexer<'a> {
    /// Reads `part` of a text.
    pub(super) fn new(text: &'a str, part: Range<usize>) -> Self {
        Self { text, at: part.start, end: part.end.min(text.len()), depth: 0 }
    }

    /// The byte this many bytes ahead.
    pub(super) fn peek(&self, ahead: usize) -> Option<u8> {
        let at = self.at.checked_add(ahead)?;
        if at >= self.end { None } else { self.text.as_bytes().get(at).copied() }
    }

    pub(super) fn sees(&self, prefix: &str) -> bool {
        self.rest().starts_with(prefix.as_bytes())
    }

    /// The bytes not yet read.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..self.end).unwrap_or_default()
    }

    pub(super) fn slice(&self, part: Range<usize>) -> &'a str {
        self.text.get(part).unwrap_or_default()
    }

    /// Skips blanks, line continuations and a comment. A line continuation inside an operator returns a reason.
    pub(super) fn skip_blanks(&mut self) -> Option<&'static str> {
        let mut reason = None;
        let mut blank = self.at == 0 || self.before().is_none_or(|byte| is_delimiter(byte) || byte == b'`');
        loop {
            match self.peek(0) {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek(1) == Some(b'\n') => {
                    let joins =
                        self.before().is_some_and(is_operator) && self.peek(2).is_some_and(is_operator);
                    if joins {
                        reason = Some("a line continuation inside an operator");
                    }
                    self.at += 2;
                }
                Some(b'#') if blank => {
                    let length = self.rest().iter().position(|byte| *byte == b'\n');
                    self.at = length.map_or(self.end, |length| self.at + length);
                }
                _ => return reason,
            }
            blank = true;
        }
    }

    fn before(&self) -> Option<u8> {
        self.at.checked_sub(1).and_then(|at| self.text.as_bytes().get(at)).copied()
    }

    /// Reads a word; empty (`start == end`) if there is none.
    pub(super) fn word(&mut self, globs: Globs) -> Word {
        let start = self.at;
        let mut draft = Draft { value: Vec::with_capacity(24), ..Draft::default() };
        while let Some(byte) = self.peek(0) {
            match byte {
                b'<' | b'>' if self.peek(1) == Some(b'(') => {
                    draft.reason("a process substitution");
                    draft.intricate = true;
                    self.at += 1;
                    self.parentheses(&mut draft);
                }
                _ if is_delimiter(byte) => break,
                b'\'' => self.single_quotes(&mut draft),
                b'"' => self.double_quotes(&mut draft),
                b'\\' => self.backslash(&mut draft),
                b'$' => self.dollar(&mut draft, Quoted::No),
                b'`' => self.backticks(&mut draft, Quoted::No),
                b'~' => self.tilde(&mut draft, start),
                _ => {
                    draft.push_unquoted(byte);
                    self.at += 1;
                }
            }
        }
        let may_expand = draft.marks.brace && draft.substitutions.is_empty();
        let mut word = finish(draft, start..self.at, globs);
        if may_expand && word.reasons.iter().all(|reason| [GLOB, BRACES].contains(reason)) {
            let variants = braces::expand(self.slice(start..self.at));
            word.expanded = variants.and_then(|variants| variants.iter().map(|text| whole(text)).collect());
            if let Some(expanded) = &mut word.expanded {
                expanded.retain(|word| word.start < word.end);
            }
        }
        word
    }

    /// Reads the text of a here-document, in which only expansions matter.
    pub(super) fn document(&mut self) -> Word {
        let start = self.at;
        let mut draft = Draft::default();
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => {
                    if self.peek(1) == Some(b'\n') {
                        draft.reason("a line continuation inside a here-document");
                    }
                    self.at += 2;
                }
                b'$' => self.dollar(&mut draft, Quoted::Yes),
                b'`' => self.backticks(&mut draft, Quoted::No),
                _ => self.at += 1,
            }
        }
        finish(draft, start..self.at, Globs::Stay)
    }

    fn single_quotes(&mut self, draft: &mut Draft) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if byte == b'\'' {
                return;
            }
            draft.push(byte);
        }
        draft.reason("an unclosed quote");
    }

    fn double_quotes(&mut self, draft: &mut Draft) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => match self.peek(1) {
                    Some(next @ (b'$' | b'`' | b'"' | b'\\')) => {
                        draft.push(next);
                        self.at += 2;
                    }
                    Some(b'\n') => {
                        draft.intricate = true;
                        self.at += 2;
                    }
                    _ => {
                        draft.push(byte);
                        self.at += 1;
                    }
                },
                b'$' => self.dollar(draft, Quoted::Yes),
                b'`' => self.backticks(draft, Quoted::Yes),
                _ => {
                    draft.push(byte);
                    self.at += 1;
                }
            }
        }
        draft.reason("an unclosed quote");
    }

    fn backslash(&mut self, draft: &mut Draft) {
        match self.peek(1) {
            Some(b'\n') => {
                draft.intricate = true;
                // A name, a descriptor number or a reserved word may be assembled this way.
                if self.peek(2).is_some_and(|byte| !matches!(byte, b' ' | b'\t' | b'\n')) {
                    draft.reason("a line continuation inside a word");
                }
                self.at += 2;
            }
            Some(next) => {
                draft.push(next);
                self.at += 2;
            }
            None => {
                draft.reason("a trailing backslash");
                self.at += 1;
            }
        }
    }

    /// A home directory: `~/` stays as it is; that of a named user is unknown.
    fn tilde(&mut self, draft: &mut Draft, start: usize) {
        let leads = self.at == start || matches!(self.before(), Some(b'=' | b':'));
        let named = self
            .peek(1)
            .is_some_and(|byte| !is_delimiter(byte) && !matches!(byte, b'/' | b':' | b'\'' | b'"' | b'\\'));
        if leads && named {
            draft.reason("a home directory");
        }
        draft.push(b'~');
        self.at += 1;
    }

    fn dollar(&mut self, draft: &mut Draft, quoted: Quoted) {
        if quoted == Quoted::No && self.peek(1) == Some(b'\'') {
            self.ansi_quotes(draft);
            return;
        }
        draft.intricate = true;
        let Some(next) = self.peek(1) else {
            draft.push(b'$');
            self.at += 1;
            return;
        };
        match next {
            b'(' if self.peek(2) == Some(b'(') => {
                draft.reason(ARITHMETIC);
                self.at += 1;
                let start = self.at + 1;
                self.nested(draft, b'(', b')');
                let inner = self.text.as_bytes().get(start..self.at.saturating_sub(1)).unwrap_or_default();
                draft.evaluates |= inner.iter().any(|byte| !b"0123456789+-*/%() ".contains(byte));
                if !is_one_parenthesis(inner) {
                    // The shell takes such text for commands that start with a subshell.
                    draft.reason("two parentheses that do not close together");
                }
            }
            b'(' => {
                self.at += 1;
                match self.cat_document() {
                    Some((body, inner)) if quoted == Quoted::Yes => {
                        body.bytes().for_each(|byte| draft.push(byte));
                        draft.substitutions.push(Substitution::Span(inner));
                    }
                    _ => {
                        draft.reason("a command substitution");
                        self.parentheses(draft);
                    }
                }
            }
            b'{' | b'[' => {
                draft.reason("an expansion");
                self.at += 1;
                let start = self.at;
                self.nested(draft, next, if next == b'{' { b'}' } else { b']' });
                let inner = self.text.as_bytes().get(start..self.at).unwrap_or_default();
                draft.evaluates |= next == b'[' || evaluates(inner);
            }
            b'"' if quoted == Quoted::No => {
                draft.reason("a translated string");
                self.at += 1;
            }
            b'*' | b'@' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0'..=b'9' => {
                draft.reason("an expansion");
                self.at += 2;
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => {
                draft.reason("an expansion");
                self.at += 1;
                while self.peek(0).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                    self.at += 1;
                }
            }
            b'\\' if self.peek(2) == Some(b'\n') => {
                draft.reason("a line continuation inside an expansion");
                self.at += 1;
            }
            _ => {
                draft.push(b'$');
                self.at += 1;
            }
        }
    }

    /// Skips an expansion up to its closing bracket, and records what it would run.
    fn nested(&mut self, draft: &mut Draft, open: u8, close: u8) {
        let mut depth = 0_usize;
        self.depth += 1;
        while let Some(byte) = self.peek(0) {
            if self.depth > NESTING_MAX {
                draft.reason("nesting that is too deep");
                self.at = self.end;
                break;
            }
            match byte {
                b'\\' => self.at += 2,
                b'$' => self.dollar(draft, Quoted::Yes),
                b'`' => self.backticks(draft, Quoted::Yes),
                b'"' => self.double_quotes(draft),
                _ => {
                    self.at += 1;
                    if byte == open {
                        depth += 1;
                    } else if byte == close {
                        depth = depth.saturating_sub(1);
                        if depth == 0 {
                            break;
                        }
                    }
                }
            }
        }
        self.depth -= 1;
    }

    /// Skips `( ... )` and records what is inside.
    fn parentheses(&mut self, draft: &mut Draft) {
        let inner = self.at + 1;
        let mut scratch = Draft::default();
        let mut depth = 0_usize;
        self.depth += 1;
        while let Some(byte) = self.peek(0) {
            if self.depth > NESTING_MAX {
                draft.reason("nesting that is too deep");
                self.at = self.end;
                break;
            }
            match byte {
                b'\'' => self.single_quotes(&mut scratch),
                b'"' => self.double_quotes(&mut scratch),
                b'\\' => self.at += 2,
                b'$' => self.dollar(&mut scratch, Quoted::No),
                b'`' => self.backticks(&mut scratch, Quoted::No),
                b' ' | b'\t' | b'\n' | b';' => {
                    self.at += 1;
                    if self.peek(0) == Some(b'#') {
                        self.skip_blanks();
                    }
                }
                b'(' => {
                    depth += 1;
                    self.at += 1;
                }
                b')' => {
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        break;
                    }
                }
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.end);
        self.depth -= 1;
        let closed = if depth == 0 { self.at.saturating_sub(1) } else { self.at };
        draft.substitutions.push(Substitution::Span(inner..closed.max(inner)));
    }

    /// `(cat <<'END' ... END)`: the only substitution with known output, and the usual way to write long messages.
    fn cat_document(&mut self) -> Option<(&'a str, Range<usize>)> {
        let inner = self.at + 1;
        let rest = self.slice(inner..self.end);
        let delimiter = rest.strip_prefix("cat <<'")?;
        let (delimiter, after) = delimiter.split_once("'\n")?;
        if delimiter.is_empty() || !delimiter.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return None;
        }
        let body_at = rest.len() - after.len();
        let mut length = 0;
        for line in after.split_inclusive('\n') {
            if line.strip_suffix('\n') == Some(delimiter) {
                let body = after.get(..length)?;
                let tail = after.get(length + line.len()..)?;
                let blanks = tail.len() - tail.trim_start_matches([' ', '\t', '\n']).len();
                let close = body_at + length + line.len() + blanks;
                if !rest.get(close..)?.starts_with(')') {
                    return None;
                }
                self.at = inner + close + 1;
                return Some((body.trim_end_matches('\n'), inner..inner + close));
            }
            length += line.len();
        }
        None
    }

    fn backticks(&mut self, draft: &mut Draft, quoted: Quoted) {
        draft.reason("a command substitution");
        draft.intricate = true;
        self.at += 1;
        let mut inner = Vec::new();
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'`' => {
                    draft.substitutions.push(Substitution::Backticks(lossy(inner)));
                    return;
                }
                b'\\' => match self.peek(0) {
                    Some(next @ (b'$' | b'`' | b'\\')) => {
                        inner.push(next);
                        self.at += 1;
                    }
                    Some(b'"') if quoted == Quoted::Yes => {
                        inner.push(b'"');
                        self.at += 1;
                    }
                    _ => inner.push(byte),
                },
                _ => inner.push(byte),
            }
        }
        draft.reason("an unclosed quote");
        draft.substitutions.push(Substitution::Backticks(lossy(inner)));
    }

    fn ansi_quotes(&mut self, draft: &mut Draft) {
        self.at += 2;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'\'' => return,
                b'\\' => {
                    // Only these leave a doubt about where the quotes end.
                    draft.intricate |= matches!(self.peek(0), Some(b'\'' | b'\\'));
                    self.ansi_escape(draft);
                }
                _ => draft.push(byte),
            }
        }
        draft.reason("an unclosed quote");
    }

    fn ansi_escape(&mut self, draft: &mut Draft) {
        let Some(byte) = self.peek(0) else { return };
        self.at += 1;
        let value = match byte {
            b'a' => Some(7),
            b'b' => Some(8),
            b'e' | b'E' => Some(27),
            b'f' => Some(12),
            b'n' => Some(b'\n'),
            b'r' => Some(b'\r'),
            b't' => Some(b'\t'),
            b'v' => Some(11),
            b'\\' | b'\'' | b'"' | b'?' => Some(byte),
            b'0'..=b'7' => {
                self.at -= 1;
                self.digits(8, 3).and_then(|value| u8::try_from(value & 0xff).ok())
            }
            b'x' => self.digits(16, 2).and_then(|value| u8::try_from(value).ok()),
            // The bytes of other characters depend on the shell's locale.
            b'u' => self.digits(16, 4).and_then(|value| u8::try_from(value).ok()).filter(u8::is_ascii),
            b'U' => self.digits(16, 8).and_then(|value| u8::try_from(value).ok()).filter(u8::is_ascii),
            b'c' => None,
            _ => {
                draft.push(b'\\');
                Some(byte)
            }
        };
        match value {
            None | Some(0) => draft.reason("an escape whose meaning depends on the shell"),
            Some(value) => draft.push(value),
        }
    }

    /// Between one and `count_max` digits.
    fn digits(&mut self, base: u32, count_max: usize) -> Option<u32> {
        let mut value = None;
        for _ in 0..count_max {
            let Some(digit) = self.peek(0).and_then(|byte| char::from(byte).to_digit(base)) else { break };
            self.at += 1;
            value = Some(value.unwrap_or(0_u32).wrapping_mul(base).wrapping_add(digit));
        }
        value
    }
}

fn finish(mut draft: Draft, part: Range<usize>, globs: Globs) -> Word {
    // A lone `[` is the command of that name.
    if globs == Globs::Expand && (draft.marks.wildcard || draft.marks.bracket) {
        draft.reason(GLOB);
    }
    if draft.marks.brace {
        draft.reason(BRACES);
    }
    let glob = (draft.reasons == [GLOB]).then(|| String::from_utf8(draft.pattern).ok()).flatten();
    let numeric = draft.reasons == [ARITHMETIC] && !draft.value.iter().any(|byte| b"[]$`()\\".contains(byte));
    let value = match String::from_utf8(draft.value) {
        Ok(value) if draft.reasons.is_empty() => Some(value),
        Ok(_) => None,
        Err(_) => {
            draft.reasons.push("bytes that are not text");
            None
        }
    };
    Word {
        start: part.start,
        end: part.end,
        value,
        substitutions: draft.substitutions,
        reasons: draft.reasons,
        intricate: draft.intricate,
        braces: draft.marks.braces,
        expanded: None,
        glob,
        evaluates: draft.evaluates,
        numeric,
    }
}

/// A text that is one word; `None` if it is more.
fn whole(text: &str) -> Option<Word> {
    let mut lexer = Lexer::new(text, 0..text.len());
    let word = lexer.word(Globs::Expand);
    (lexer.at == text.len() && word.substitutions.is_empty()).then_some(word)
}

/// Whether `${...}` does more than replace a variable by its value: an index, an offset, an indirection, a prompt.
fn evaluates(inner: &[u8]) -> bool {
    inner.iter().zip(inner.iter().skip(1)).any(|(byte, next)| match byte {
        b'[' | b'@' | b'!' => true,
        b':' => !b"-=+?".contains(next),
        _ => false,
    })
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(super) fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

fn is_operator(byte: u8) -> bool {
    matches!(byte, b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}
