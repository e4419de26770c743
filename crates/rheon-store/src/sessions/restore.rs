//! Stored events made whole again, or as whole as there is room for.

use std::path::Path;

use rheon_types::Event;

use crate::blobs::{Blobs, internalize};
use crate::dedup::{DedupError, Expander};
use crate::journal::{JournalError, StoredEvent, stored_bytes};
use crate::truncate::{Strings, TEXT_BYTES_KEPT, TruncationReport, truncate};

/// Makes the stored events of one journal whole again.
pub(super) struct EventRestorer<'a> {
    path: &'a Path,
    blobs: &'a Blobs,
    expander: Expander,
    fence: u64,
    part: FullRange,
}

/// Which events keep their long texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FullRange {
    /// Those whose lines begin here or later,
    pub(super) from: u64,
    /// unless they are longer than this.
    pub(super) event_bytes_max: u64,
}

impl FullRange {
    /// All events keep their texts.
    pub(super) const ALL: Self = Self { from: 0, event_bytes_max: u64::MAX };

    fn has(self, stored: &StoredEvent<'_>) -> bool {
        stored.offset >= self.from
            && (self.event_bytes_max == u64::MAX
                || stored_bytes(stored.json, stored.blobs) <= self.event_bytes_max)
    }
}

impl<'a> EventRestorer<'a> {
    pub(super) fn new(path: &'a Path, blobs: &'a Blobs, part: FullRange) -> Self {
        Self { path, blobs, expander: Expander::new(), fence: 0, part }
    }

    /// The event, and what of it was left out.
    pub(super) fn event(
        &mut self,
        stored: StoredEvent<'_>,
    ) -> Result<(Event, TruncationReport), JournalError> {
        if stored.fence != self.fence {
            // Whoever wrote it knew nothing of what was written before it opened the journal.
            self.fence = stored.fence;
            self.expander = Expander::new();
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
            && let Some((text, left_out)) = truncate(stored.json, strings)
        {
            // What is left out is left out before anything remembers it.
            return Ok((self.expander.expand(&text)?, left_out));
        }
        let event = match strings {
            Strings::InPlace => self.expander.expand(stored.json),
            Strings::AsBlobs(blobs) => self.expander.expand_value(internalize(stored.json, blobs)?),
        };
        Ok((event?, TruncationReport::default()))
    }
}
