//! `TruncationReport`: how much was cut from events.

use std::ops::AddAssign;

/// How much was cut from events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TruncationReport {
    /// The number of texts and images.
    pub texts: u64,
    /// Their size in the journal. Escape sequences count as written.
    pub bytes: u64,
}

impl AddAssign for TruncationReport {
    fn add_assign(&mut self, more: Self) {
        self.texts = self.texts.saturating_add(more.texts);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }
}
