//! Suggestions for misspelled words.

/// The word in `known` that is closest to `word`, ignoring case; `None` if none is close.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let (distance, candidate) = known
        .into_iter()
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .min_by_key(|(distance, _)| *distance)?;
    (distance <= 2 && distance * 2 <= candidate.chars().count()).then_some(candidate)
}

/// Suggests the closest word in `known`, or lists all of them.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(candidate) => format!("did you mean {candidate:?}?"),
        None => format!("expected one of {}", known.join(", ")),
    }
}

/// The edit distance. Long words are not compared.
fn distance(a: &str, b: &str) -> usize {
    const CHARACTERS_MAX: usize = 64;
    if a.chars().nth(CHARACTERS_MAX).is_some() {
        return usize::MAX / 4;
    }
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (index, left) in a.chars().enumerate() {
        let mut next = vec![index + 1];
        let mut before = index + 1;
        for ((right, above_left), above) in b.chars().zip(&row).zip(row.iter().skip(1)) {
            before = (above_left + usize::from(left != right)).min(above + 1).min(before + 1);
            next.push(before);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
#[path = "nearest_tests.rs"]
mod tests;
