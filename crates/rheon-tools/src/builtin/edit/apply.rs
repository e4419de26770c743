//! Applies exact replacements to a text, all or nothing.

use std::fmt;

use super::hint::hint;
use crate::files::FILE_BYTES_MAX;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replacement {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) occurrences: Occurrences,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occurrences {
    /// Exactly one must exist.
    Single,
    All,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EditProblem {
    /// The number of the edit, from 1, and the total.
    number: (usize, usize),
    problem: String,
}

impl fmt::Display for EditProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, of) = self.number;
        if of > 1 {
            write!(f, "edit {number} of {of}: ")?;
        }
        f.write_str(&self.problem)
    }
}

/// The most line numbers listed if a text occurs more than once.
const LINES_SHOWN_MAX: usize = 10;

/// Applies all `edits` in order, and counts the replacements of each.
pub(super) fn apply(text: &str, edits: &[Replacement]) -> Result<(String, Vec<usize>), EditProblem> {
    let mut current = text.to_owned();
    let mut counts = Vec::with_capacity(edits.len());
    for (number, edit) in (1..).zip(edits) {
        let problem = |problem| EditProblem { number: (number, edits.len()), problem };
        let (next, count) = replace(&current, edit).map_err(problem)?;
        current = next;
        counts.push(count);
    }
    if current == text {
        let problem = "the edits cancel each other out; nothing would change".into();
        return Err(EditProblem { number: (edits.len(), 1), problem });
    }
    Ok((current, counts))
}

fn replace(text: &str, edit: &Replacement) -> Result<(String, usize), String> {
    let Replacement { old, new, occurrences } = edit;
    if old.is_empty() {
        return Err("`old_string` is empty; use `write` to fill an empty file".into());
    }
    if old == new {
        return Err("`old_string` and `new_string` are the same; nothing would change".into());
    }
    let count = match occurrences {
        Occurrences::Single => occurrences_of(text, old).take(LINES_SHOWN_MAX + 1).count(),
        Occurrences::All => text.matches(old.as_str()).count(),
    };
    if count == 0 {
        return Err(format!("`old_string` is not in the file{}", hint(text, old)));
    }
    if *occurrences == Occurrences::Single && count > 1 {
        let lines: Vec<_> =
            occurrences_of(text, old).take(LINES_SHOWN_MAX).map(|at| line_of(text, at).to_string()).collect();
        let more = if count > LINES_SHOWN_MAX { " and more" } else { "" };
        let advice = "add lines around it to make it unique, or set `replace_all`";
        return Err(format!(
            "`old_string` occurs more than once (lines {}{more}); {advice}",
            lines.join(", ")
        ));
    }
    let size = (text.len() as u64).saturating_sub((count * old.len()) as u64);
    if size.saturating_add((count as u64).saturating_mul(new.len() as u64)) > FILE_BYTES_MAX {
        return Err(format!("the file would be larger than {FILE_BYTES_MAX} bytes"));
    }
    Ok((text.replace(old.as_str(), new), count))
}

/// The positions of `old` in `text`, including overlaps: `aaa` contains `aa` twice.
fn occurrences_of<'a>(text: &'a str, old: &'a str) -> impl Iterator<Item = usize> + 'a {
    let step = old.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find(old)?;
        from = at + step;
        Some(at)
    })
}

fn line_of(text: &str, at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', text.as_bytes().get(..at).unwrap_or_default()).count()
}
