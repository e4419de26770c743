//! The known word that an unknown word was meant to be.

/// The one of `known` that `word` looks like, whatever its case.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let (distance, candidate) = known
        .into_iter()
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .min_by_key(|(distance, _)| *distance)?;
    (distance <= 2 && distance * 2 <= candidate.chars().count()).then_some(candidate)
}

/// What to write instead of `word`: the one of `known` that it looks like, or any of them.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(candidate) => format!("did you mean {candidate:?}?"),
        None => format!("there are {}", known.join(", ")),
    }
}

/// How many characters must change to make `a` of `b`. Long words are not worth the time.
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
