//! `TaskMentions`: the names of definitions and files that a task mentions, as written in code or in plain words.

use std::collections::HashSet;

use super::tags::NAME_CHARACTERS_MIN;

/// The most bytes of a task that are read.
const TASK_BYTES_MAX: usize = 64 * 1024;

/// The weight of a name written as in code.
const AS_CODE: f64 = 10.0;
/// The weight of a name whose parts all occur, as "session store" mentions `SessionStore`.
const IN_PARTS: f64 = 5.0;
/// The weight of a name that may just be an ordinary word.
const AS_WORD: f64 = 2.0;
/// The weight of a file named with its directory or extension.
const FILE: f64 = 20.0;

/// The names and files that a task mentions.
#[derive(Debug, Default)]
pub(super) struct TaskMentions {
    /// Words as written.
    exact: HashSet<String>,
    /// Parts of words, in lower case.
    parts: HashSet<String>,
    /// Possible paths and file names.
    paths: Vec<String>,
}

impl TaskMentions {
    pub(super) fn of(task: &str) -> Self {
        let task = task.get(..task.floor_char_boundary(TASK_BYTES_MAX)).unwrap_or(task);
        let words = || {
            let is_apart = |character: char| !(character.is_alphanumeric() || character == '_');
            task.split(is_apart).filter(|word| word.chars().count() >= NAME_CHARACTERS_MIN)
        };
        let is_around = |character: char| !(character.is_alphanumeric() || matches!(character, '_' | '/'));
        let mut paths: Vec<String> = task
            .split(|character: char| character.is_whitespace() || matches!(character, '`' | '"' | '\'' | ','))
            .map(|word| word.trim_matches(is_around).trim_start_matches('/'))
            .filter(|word| word.contains(['/', '.']))
            .map(str::to_owned)
            .collect();
        paths.sort_unstable();
        paths.dedup();
        Self { exact: words().map(str::to_owned).collect(), parts: words().flat_map(parts).collect(), paths }
    }

    /// The extra weight of a name because of the task. 0 if the task does not mention it.
    pub(super) fn weight(&self, name: &str) -> f64 {
        if self.exact.is_empty() || name.chars().count() < NAME_CHARACTERS_MIN {
            return 0.0;
        }
        let parts = parts(name);
        let is_exact = self.exact.contains(name);
        if parts.len() < 2 && !name.contains('_') && name.chars().all(char::is_lowercase) {
            return if is_exact { AS_WORD } else { 0.0 };
        }
        if is_exact {
            return AS_CODE;
        }
        let is_said = !parts.is_empty() && parts.iter().all(|part| self.parts.contains(part));
        match parts.len() {
            _ if !is_said => 0.0,
            0 | 1 => AS_WORD,
            _ => IN_PARTS,
        }
    }

    /// The extra weight of a file because the task names it.
    pub(super) fn file_weight(&self, path: &str) -> f64 {
        let is_named = self.paths.iter().any(|named| {
            path.strip_suffix(named.as_str()).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        });
        if is_named { FILE } else { 0.0 }
    }
}

/// The parts of a name in lower case: `RepoMap`, `repo_map` and `repoMap` have the same.
fn parts(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut was_small = false;
    for character in name.chars() {
        let is_border = character == '_' || (character.is_uppercase() && was_small);
        if is_border && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        if character != '_' {
            part.extend(character.to_lowercase());
        }
        was_small = character.is_lowercase() || character.is_numeric();
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}
