//! Renders ranked definitions as text within a token limit.

use std::collections::BTreeSet;

use super::index::File;
use super::rank::DefinitionRef;

/// Renders as many of the top-ranked definitions as fit in `tokens_max`.
pub(super) fn fit(
    files: &[File<'_>],
    ranked: &[DefinitionRef],
    tokens_max: u64,
    count: &dyn Fn(&str) -> u64,
) -> String {
    // Each definition takes a line, so at least one token.
    let tokens_max_usize = usize::try_from(tokens_max).unwrap_or(usize::MAX);
    let candidates = ranked.get(..ranked.len().min(tokens_max_usize)).unwrap_or(ranked);
    let mut fits = (0, String::new());
    let mut too_many = candidates.len() + 1;
    while fits.0 + 1 < too_many {
        let middle = fits.0.midpoint(too_many);
        let text = render(files, candidates.get(..middle).unwrap_or(candidates));
        if count(&text) <= tokens_max {
            fits = (middle, text);
        } else {
            too_many = middle;
        }
    }
    fits.1
}

/// The definitions in order of path and line, each below the definitions that enclose it.
fn render(files: &[File<'_>], chosen: &[DefinitionRef]) -> String {
    let mut shown: BTreeSet<DefinitionRef> = BTreeSet::new();
    for chosen in chosen {
        let mut next = Some(*chosen);
        // An enclosing definition that another one brought in already has its own parents.
        while let Some(added) = next.filter(|next| shown.insert(*next)) {
            next = parent(files, added);
        }
    }
    let mut text = String::new();
    let mut last_file = None;
    for shown in shown {
        let Some((path, tags)) = files.get(shown.file) else { continue };
        if last_file != Some(shown.file) {
            text.push_str(path);
            text.push_str(":\n");
            last_file = Some(shown.file);
        }
        if let Some(definition) = tags.definitions.get(shown.index) {
            text.push_str(&"  ".repeat(depth(files, shown)));
            text.push_str(&definition.signature);
            text.push('\n');
        }
    }
    text
}

/// The enclosing definition, which always comes earlier in the file.
fn parent(files: &[File<'_>], child: DefinitionRef) -> Option<DefinitionRef> {
    let (_, tags) = files.get(child.file)?;
    let parent = tags.definitions.get(child.index)?.parent?;
    let index = usize::try_from(parent).ok().filter(|parent| *parent < child.index)?;
    Some(DefinitionRef { index, ..child })
}

/// The nesting depth of a definition, capped so that indentation does not outweigh the text.
fn depth(files: &[File<'_>], definition: DefinitionRef) -> usize {
    const DEPTH_MAX: usize = 8;
    std::iter::successors(Some(definition), |child| parent(files, *child)).take(DEPTH_MAX).count()
}
