//! There is no supervisor on this system.

/// Never there.
#[derive(Debug)]
pub(super) enum Lifeline {}
