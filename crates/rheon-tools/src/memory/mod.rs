//! What a run remembers of its tools: failures, and calls that go in circles. Pure: facts in, advice out.

mod circles;
mod failures;
mod normal;

pub use circles::{CallCircles, CircleAdvice};
pub use failures::{Failure, FailureKind, Failures};
