//! Detects calls that repeat or keep failing, and derives lessons from resolved failures and user corrections. All of
//! it is pure except [`LoopGuard`], the hook that connects it to a run.

mod corrections;
mod failures;
mod guard;
mod lesson;
mod normal_form;
mod repeat_detector;
mod resolutions;

pub use corrections::{correction, corrections};
pub use failures::{Failure, FailureKind, Failures};
pub use guard::LoopGuard;
pub use lesson::{Correction, Lesson, LessonRedactor, LessonSource};
pub use repeat_detector::{RepeatAdvice, RepeatDetector};
pub use resolutions::Resolutions;

#[cfg(test)]
mod lessons_tests;
