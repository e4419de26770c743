//! Adds a simple command, and everything that it would run in turn, to the report.

use super::builtin::{evaluates_unknown, is_influential, obscures, sets_text};
use super::cross_check::agrees;
use super::directory;
use super::lexer::NESTING_MAX;
use super::parser::{Context, Item, Parser};
use super::report::Report;
use super::types::{GlobWord, SimpleCommand};
use super::wrapper::{Dialect, Holes, Inner, InnerWords, base_name, unwrap};

/// Words of a command that may run any of them. With more, what it runs is unknown.
const ANY_WORDS_MAX: usize = 64;

const LINE_BYTES_MAX: usize = 64 * 1024;

/// Parses a whole text, cross-checks it, and adds what it would run.
pub(super) fn read(text: &str, context: Context, report: &mut Report) {
    if text.len() > LINE_BYTES_MAX {
        report.hides("it is longer than 64 KiB");
        return;
    }
    if context.depth > NESTING_MAX {
        report.hides("nesting that is too deep");
        return;
    }
    for reason in super::text::deceptive(text) {
        report.unknown(&reason);
    }
    if text.contains('\0') {
        report.hides("a NUL character");
    }
    let starts = std::mem::take(&mut report.starts);
    let excused = std::mem::take(&mut report.excused);
    let around = std::mem::take(&mut report.intricate);
    Parser::new(text, 0..text.len(), context, report).run();
    if report.is_full() {
        report.hides("too many commands");
    }
    let found = std::mem::replace(&mut report.starts, starts);
    let found_excused = std::mem::replace(&mut report.excused, excused);
    let intricate = std::mem::replace(&mut report.intricate, around) || text.contains("\\\n");
    // If the first parser is unsure, a second opinion changes nothing. If there are only words, plain quotes, escapes
    // and operators, there is nothing to disagree about, and the second parser takes most of the time.
    if intricate && report.analysis.unknown.is_empty() && !agrees(text, &found, &found_excused) {
        report.hides("two parsers disagree about it");
    }
}

impl Parser<'_, '_> {
    /// Adds a command and what it wraps.
    pub(super) fn emit(&mut self, words: &[Item], command: SimpleCommand) {
        let depth = self.context.depth;
        self.emit_at(words, command, depth);
    }

    fn emit_at(&mut self, items: &[Item], mut command: SimpleCommand, depth: usize) {
        let words: Vec<Option<&str>> = items.iter().map(|item| item.value.as_deref()).collect();
        if words.first() == Some(&None) {
            self.report.unknown("the name of a command");
        }
        if let Some(doubt) = obscures(&words) {
            self.report.doubt(doubt);
        }
        self.report.evaluates |= evaluates_unknown(&words);
        self.report.sets_text |= sets_text(&words);
        self.track_dir(&words, &mut command);
        command.words = items.iter().map(|item| item.value.clone()).collect();
        let pattern = |(index, item): (usize, &Item)| {
            Some(GlobWord { index, pattern: item.glob.clone().filter(|_| item.value.is_none())? })
        };
        command.globs = items.iter().enumerate().filter_map(pattern).collect();
        let inners = unwrap(&words);
        if inners.is_empty() {
            self.report.command(command);
            return;
        }
        let base = command.clone();
        self.report.command(command);
        for inner in inners {
            match inner {
                Inner::Unknown(doubt) => self.report.doubt(doubt),
                Inner::Any(reason) => {
                    self.report.unknown(reason);
                    self.any_of(&base, depth);
                }
                Inner::Script { text, dialect } => self.script(&text, dialect, &base, depth),
                Inner::Words(inner) => self.inner(items, &base, inner, depth),
            }
        }
    }

    fn script(&mut self, text: &str, dialect: Dialect, base: &SimpleCommand, depth: usize) {
        let name = base.words.first().and_then(Option::as_deref);
        let dirs = if name == Some("trap") { Vec::new() } else { base.dirs.clone() };
        let dialect = if name == Some("eval") { self.context.dialect } else { dialect };
        read(text, Context { dirs, depth: depth + 1, dialect }, self.report);
    }

    /// Records that a program may run any of its words with those after it, or a word as a script.
    fn any_of(&mut self, base: &SimpleCommand, depth: usize) {
        if base.words.contains(&None) || base.words.len() > ANY_WORDS_MAX {
            self.report.hides("what a command that runs another one is given");
            return;
        }
        let mut report = Report::default();
        for (from, word) in base.words.iter().enumerate().skip(1) {
            let words: Vec<Option<&str>> =
                base.words.get(from..).unwrap_or_default().iter().map(Option::as_deref).collect();
            let owned = words.iter().map(|word| word.map(str::to_owned)).collect();
            self.report.possible(SimpleCommand { words: owned, ..base.clone() });
            for inner in unwrap(&words) {
                match inner {
                    Inner::Script { text, dialect } => {
                        read(&text, Context { dirs: Vec::new(), depth: depth + 1, dialect }, &mut report);
                    }
                    Inner::Unknown(doubt) => self.report.doubt(doubt),
                    // The words that these would run are among those listed here.
                    Inner::Words(_) | Inner::Any(_) => {}
                }
            }
            // Such programs pass a single word, or all of them together, to a shell.
            let joined = words.iter().flatten().copied().collect::<Vec<_>>().join(" ");
            let word = word.clone().filter(|word| word.contains(char::is_whitespace));
            let joined = Some(joined).filter(|text| !text.chars().all(is_plain));
            for text in [word, joined].into_iter().flatten() {
                let context = Context { dirs: Vec::new(), depth: depth + 1, dialect: Dialect::Bash };
                read(&text, context, &mut report);
            }
        }
        for command in report.analysis.commands.into_iter().chain(report.analysis.possible) {
            self.report.possible(command);
        }
        if let Some(reason) = report.analysis.hidden {
            self.report.hides(&reason);
        }
    }

    fn inner(&mut self, items: &[Item], base: &SimpleCommand, inner: InnerWords, depth: usize) {
        if depth >= NESTING_MAX {
            self.report.hides("nesting that is too deep");
            return;
        }
        let mut words: Vec<Item> = items.get(inner.from..inner.to).unwrap_or_default().to_vec();
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        let text = self.lexer.slice(first.part.start..last.part.end).to_owned();
        let end = last.part.end;
        let is_tail = inner.holes == Holes::Tail;
        match inner.holes {
            Holes::None => {}
            Holes::At(mark) => {
                for word in &mut words {
                    word.value = word.value.take().filter(|value| !value.contains(&mark));
                }
            }
            Holes::Tail => words.push(Item { value: None, glob: None, part: end..end }),
        }
        let dirs = match inner.dir {
            None => base.dirs.clone(),
            Some(dir) => dir.map(|to| directory::enter_any(&base.dirs, &to)).unwrap_or_default(),
        };
        let mut assignments = base.assignments.clone();
        if inner.assignments.iter().any(|(name, _)| is_influential(name)) {
            self.report.unknown("an environment variable that changes what commands do");
        }
        assignments.extend(inner.assignments);
        let input_words = base.input_words || is_tail;
        let command = SimpleCommand { text, assignments, dirs, input_words, ..SimpleCommand::default() };
        let (dirs, moved) = (self.context.dirs.clone(), self.moved);
        self.emit_at(&words, command, depth + 1);
        // Only these run a builtin such as `cd` in the shell itself.
        let in_shell =
            matches!(base.words.first(), Some(Some(name)) if name == "builtin" || name == "command");
        if !in_shell {
            self.context.dirs = dirs;
            self.moved = moved;
        }
    }

    fn track_dir(&mut self, words: &[Option<&str>], command: &mut SimpleCommand) {
        let Some(Some(name)) = words.first() else { return };
        let rest = words.get(1..).unwrap_or_default();
        match *name {
            "cd" | "pushd" => {
                let operands =
                    if rest.first() == Some(&Some("--")) { rest.get(1..).unwrap_or_default() } else { rest };
                match operands {
                    [] if *name == "cd" => self.enter(Some("~")),
                    [Some(to)] if !to.starts_with(['-', '+']) => self.enter(Some(to)),
                    _ => self.enter(None),
                }
            }
            "popd" | "eval" | "source" | "." | "alias" => self.enter(None),
            _ if base_name(name) == "git" => {
                let mut at = 0;
                while let Some(word) = rest.get(at) {
                    match word {
                        Some("-C") => {
                            let to = rest.get(at + 1).copied().flatten();
                            command.dirs =
                                to.map(|to| directory::enter_any(&command.dirs, to)).unwrap_or_default();
                            at += 2;
                        }
                        Some("-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path") => at += 2,
                        Some(word) if word.starts_with('-') => at += 1,
                        Some(_) | None => break,
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether a character means nothing special to a shell.
fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || "-_./=:,@%+ ".contains(character)
}
