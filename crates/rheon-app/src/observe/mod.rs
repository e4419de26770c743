//! What can be seen of a session from outside: a trace of its events, a log for people, spans and metrics for a collector. All three are
//! views of the same events.

mod error;
mod log;
mod notify_once;
mod observability;
mod otel;
mod trace_file;

#[cfg(test)]
mod fixtures;

pub use error::ObserveError;
pub(crate) use observability::Observability;
