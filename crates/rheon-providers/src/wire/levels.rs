//! Levels of thinking: which of those that a model knows stands for the one that is asked for. Pure.

use rheon_types::ThinkingLevel;

/// The level among `levels`, other than off, that is nearest to `asked`; of two equally near the lower.
pub(super) fn nearest(levels: &[ThinkingLevel], asked: ThinkingLevel) -> Option<ThinkingLevel> {
    let thinking = levels.iter().copied().filter(|level| *level != ThinkingLevel::Off);
    thinking.min_by_key(|level| (rank(*level).abs_diff(rank(asked)), rank(*level)))
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
    fn a_level_that_a_model_does_not_know_becomes_the_nearest_one() {
        assert_eq!(
            [Off, Minimal, Low, Max].map(|asked| nearest(&[Off, Low, High], asked)),
            [Some(Low), Some(Low), Some(Low), Some(High)]
        );
        assert_eq!(nearest(&[High, Low], Medium), Some(Low));
        assert_eq!(nearest(&[Off], High), None);
    }
}
