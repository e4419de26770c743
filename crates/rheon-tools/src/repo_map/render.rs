//! From ranked definitions to text within a number of tokens.

use std::collections::BTreeSet;

use super::index::File;
use super::rank::Place;

/// As many of the first of `ranked` as fit into `tokens_max`, as text.
pub(super) fn fit(
    files: &[File<'_>],
    ranked: &[Place],
    tokens_max: u64,
    count: &dyn Fn(&str) -> u64,
) -> String {
    // A definition has a line of its own, hence at least one token.
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

/// The definitions in the order of paths and lines, with those around them.
fn render(files: &[File<'_>], chosen: &[Place]) -> String {
    let mut places: BTreeSet<Place> = BTreeSet::new();
    for place in chosen {
        let mut next = Some(*place);
        // What stands around a definition is there already if it came with another one.
        while let Some(place) = next.filter(|place| places.insert(*place)) {
            next = parent(files, place);
        }
    }
    let mut text = String::new();
    let mut last_file = None;
    for place in places {
        let Some((path, tags)) = files.get(place.file) else { continue };
        if last_file != Some(place.file) {
            text.push_str(path);
            text.push_str(":\n");
            last_file = Some(place.file);
        }
        if let Some(definition) = tags.definitions.get(place.definition) {
            text.push_str(&"  ".repeat(depth(files, place)));
            text.push_str(&definition.signature);
            text.push('\n');
        }
    }
    text
}

/// The definition around one. It always comes before.
fn parent(files: &[File<'_>], place: Place) -> Option<Place> {
    let (_, tags) = files.get(place.file)?;
    let parent = tags.definitions.get(place.definition)?.parent?;
    let definition = usize::try_from(parent).ok().filter(|parent| *parent < place.definition)?;
    Some(Place { definition, ..place })
}

/// How deep a definition stands, at most so deep that the indentation does not outweigh it.
fn depth(files: &[File<'_>], place: Place) -> usize {
    const DEPTH_MAX: usize = 8;
    std::iter::successors(Some(place), |place| parent(files, *place)).take(DEPTH_MAX).count()
}
