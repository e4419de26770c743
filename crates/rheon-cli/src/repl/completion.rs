//! `Completion`: completes `/command` and `@file` before the cursor.

use std::path::{Path, PathBuf};

/// How many choices are shown.
const CHOICES_MAX: usize = 40;

/// How many entries of a directory are looked at.
const ENTRIES_MAX: usize = 10_000;

/// What can be completed.
#[derive(Debug, Clone, Default)]
pub(super) struct Completion {
    /// The commands, without their slash.
    pub(super) commands: Vec<String>,
    /// Where file names start.
    pub(super) dir: PathBuf,
}

/// What a word can become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Completed {
    /// The text to add at the cursor.
    pub(super) added: String,
    /// What it could be, where that is not clear yet.
    pub(super) choices: Vec<String>,
}

impl Completion {
    /// Completes the end of `before`, the text before the cursor. `None` if it is neither a command nor a mention of a file.
    pub(super) fn complete(&self, before: &str) -> Option<Completed> {
        if let Some(typed) = before.strip_prefix('/')
            && !typed.contains(char::is_whitespace)
        {
            let names = self.commands.iter().map(|name| format!("{name} "));
            return completed(typed, names.collect());
        }
        let word = before.rsplit(char::is_whitespace).next()?.strip_prefix('@')?;
        let (dir, name) = word.rsplit_once('/').map_or(("", word), |(dir, name)| (dir, name));
        let place = match (word.starts_with('/'), dir) {
            (true, "") => PathBuf::from("/"),
            _ => self.dir.join(dir),
        };
        completed(name, entries(&place, name.starts_with('.')))
    }
}

/// The names in a directory, with a slash behind directories and a blank behind files.
fn entries(place: &Path, with_hidden: bool) -> Vec<String> {
    let Ok(entries) = place.read_dir() else { return Vec::new() };
    let name = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let is_plain = !name.contains(|c: char| c.is_whitespace() || c.is_control());
        let end = if entry.path().is_dir() { '/' } else { ' ' };
        (is_plain && (with_hidden || !name.starts_with('.'))).then(|| format!("{name}{end}"))
    };
    entries.take(ENTRIES_MAX).filter_map(Result::ok).filter_map(name).collect()
}

fn completed(typed: &str, mut names: Vec<String>) -> Option<Completed> {
    names.retain(|name| name.starts_with(typed));
    names.sort();
    names.dedup();
    let first = names.first()?;
    let common = names.iter().fold(first.as_str(), |common, name| {
        let same = common.char_indices().zip(name.chars()).take_while(|((_, a), b)| a == b);
        let end = same.last().map_or(0, |((place, a), _)| place + a.len_utf8());
        common.get(..end).unwrap_or_default()
    });
    let added = common.get(typed.len()..).unwrap_or_default().to_owned();
    let choices = names.iter().take(CHOICES_MAX).map(|name| name.trim_end().to_owned()).collect();
    Some(Completed { added, choices })
}

#[cfg(test)]
#[path = "completion_tests.rs"]
mod tests;
