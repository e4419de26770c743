//! Compound commands: loops, conditions, groups.

use super::builtin::{may_be_run, sets};
use super::directory;
use super::lexer::Globs;
use super::parser::{Item, Parser};
use super::types::SimpleCommand;
use super::wrapper::Dialect;

impl Parser<'_, '_> {
    /// Parses a compound command if there is one.
    pub(super) fn compound(&mut self) -> bool {
        if self.lexer.peek(0) == Some(b'(') {
            self.subshell();
            return true;
        }
        let word = self.reserved();
        if self.context.dialect == Dialect::Posix && matches!(word, "[[" | "function" | "select" | "coproc") {
            self.report.hides("a keyword that not every shell supports");
        }
        match word {
            "{" => self.branches(word, |parser| {
                parser.list(&["}"]);
                parser.expect("}");
            }),
            "if" => self.branches(word, Self::conditions),
            "while" | "until" => self.repeated(word, |parser| {
                parser.list(&["do"]);
                parser.body();
            }),
            "for" | "select" => self.repeated(word, |parser| {
                parser.loop_header();
                parser.body();
            }),
            "case" => self.branches(word, Self::cases),
            "function" => {
                self.lexer.at += word.len();
                self.blanks();
                let name = self.name();
                self.blanks();
                if self.lexer.sees("(") {
                    self.lexer.at += 1;
                    self.expect(")");
                }
                self.skip_lines();
                self.function(name.as_deref());
            }
            "coproc" => {
                self.report.excuse(self.lexer.at);
                self.lexer.at += word.len();
                self.blanks();
                self.report.excuse(self.lexer.at);
                let (dirs, moved) = (self.context.dirs.clone(), self.moved);
                self.command();
                self.context.dirs = dirs;
                self.moved = moved;
            }
            "[[" => self.test(),
            _ => return false,
        }
        true
    }

    fn subshell(&mut self) {
        if self.lexer.peek(1) == Some(b'(') {
            self.arithmetic();
        }
        self.lexer.at += 1;
        let (dirs, moved) = (self.context.dirs.clone(), self.moved);
        self.list(&[")"]);
        self.expect(")");
        self.context.dirs = dirs;
        self.moved = moved;
    }

    /// Records what is at the next `((`: numbers and names are harmless, anything else may hide commands.
    fn arithmetic(&mut self) {
        let rest = self.lexer.rest();
        let end = memchr::memmem::find(rest, b"))").unwrap_or(rest.len());
        let inner = rest.get(..end).unwrap_or_default();
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" \t()_+-*/%<>=!&|^~?:,;".contains(byte);
        if inner.iter().all(is_plain) {
            self.report.unknown("an arithmetic command");
            self.report.evaluates = true;
        } else {
            self.report.hides("an arithmetic command");
        }
    }

    /// Parses parts of which not all may run, nor change the directory.
    fn branches(&mut self, word: &str, read: impl FnOnce(&mut Self)) {
        self.lexer.at += word.len();
        let before = self.context.dirs.clone();
        let moved = std::mem::take(&mut self.moved);
        read(self);
        self.context.dirs = directory::both(&before, &self.context.dirs);
        self.moved = moved;
    }

    /// Parses parts that may run again. A change of directory leaves the directory of all of them unknown.
    fn repeated(&mut self, word: &str, read: impl FnOnce(&mut Self)) {
        let mark = self.report.mark();
        let before = self.context.dirs.clone();
        self.branches(word, read);
        if self.context.dirs != before {
            self.context.dirs.clear();
            self.report.forget_dirs_from(mark);
        }
    }

    fn conditions(&mut self) {
        loop {
            self.list(&["then"]);
            let before = self.context.dirs.clone();
            self.expect("then");
            self.list(&["elif", "else", "fi"]);
            self.context.dirs = directory::both(&before, &self.context.dirs);
            match self.reserved() {
                "elif" => self.lexer.at += 4,
                "else" => {
                    self.lexer.at += 4;
                    self.list(&["fi"]);
                    self.expect("fi");
                    return;
                }
                _ => {
                    self.expect("fi");
                    return;
                }
            }
        }
    }

    fn body(&mut self) {
        self.skip_lines();
        if self.reserved() == "{" {
            self.lexer.at += 1;
            self.list(&["}"]);
            self.expect("}");
            return;
        }
        self.expect("do");
        self.list(&["done"]);
        self.expect("done");
    }

    fn name(&mut self) -> Option<String> {
        let mut word = self.lexer.word(Globs::Stay);
        self.absorb(&mut word);
        word.value.filter(|value| !value.is_empty())
    }

    fn loop_header(&mut self) {
        self.blanks();
        if self.lexer.peek(0) == Some(b'(') {
            self.arithmetic();
            // The header contains characters that are not operators. The words after it are parsed as usual.
            while self.lexer.peek(0).is_some() && !self.lexer.sees("))") {
                self.lexer.at += 1;
            }
            self.lexer.at += 2;
        } else {
            match self.name() {
                Some(name) => {
                    if let Some(doubt) = sets(&name, None) {
                        self.report.doubt(doubt);
                    }
                }
                None => self.broken(),
            }
            self.skip_lines();
            if self.reserved() == "in" {
                self.lexer.at += 2;
                loop {
                    self.blanks();
                    let mut word = self.lexer.word(Globs::Expand);
                    if word.start == word.end {
                        break;
                    }
                    self.absorb(&mut word);
                    self.report.sets_text |= word.value.as_deref().is_none_or(may_be_run);
                }
            }
        }
        self.blanks();
        if self.lexer.sees(";") {
            self.lexer.at += 1;
        }
    }

    fn cases(&mut self) {
        self.blanks();
        let mut value = self.lexer.word(Globs::Stay);
        self.absorb(&mut value);
        self.skip_lines();
        self.expect("in");
        let before = self.context.dirs.clone();
        let mut after = before.clone();
        loop {
            self.skip_lines();
            if self.reserved() == "esac" || self.lexer.peek(0).is_none() {
                break;
            }
            if self.lexer.sees("(") {
                self.lexer.at += 1;
            }
            loop {
                self.blanks();
                let mut pattern = self.lexer.word(Globs::Stay);
                if pattern.start == pattern.end {
                    self.broken();
                }
                self.absorb(&mut pattern);
                self.blanks();
                if !self.lexer.sees("|") {
                    break;
                }
                self.lexer.at += 1;
            }
            if !self.lexer.sees(")") {
                self.broken();
                return;
            }
            self.lexer.at += 1;
            // One branch may follow another.
            self.context.dirs = directory::both(&before, &after);
            self.list(&[";;", "esac"]);
            after = directory::both(&after, &self.context.dirs);
            for end in [";;&", ";;", ";&"] {
                if self.lexer.sees(end) {
                    self.lexer.at += end.len();
                    break;
                }
            }
        }
        self.expect("esac");
        self.context.dirs = after;
    }

    /// `[[ ... ]]`, recorded like the command `[`.
    fn test(&mut self) {
        let start = self.lexer.at;
        self.report.starts_at(start);
        self.lexer.at += 2;
        let mut words = vec![Item { value: Some("[[".into()), glob: None, part: start..start + 2 }];
        loop {
            self.skip_lines();
            let at = self.lexer.at;
            match self.lexer.peek(0) {
                None => {
                    self.broken();
                    break;
                }
                Some(b';') => {
                    self.broken();
                    return;
                }
                Some(b'&' | b'|' | b'<' | b'>' | b'(' | b')') => {
                    self.lexer.at += if self.lexer.sees("&&") || self.lexer.sees("||") { 2 } else { 1 };
                    let part = at..self.lexer.at;
                    let value = Some(self.lexer.slice(part.clone()).into());
                    words.push(Item { value, glob: None, part });
                    continue;
                }
                Some(_) => {}
            }
            let mut word = self.lexer.word(Globs::Stay);
            self.absorb(&mut word);
            let closes = self.lexer.slice(word.start..word.end) == "]]";
            words.push(Item { value: word.value, glob: None, part: word.start..word.end });
            if closes {
                break;
            }
        }
        let text = self.lexer.slice(start..self.lexer.at).to_owned();
        let dirs = self.context.dirs.clone();
        self.emit(&words, SimpleCommand { text, dirs, ..SimpleCommand::default() });
    }
}
