//! This system has no supervisor.

#[derive(Debug)]
pub(super) enum Lifeline {}
