//! Restores stored events, with long texts only where the budget allows.

use std::path::Path;

use rheon_types::Event;

use crate::blobs::{Blobs, internalize};
use crate::dedup::{DedupError, Expander};
use crate::journal::{JournalError, StoredEvent, stored_bytes};
use crate::truncate::{Strings, TEXT_BYTES_KEPT, TruncationReport, truncate};

/// Restores the stored events of one journal.
pub(super) struct EventRestorer<'a> {
    path: &'a Path,
    blobs: &'a Blobs,
    state: RestoreState,
    part: FullRange,
}

/// What the events so far have held, for later events that refer to it.
#[derive(Debug, Default)]
pub(super) struct RestoreState {
    expander: Expander,
    fence: u64,
}

/// The events that keep their long texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FullRange {
    /// The offset of the first line that keeps them.
    pub(super) from: u64,
    /// Larger events are always truncated.
    pub(super) event_bytes_max: u64,
}

impl FullRange {
    /// Every event keeps its texts.
    pub(super) const ALL: Self = Self { from: 0, event_bytes_max: u64::MAX };

    fn has(self, stored: &StoredEvent<'_>) -> bool {
        stored.offset >= self.from
            && (self.event_bytes_max == u64::MAX
                || stored_bytes(stored.json, stored.blobs) <= self.event_bytes_max)
    }
}

impl<'a> EventRestorer<'a> {
    pub(super) fn new(path: &'a Path, blobs: &'a Blobs, part: FullRange) -> Self {
        Self::continuing(path, blobs, part, RestoreState::default())
    }

    /// Like [`Self::new`], for events that follow those of `state`.
    pub(super) fn continuing(path: &'a Path, blobs: &'a Blobs, part: FullRange, state: RestoreState) -> Self {
        Self { path, blobs, state, part }
    }

    /// The state after the events so far.
    pub(super) fn into_state(self) -> RestoreState {
        self.state
    }

    /// Returns the event and what was cut from it.
    pub(super) fn event(
        &mut self,
        stored: StoredEvent<'_>,
    ) -> Result<(Event, TruncationReport), JournalError> {
        if stored.fence != self.state.fence {
            // A new writer knows nothing of the events before it opened the journal.
            self.state = RestoreState { expander: Expander::new(), fence: stored.fence };
        }
        self.expand(&stored).map_err(|error| JournalError::Unreadable {
            path: self.path.to_owned(),
            seq: stored.seq,
            problem: error.to_string(),
        })
    }

    fn expand(&mut self, stored: &StoredEvent<'_>) -> Result<(Event, TruncationReport), DedupError> {
        let strings = match stored.blobs {
            0 => Strings::InPlace,
            _ => Strings::AsBlobs(self.blobs),
        };
        let may_be_long = stored.blobs > 0 || stored.json.len() > TEXT_BYTES_KEPT;
        if may_be_long
            && !self.part.has(stored)
            && let Some((text, truncation)) = truncate(stored.json, strings)
        {
            // Truncate first, so that the expander does not keep the full text in memory.
            return Ok((self.state.expander.expand(&text)?, truncation));
        }
        let event = match strings {
            Strings::InPlace => self.state.expander.expand(stored.json),
            Strings::AsBlobs(blobs) => self.state.expander.expand_value(internalize(stored.json, blobs)?),
        };
        Ok((event?, TruncationReport::default()))
    }
}
