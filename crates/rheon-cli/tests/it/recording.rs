//! Records a page of commands and their output: lines that the page shows and that are still true stay, others become the real ones.
//!
//! What a page leaves out stays left out: a line `…` stands for any lines, `…` at the end of a line for the rest of it, and empty lines are not shown.
//! Ids, durations and counts that differ each time stay as the page has them; later commands that name such an id run with the real one.

use std::collections::BTreeSet;

const ELLIPSIS: &str = "…";

/// The most characters of a line that is new in a page.
const COLUMNS_MAX: usize = 150;

/// Texts of a page and the real ones they stand for.
#[derive(Debug, Default)]
pub(crate) struct Bindings {
    pairs: Vec<(String, String)>,
}

impl Bindings {
    pub(crate) fn bind(&mut self, page: impl Into<String>, real: impl Into<String>) {
        let (page, real) = (page.into(), real.into());
        if page != real && !self.pairs.iter().any(|(known, value)| *known == page || *value == real) {
            self.pairs.push((page, real));
        }
    }

    /// A text of the page with the real values.
    pub(crate) fn real(&self, text: &str) -> String {
        // A binding is written with the texts of those before it.
        self.pairs.iter().rev().fold(text.to_owned(), |text, (page, real)| text.replace(page, real))
    }

    /// A real text with the values of the page.
    pub(crate) fn page(&self, text: &str) -> String {
        self.pairs.iter().fold(text.to_owned(), |text, (page, real)| text.replace(real, page))
    }
}

/// What a page shows of an output: `shown` where it is still true, otherwise the real lines.
pub(crate) fn record(shown: &[String], output: &str, bindings: &mut Bindings) -> Vec<String> {
    let real: Vec<String> = output
        .lines()
        .map(|line| bindings.page(line.trim_end_matches('\r')).trim_end().to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    let literal: Vec<&String> = shown.iter().filter(|line| *line != ELLIPSIS).collect();
    let partners = align(&literal, &real);
    let mut recorded = Vec::new();
    let (mut next, mut index, mut is_gap) = (0, 0, false);
    for line in shown {
        if line == ELLIPSIS {
            is_gap = true;
            continue;
        }
        let partner = partners[index];
        index += 1;
        let Some(partner) = partner else { continue };
        recorded.extend(between(&real[next..partner], is_gap));
        let new = &real[partner];
        for (page, real) in ids(line).into_iter().zip(ids(new)) {
            bindings.bind(page, real);
        }
        recorded.push(if is_same(line, new) { line.clone() } else { cut(&bindings.page(new)) });
        (next, is_gap) = (partner + 1, false);
    }
    recorded.extend(between(&real[next..], is_gap));
    recorded
}

/// The real lines between two that the page shows.
fn between(lines: &[String], is_gap: bool) -> Vec<String> {
    match (lines, is_gap) {
        ([], _) => Vec::new(),
        (_, true) => vec![ELLIPSIS.to_owned()],
        (lines, false) => lines.iter().map(|line| cut(line)).collect(),
    }
}

fn cut(line: &str) -> String {
    if line.chars().count() <= COLUMNS_MAX {
        return line.to_owned();
    }
    line.chars().take(COLUMNS_MAX).chain(ELLIPSIS.chars()).collect()
}

/// For each line of a page the real line it shows, in order; as many as possible.
fn align(shown: &[&String], real: &[String]) -> Vec<Option<usize>> {
    let mut best = vec![vec![0_u32; real.len() + 1]; shown.len() + 1];
    for (row, line) in shown.iter().enumerate().rev() {
        for (column, other) in real.iter().enumerate().rev() {
            let skip = best[row + 1][column].max(best[row][column + 1]);
            let pair = likeness(line, other);
            best[row][column] = if pair > 0 { skip.max(pair + best[row + 1][column + 1]) } else { skip };
        }
    }
    let (mut column, mut partners) = (0, Vec::new());
    for (row, line) in shown.iter().enumerate() {
        let from = column;
        let partner = (from..real.len()).find(|&at| {
            let pair = likeness(line, &real[at]);
            pair > 0 && best[row][from] == pair + best[row + 1][at + 1]
        });
        if let Some(at) = partner {
            column = at + 1;
        }
        partners.push(partner);
    }
    partners
}

/// How well a line of a page fits a real one: not at all, similar, or the same.
fn likeness(line: &str, real: &str) -> u32 {
    if is_same(line, real) {
        return 100;
    }
    let words = |text: &str| mask(text).split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>();
    let (line, real) = (words(line), words(real));
    let common = line.intersection(&real).count();
    if 2 * common >= line.len().max(real.len()) { 1 } else { 0 }
}

fn is_same(line: &str, real: &str) -> bool {
    let (line, real) = (mask(line), mask(real));
    line == real || line.strip_suffix(ELLIPSIS).is_some_and(|start| real.starts_with(start))
}

/// A line with everything made the same that is another each time.
fn mask(line: &str) -> String {
    let mut line = line.to_owned();
    for id in ids(&line) {
        line = line.replace(&id, "ID");
    }
    let words: Vec<&str> = line.split(' ').collect();
    let is_figure = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_digit())
            && word.chars().all(|character| character.is_ascii_digit() || ",.".contains(character))
    };
    let after = |index: usize| words[index + 1..].iter().find(|word| !word.is_empty()).copied();
    let masked = words.iter().enumerate().map(|(index, word)| {
        let (open, figure) = word.strip_prefix('(').map_or(("", *word), |figure| ("(", figure));
        match after(index) {
            Some("ms" | "s") if is_figure(figure) => format!("{open}N"),
            Some("%" | "in" | "cached)" | "out" | "GiB" | "KiB") if is_figure(figure) => format!("{open}N"),
            // A column of counts beside one of shares.
            Some(next) if is_figure(figure) && is_figure(next) => format!("{open}N"),
            _ if index > 0 && matches!(*word, "ms" | "s") => "ms".to_owned(),
            _ => (*word).to_owned(),
        }
    });
    // Columns are as wide as their figures.
    let masked: Vec<String> = masked.filter(|word| !word.is_empty() || !line.contains(" %")).collect();
    masked.join(" ")
}

/// The ids in a line: of sessions, of checkpoints, of commits, and the directory that `rheon demo` makes.
fn ids(line: &str) -> Vec<String> {
    let is_hex = |text: &str| text.chars().all(|character| matches!(character, '0'..='9' | 'a'..='f'));
    let mut ids = Vec::new();
    for word in line.split(|character: char| !(character.is_alphanumeric() || "-_/.".contains(character))) {
        let word = word.trim_end_matches('.');
        let directory = word.find("rheon-demo-").filter(|at| word.starts_with('/') && word.len() > at + 11);
        let parts: Vec<usize> = word.split('-').map(str::len).collect();
        if directory.is_some()
            || parts == [8, 4, 4, 4, 12]
            || parts == [10, 16]
            || (parts == [7] && is_hex(word) && line.starts_with(word))
        {
            ids.push(word.to_owned());
        }
    }
    ids
}

#[test]
fn a_page_keeps_what_is_true_and_what_it_leaves_out() {
    let shown =
        ["one 3 ms", ELLIPSIS, "the session is 01a1e096-f3e8-7c47-b1c4-ac1a4570e520.", "old words here now"];
    let output = "one 5 s\r\n\nleft out\nthe session is 01a1e096-0000-7c47-b1c4-ac1a4570e520.\nnew words here now\nmore\n";
    let mut bindings = Bindings::default();
    let recorded = record(&shown.map(str::to_owned), output, &mut bindings);
    assert_eq!(recorded, [shown[0], ELLIPSIS, shown[2], "new words here now", "more"]);
    let command = "rheon -r 01a1e096-f3e8-7c47-b1c4-ac1a4570e520";
    assert_eq!(bindings.real(command), "rheon -r 01a1e096-0000-7c47-b1c4-ac1a4570e520");
    assert_eq!(bindings.page(&bindings.real(command)), command);
}

#[test]
fn what_differs_each_time_is_masked_and_nothing_else() {
    assert_eq!(
        mask("5 turns · 16,364 in (12,798 cached) / 344 out tokens · 6.2 s"),
        "5 turns · N in (N cached) / N out tokens · N ms"
    );
    assert_eq!(mask("system prompt, static   931    0.1 %"), "system prompt, static N N %");
    assert_eq!(mask("ab12cd3 Sums"), "ID Sums");
    assert_eq!(mask("files: 1 restored, 0 removed"), "files: 1 restored, 0 removed");
}
