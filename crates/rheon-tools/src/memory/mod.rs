//! What a run remembers of its tools: failures, and calls that go in circles; and what is to be learnt from them and from the
//! user's corrections. Pure: facts in, advice out; [`Watch`] brings it into a run.

mod circles;
mod corrections;
mod failures;
mod lesson;
mod normal;
mod resolutions;
mod watch;

pub use circles::{CallCircles, CircleAdvice};
pub use corrections::{correction, corrections};
pub use failures::{Failure, FailureKind, Failures};
pub use lesson::{Correction, Lesson, LessonSource, Redact};
pub use resolutions::Resolutions;
pub use watch::Watch;

#[cfg(test)]
mod lessons_tests;
