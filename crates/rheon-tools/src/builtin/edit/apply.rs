//! Exact replacements in a text, all or none.

use std::fmt;

use super::hint::hint;
use crate::files::FILE_BYTES_MAX;

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replacement {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) occurrences: Occurrences,
}

/// Which occurrences are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occurrences {
    /// There is only one.
    Single,
    /// Every one.
    All,
}

/// Why a text was not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EditProblem {
    /// Which edit, counted from 1, of how many.
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

/// How many lines are named where a text occurs more than once.
const LINES_SHOWN_MAX: usize = 10;

/// The text after all `edits`, and how often each applied.
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
        let problem = "the edits undo each other; nothing would change".into();
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
        return Err(format!("the file would have more than {FILE_BYTES_MAX} bytes"));
    }
    Ok((text.replace(old.as_str(), new), count))
}

/// Where `old` begins in `text`, overlaps included: of `aa` in `aaa` there are two.
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
