//! Adds a simple command, and everything that it would run in turn, to the report.

use super::builtin::{is_influential, obscures};
use super::cross_check::agrees;
use super::directory;
use super::lexer::NESTING_MAX;
use super::parser::{Context, Item, Parser};
use super::report::Report;
use super::types::SimpleCommand;
use super::wrapper::{Dialect, Holes, Inner, InnerWords, base_name, unwrap};

const LINE_BYTES_MAX: usize = 64 * 1024;

/// Parses a whole text, cross-checks it, and adds what it would run.
pub(super) fn read(text: &str, context: Context, report: &mut Report) {
    if text.len() > LINE_BYTES_MAX {
        report.unknown("it is longer than 64 KiB");
        return;
    }
    if context.depth > NESTING_MAX {
        report.unknown("nesting that is too deep");
        return;
    }
    for reason in super::text::deceptive(text) {
        report.unknown(&reason);
    }
    let starts = std::mem::take(&mut report.starts);
    let excused = std::mem::take(&mut report.excused);
    let around = std::mem::take(&mut report.intricate);
    Parser::new(text, 0..text.len(), context, report).run();
    if report.is_full() {
        report.unknown("too many commands");
    }
    let found = std::mem::replace(&mut report.starts, starts);
    let found_excused = std::mem::replace(&mut report.excused, excused);
    let intricate = std::mem::replace(&mut report.intricate, around) || text.contains("\\\n");
    // If the first parser is unsure, a second opinion changes nothing. If there are only words, plain quotes, escapes
    // and operators, there is nothing to disagree about, and the second parser takes most of the time.
    if intricate && report.analysis.unknown.is_empty() && !agrees(text, &found, &found_excused) {
        report.unknown("two parsers disagree about it");
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
        if let Some(reason) = obscures(&words) {
            self.report.unknown(reason);
        }
        self.track_folder(&words, &mut command);
        command.words = items.iter().map(|item| item.value.clone()).collect();
        let inners = unwrap(&words);
        if inners.is_empty() {
            self.report.command(command);
            return;
        }
        let base = command.clone();
        self.report.command(command);
        for inner in inners {
            match inner {
                Inner::Unknown(reason) => self.report.unknown(reason),
                Inner::Script { text, dialect } => self.script(&text, dialect, &base, depth),
                Inner::Words(inner) => self.inner(items, &base, inner, depth),
            }
        }
    }

    fn script(&mut self, text: &str, dialect: Dialect, base: &SimpleCommand, depth: usize) {
        let trapped = base.words.first().is_some_and(|name| name.as_deref() == Some("trap"));
        let folder = if trapped { None } else { base.folder.clone() };
        read(text, Context { folder, depth: depth + 1, dialect }, self.report);
    }

    fn inner(&mut self, items: &[Item], base: &SimpleCommand, inner: InnerWords, depth: usize) {
        if depth >= NESTING_MAX {
            self.report.unknown("nesting that is too deep");
            return;
        }
        let mut words: Vec<Item> = items.get(inner.from..inner.to).unwrap_or_default().to_vec();
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        let text = self.lexer.slice(first.part.start..last.part.end).to_owned();
        let end = last.part.end;
        match inner.holes {
            Holes::None => {}
            Holes::Braces => {
                for word in &mut words {
                    word.value = word.value.take().filter(|value| !value.contains("{}"));
                }
            }
            Holes::Tail => words.push(Item { value: None, part: end..end }),
        }
        let folder = match inner.folder {
            None => base.folder.clone(),
            Some(folder) => folder.and_then(|to| directory::enter(base.folder.as_deref(), &to)),
        };
        let mut assignments = base.assignments.clone();
        if inner.assignments.iter().any(|(name, _)| is_influential(name)) {
            self.report.unknown("an environment variable that changes what commands do");
        }
        assignments.extend(inner.assignments);
        let command = SimpleCommand { words: Vec::new(), text, assignments, folder };
        let (folder, moved) = (self.context.folder.clone(), self.moved);
        self.emit_at(&words, command, depth + 1);
        // Only these run a builtin such as `cd` in the shell itself.
        let in_shell =
            matches!(base.words.first(), Some(Some(name)) if name == "builtin" || name == "command");
        if !in_shell {
            self.context.folder = folder;
            self.moved = moved;
        }
    }

    fn track_folder(&mut self, words: &[Option<&str>], command: &mut SimpleCommand) {
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
                            command.folder =
                                to.and_then(|to| directory::enter(command.folder.as_deref(), to));
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
