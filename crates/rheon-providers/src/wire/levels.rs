//! Thinking levels: maps a requested level to one that the model supports. Pure.

use rheon_types::ThinkingLevel;

/// The level in `levels`, other than off, that is nearest to `requested`; the lower one of two equally near.
pub(super) fn nearest(levels: &[ThinkingLevel], requested: ThinkingLevel) -> Option<ThinkingLevel> {
    let thinking = levels.iter().copied().filter(|level| *level != ThinkingLevel::Off);
    thinking.min_by_key(|level| (rank(*level).abs_diff(rank(requested)), rank(*level)))
}

fn rank(level: ThinkingLevel) -> u8 {
    match level {
        ThinkingLevel::Off => 0,
        ThinkingLevel::Minimal => 1,
        ThinkingLevel::Low => 2,
        ThinkingLevel::Medium => 3,
        ThinkingLevel::High => 4,
        ThinkingLevel::Max => 5,
    }
}

#[cfg(test)]
mod tests {
    use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off};

    use super::*;

    #[test]
    fn unsupported_level_becomes_the_nearest_one() {
        assert_eq!(
            [Off, Minimal, Low, Max].map(|requested| nearest(&[Off, Low, High], requested)),
            [Some(Low), Some(Low), Some(Low), Some(High)]
        );
        assert_eq!(nearest(&[High, Low], Medium), Some(Low));
        assert_eq!(nearest(&[Off], High), None);
    }
}
