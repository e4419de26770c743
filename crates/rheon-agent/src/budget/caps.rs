//! `Caps`: the most that may be spent.

use std::time::Duration;

use rheon_types::MicroUsd;

/// The most that may be spent; absent where there is no cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caps {
    /// Tokens, of prompts and answers together.
    pub tokens: Option<u64>,
    /// Money.
    pub cost: Option<MicroUsd>,
    /// Time on the wall clock.
    pub wall: Option<Duration>,
}
