//! `TruncationReport`: what was left out of events.

use std::ops::AddAssign;

/// What was left out of events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TruncationReport {
    /// How many texts and pictures.
    pub texts: u64,
    /// How many bytes they have in the log, more or less: escapes count as they are written.
    pub bytes: u64,
}

impl AddAssign for TruncationReport {
    fn add_assign(&mut self, more: Self) {
        self.texts = self.texts.saturating_add(more.texts);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }
}
