//! What a run remembers of its tools: failures, and calls that go in circles; and what is to be learnt from them and from the
//! user's corrections. Pure: facts in, advice out; [`LoopGuard`] brings it into a run.

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
