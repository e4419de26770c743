//! What a run remembers of its tools: failures, and calls that go in circles. Pure: facts in, advice out; [`Watch`] brings
//! both into a run.

mod circles;
mod failures;
mod normal;
mod watch;

pub use circles::{CallCircles, CircleAdvice};
pub use failures::{Failure, FailureKind, Failures};
pub use watch::Watch;
