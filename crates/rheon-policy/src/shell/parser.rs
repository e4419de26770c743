//! The bash parser: lists, pipelines, compound commands, and the simple commands in them.
//!
//! It accepts more than bash, never less without saying so: bash does not run what it rejects.

use std::ops::Range;

use super::builtin::{may_be_run, sets};
use super::directory;
use super::lexer::{Globs, Lexer, NESTING_MAX, Substitution, Word, is_delimiter};
use super::report::{CALLS_ITSELF, Report, WORD_REASONS};
use super::types::{Redirection, SimpleCommand};
use super::wrapper::Dialect;

/// Where a text runs.
#[derive(Debug, Clone)]
pub(super) struct Context {
    /// The possible directories; empty if they are unknown.
    pub dirs: Vec<String>,
    /// The nesting depth.
    pub depth: usize,
    pub dialect: Dialect,
}

/// Parses one text.
pub(super) struct Parser<'a, 'r> {
    pub(super) lexer: Lexer<'a>,
    pub(super) report: &'r mut Report,
    pub(super) context: Context,
    /// The directory changed, but only if the command before succeeded.
    pub(super) moved: bool,
    /// The directories of this chain in which a change of directory may have failed.
    stayed: Vec<String>,
    documents: Vec<Document>,
}

/// A here-document whose text is still to come.
struct Document {
    delimiter: String,
    quoted: bool,
    tabs: bool,
}

/// A word of a command, with its position.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) value: Option<String>,
    /// The file name pattern that an unknown value is.
    pub(super) glob: Option<String>,
    pub(super) part: Range<usize>,
}

impl<'a, 'r> Parser<'a, 'r> {
    /// Parses `part` of a text.
    pub(super) fn new(text: &'a str, part: Range<usize>, context: Context, report: &'r mut Report) -> Self {
        Self {
            lexer: Lexer::new(text, part),
            report,
            context,
            moved: false,
            stayed: Vec::new(),
            documents: Vec::new(),
        }
    }

    pub(super) fn run(&mut self) {
        self.list(&[]);
        if !self.documents.is_empty() {
            self.report.hides("an unclosed here-document");
        }
    }

    pub(super) fn broken(&mut self) {
        self.report.hides("it cannot be parsed");
    }

    /// Parses statements up to one of `closers`, which is not consumed.
    pub(super) fn list(&mut self, closers: &[&str]) {
        loop {
            self.skip_lines();
            if self.lexer.peek(0).is_none() || self.report.is_full() || self.at_any(closers) {
                return;
            }
            let before = self.lexer.at;
            self.chain();
            self.blanks();
            match self.lexer.peek(0) {
                None | Some(b'\n') => {}
                Some(b';') if matches!(self.lexer.peek(1), Some(b';' | b'&')) => {
                    if closers.contains(&";;") {
                        return;
                    }
                    self.broken();
                    self.lexer.at += 2;
                }
                Some(b';' | b'&') => self.lexer.at += 1,
                Some(b')') if closers.contains(&")") => return,
                Some(_) if self.lexer.at == before => {
                    self.broken();
                    self.lexer.at += 1;
                }
                Some(_) => self.broken(),
            }
        }
    }

    /// Parses pipelines joined by `&&` and `||`.
    fn chain(&mut self) {
        let saved = self.context.dirs.clone();
        let around = std::mem::take(&mut self.stayed);
        let before = self.lexer.at;
        loop {
            self.pipeline();
            self.blanks();
            if self.lexer.sees("&&") {
                self.lexer.at += 2;
            } else if self.lexer.sees("||") {
                self.lexer.at += 2;
                if self.moved {
                    self.context.dirs = directory::both(&self.context.dirs, &self.stayed);
                }
            } else {
                break;
            }
            self.skip_lines();
        }
        if self.lexer.at == before && self.lexer.peek(0).is_some() {
            self.broken();
        }
        if std::mem::take(&mut self.moved) {
            // A background command does not move the shell itself; otherwise the change may have failed.
            let stayed = directory::both(&self.context.dirs, &self.stayed);
            self.context.dirs = if self.lexer.peek(0) == Some(b'&') { saved } else { stayed };
        } else if self.lexer.peek(0) == Some(b'&') {
            self.context.dirs = saved;
        }
        self.stayed = around;
    }

    fn pipeline(&mut self) {
        let mut negated = false;
        loop {
            self.blanks();
            match self.reserved() {
                "!" => {
                    negated = true;
                    self.lexer.at += 1;
                }
                "time" => {
                    self.report.excuse(self.lexer.at);
                    self.lexer.at += 4;
                    self.blanks();
                    while matches!(self.reserved(), "-p" | "--") {
                        self.lexer.at += 2;
                        self.blanks();
                    }
                    self.report.excuse(self.lexer.at);
                }
                _ => break,
            }
        }
        let (dirs, moved) = (self.context.dirs.clone(), self.moved);
        self.command();
        self.blanks();
        let mut piped = false;
        while self.lexer.peek(0) == Some(b'|') && self.lexer.peek(1) != Some(b'|') {
            piped = true;
            self.lexer.at += if self.lexer.peek(1) == Some(b'&') { 2 } else { 1 };
            self.skip_lines();
            self.context.dirs.clone_from(&dirs);
            self.report.pipe_next = true;
            self.command();
            self.blanks();
        }
        if piped {
            // Every part of a pipeline is a separate shell.
            self.context.dirs = dirs;
            self.moved = moved;
        } else if negated && self.moved {
            // What follows runs if the change of directory failed.
            self.context.dirs = directory::both(&self.context.dirs, &self.stayed);
        }
    }

    /// Parses any command, compound or simple, with its redirections.
    pub(super) fn command(&mut self) {
        self.blanks();
        self.context.depth += 1;
        if self.context.depth > NESTING_MAX {
            self.report.hides("nesting that is too deep");
            self.lexer.at = self.lexer.end;
        } else if self.compound() {
            self.report.intricate = true;
            self.redirections();
        } else {
            self.simple();
        }
        self.context.depth -= 1;
    }

    pub(super) fn redirections(&mut self) {
        loop {
            self.blanks();
            let digits = self.lexer.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
            if matches!(self.lexer.peek(digits), Some(b'<' | b'>')) {
                self.lexer.at += digits;
            } else if digits > 0 {
                return;
            }
            if !self.redirection() {
                return;
            }
        }
    }

    /// Parses assignments, words and redirections up to the end of a simple command.
    fn simple(&mut self) {
        let start = self.lexer.at;
        let mut end = start;
        let mut words: Vec<Item> = Vec::new();
        let mut assignments = Vec::new();
        loop {
            self.blanks();
            if self.redirection() {
                end = self.lexer.at;
                continue;
            }
            let mut word = self.lexer.word(Globs::Expand);
            if word.start == word.end {
                break;
            }
            end = word.end;
            if self.is_descriptor(&word) {
                continue;
            }
            let raw = self.lexer.slice(word.start..word.end);
            // A brace is special only as the first word, and only alone.
            word.braces &= words.is_empty() || matches!(raw, "{" | "}");
            let is_assignment = assigned_name(raw).is_some();
            if !is_assignment && self.braces(&mut word, &mut words) {
                continue;
            }
            if !words.is_empty() && !is_assignment {
                word.forget_glob();
            }
            self.absorb(&mut word);
            if raw.ends_with('=') && self.lexer.peek(0) == Some(b'(') {
                self.array();
                word.value = None;
                end = self.lexer.at;
            }
            // Bash reads such a name up to its closing bracket, including blanks and operators.
            if is_element(raw) && words.first().is_none_or(is_declaration) {
                self.report.hides("an element of an array");
            }
            match assigned_name(raw) {
                Some(name) if words.is_empty() => assignments.push((name.to_owned(), self.assigned(&word))),
                _ => words.push(Item { value: word.value, glob: word.glob, part: word.start..word.end }),
            }
            if words.len() == 1 && assignments.is_empty() && self.function_body(&words) {
                return;
            }
        }
        if words.is_empty() && assignments.is_empty() {
            return;
        }
        let name = words.first().map(|first| first.value.as_deref());
        if let Some(doubt) = assignments.iter().find_map(|(variable, _)| sets(variable, name)) {
            self.report.doubt(doubt);
        }
        if let Some(first) = words.first() {
            self.begins(first, start);
        }
        let text = self.lexer.slice(start..end).to_owned();
        self.emit(
            &words,
            SimpleCommand { text, assignments, dirs: self.context.dirs.clone(), ..SimpleCommand::default() },
        );
    }

    /// Records where a command begins. A reserved word there is out of place.
    fn begins(&mut self, first: &Item, start: usize) {
        self.report.starts_at(first.part.start);
        // An assignment before it would begin further left.
        if is_reserved(self.lexer.slice(first.part.clone())) && first.part.start == start {
            self.broken();
        }
    }

    /// The value that a word like `NAME=value` sets, if it is known.
    fn assigned(&mut self, word: &Word) -> Option<String> {
        let raw = self.lexer.slice(word.start..word.end);
        if self.context.dialect == Dialect::Posix
            && raw.split('=').next().is_some_and(|name| name.ends_with('+'))
        {
            self.report.hides("an assignment that not every shell supports");
        }
        let value = word.value.as_deref();
        let value = value.map(|value| value.split_once('=').map_or(String::new(), |(_, after)| after.into()));
        self.report.sets_text |= !word.numeric && value.as_deref().is_none_or(may_be_run);
        value
    }

    /// Adds the words that a word with braces expands to, if it is certain which.
    fn braces(&mut self, word: &mut Word, words: &mut Vec<Item>) -> bool {
        let Some(expanded) = word.expanded.take() else { return false };
        self.report.intricate = true;
        let part = word.start..word.end;
        for mut word in expanded {
            if !words.is_empty() {
                word.forget_glob();
            }
            self.absorb(&mut word);
            words.push(Item { value: word.value, glob: word.glob, part: part.clone() });
        }
        true
    }

    /// Whether a word is the descriptor number before a redirection.
    fn is_descriptor(&mut self, word: &Word) -> bool {
        let raw = self.lexer.slice(word.start..word.end);
        let redirected = matches!(self.lexer.peek(0), Some(b'<' | b'>'));
        if redirected && raw.starts_with('{') {
            self.report.hides("a descriptor in a variable");
        }
        redirected && raw.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// Parses `name()` and what follows. The name has already been read.
    fn function_body(&mut self, words: &[Item]) -> bool {
        self.blanks();
        if self.lexer.peek(0) != Some(b'(') {
            return false;
        }
        self.lexer.at += 1;
        self.blanks();
        if self.lexer.peek(0) != Some(b')') {
            self.broken();
            return true;
        }
        self.lexer.at += 1;
        self.skip_lines();
        self.function(words.first().and_then(|word| word.value.as_deref()));
        true
    }

    /// Parses a function body, which may run anywhere and any number of times.
    pub(super) fn function(&mut self, name: Option<&str>) {
        self.report.unknown("a function that replaces a command");
        let mark = self.report.mark();
        let (dirs, moved) = (std::mem::take(&mut self.context.dirs), self.moved);
        self.command();
        if self.report.ran_since(mark, name) {
            self.report.unknown(CALLS_ITSELF);
        }
        // A caller may end up in another directory.
        self.context.dirs = if self.report.moved_since(mark) { Vec::new() } else { dirs };
        self.moved = moved;
        if name.is_none_or(|name| matches!(name, "cd" | "pushd" | "popd" | "command" | "builtin" | "eval")) {
            self.report.hides("a function that replaces a builtin");
        }
    }

    fn array(&mut self) {
        self.report.hides("an array");
        self.lexer.at += 1;
        loop {
            self.skip_lines();
            let mut word = self.lexer.word(Globs::Stay);
            if word.start == word.end {
                break;
            }
            self.absorb(&mut word);
        }
        if self.lexer.peek(0) == Some(b')') {
            self.lexer.at += 1;
        } else {
            self.broken();
        }
    }

    /// Parses a redirection if there is one.
    fn redirection(&mut self) -> bool {
        const OPERATORS: [(&str, bool); 11] = [
            ("&>>", true),
            ("&>", true),
            ("<<<", false),
            ("<<-", false),
            ("<<", false),
            ("<&", false),
            ("<>", true),
            (">&", true),
            (">>", true),
            (">|", true),
            ("<", false),
        ];
        if !matches!(self.lexer.peek(0), Some(b'<' | b'>' | b'&')) {
            return false;
        }
        let found = OPERATORS.iter().find(|(operator, _)| self.lexer.sees(operator));
        let (operator, writes) = match found {
            Some(found) => *found,
            None if self.lexer.sees(">") => (">", true),
            None => return false,
        };
        if matches!(operator, "<" | ">") && self.lexer.peek(1) == Some(b'(') {
            return false;
        }
        if self.context.dialect == Dialect::Posix && operator.starts_with('&') {
            self.report.hides("an operator that not every shell supports");
        }
        self.lexer.at += operator.len();
        self.blanks();
        // A dash closes a file and ends there, regardless of what follows.
        if matches!(operator, "<&" | ">&") && self.lexer.peek(0) == Some(b'-') {
            self.lexer.at += 1;
            return true;
        }
        let mut word = self.lexer.word(Globs::Expand);
        if word.start == word.end {
            self.broken();
            return true;
        }
        match operator {
            "<<" | "<<-" => {
                self.report.intricate = true;
                self.document(&word, operator == "<<-");
            }
            "<<<" => self.absorb(&mut word),
            _ => {
                self.absorb(&mut word);
                let duplicates = matches!(operator, "<&" | ">&")
                    && word.value.as_deref().is_some_and(|value| {
                        value == "-" || value.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit())
                    });
                if !duplicates {
                    let dirs = self.context.dirs.clone();
                    self.report.redirection(Redirection { target: word.value, writes, dirs });
                }
            }
        }
        true
    }

    fn document(&mut self, word: &Word, tabs: bool) {
        let raw = self.lexer.slice(word.start..word.end);
        let quoted = raw.contains(['\'', '"', '\\']);
        match &word.value {
            Some(delimiter) if !raw.contains('$') && !delimiter.contains('\n') => {
                self.documents.push(Document { delimiter: delimiter.clone(), quoted, tabs });
            }
            _ => self.report.hides("where a here-document ends"),
        }
    }

    /// Skips the texts of here-documents that start after this line.
    fn read_documents(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            let start = self.lexer.at;
            let mut found = None;
            for line in self.lexer.slice(start..self.lexer.end).split_inclusive('\n') {
                let at = self.lexer.at;
                self.lexer.at += line.len();
                let line = line.strip_suffix('\n').unwrap_or(line);
                let line = if document.tabs { line.trim_start_matches('\t') } else { line };
                if line == document.delimiter {
                    found = Some(at);
                    break;
                }
            }
            let end = found.unwrap_or(self.lexer.at);
            if found.is_none() {
                self.report.hides("an unclosed here-document");
            }
            if !document.quoted {
                let mut word = Lexer::new(self.lexer.text, start..end).document();
                self.absorb(&mut word);
            }
        }
    }

    /// Records what a word says about the line, and parses what it would run.
    pub(super) fn absorb(&mut self, word: &mut Word) {
        for reason in &word.reasons {
            if WORD_REASONS.contains(reason) {
                self.report.unknown(reason);
            } else {
                self.report.hides(reason);
            }
        }
        self.report.evaluates |= word.evaluates;
        self.report.intricate |= word.intricate || word.braces;
        if self.context.dialect == Dialect::Posix && self.lexer.slice(word.start..word.end).contains("$'") {
            self.report.hides("quotes that not every shell supports");
            word.value = None;
        }
        for substitution in std::mem::take(&mut word.substitutions) {
            let mut context = self.context.clone();
            context.depth += 1;
            if context.depth > NESTING_MAX {
                self.report.hides("nesting that is too deep");
                return;
            }
            match substitution {
                Substitution::Span(part) => Parser::new(self.lexer.text, part, context, self.report).run(),
                Substitution::Backticks(text) => {
                    Parser::new(&text, 0..text.len(), context, self.report).run();
                }
            }
        }
    }

    pub(super) fn blanks(&mut self) {
        if let Some(reason) = self.lexer.skip_blanks() {
            self.report.hides(reason);
        }
    }

    /// Skips blanks, comments and line ends, with the here-documents that start there.
    pub(super) fn skip_lines(&mut self) {
        loop {
            self.blanks();
            if self.lexer.peek(0) != Some(b'\n') {
                return;
            }
            self.lexer.at += 1;
            if !self.documents.is_empty() {
                self.read_documents();
            }
        }
    }

    /// The next word as written, if it is short enough for a reserved word.
    pub(super) fn reserved(&self) -> &'a str {
        let length = self.lexer.rest().iter().take(10).take_while(|byte| !is_delimiter(**byte)).count();
        self.lexer.slice(self.lexer.at..self.lexer.at + length)
    }

    fn at_any(&self, closers: &[&str]) -> bool {
        let next = self.reserved();
        closers.iter().any(|closer| match *closer {
            ")" => self.lexer.peek(0) == Some(b')'),
            ";;" => self.lexer.sees(";;") || self.lexer.sees(";&"),
            closer => next == closer,
        })
    }

    pub(super) fn expect(&mut self, what: &str) {
        self.blanks();
        let sees = if what == ")" { self.lexer.sees(what) } else { self.reserved() == what };
        if sees {
            self.lexer.at += what.len();
        } else {
            self.broken();
        }
    }

    /// Applies `cd`, as long as everything joined by `&&` succeeds.
    pub(super) fn enter(&mut self, to: Option<&str>) {
        let before = std::mem::take(&mut self.context.dirs);
        self.stayed = if self.moved { directory::both(&self.stayed, &before) } else { before.clone() };
        self.context.dirs = to.map(|to| directory::enter_any(&before, to)).unwrap_or_default();
        self.moved = true;
    }
}

fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "if" | "then"
            | "elif"
            | "else"
            | "fi"
            | "for"
            | "while"
            | "until"
            | "do"
            | "done"
            | "case"
            | "esac"
            | "select"
            | "function"
            | "{"
            | "}"
            | "[["
            | "!"
    )
}

/// Whether a word starts like `NAME[`.
fn is_element(raw: &str) -> bool {
    raw.split_once('[').is_some_and(|(name, _)| is_name(name))
}

fn is_name(name: &str) -> bool {
    let starts = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_declaration(word: &Item) -> bool {
    match word.value.as_deref() {
        Some(name) => matches!(
            name,
            "declare"
                | "typeset"
                | "export"
                | "readonly"
                | "local"
                | "alias"
                | "eval"
                | "let"
                | "command"
                | "builtin"
        ),
        None => true,
    }
}

/// The name that a word like `NAME=value` or `NAME+=value` sets.
fn assigned_name(raw: &str) -> Option<&str> {
    let (name, _) = raw.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    is_name(name).then_some(name)
}
