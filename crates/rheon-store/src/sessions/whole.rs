//! Stored events made whole again, or as whole as there is room for.

use std::path::Path;

use rheon_types::Event;

use crate::blobs::{Blobs, internalise};
use crate::brief::{LeftOut, Strings, TEXT_BYTES_KEPT, brief};
use crate::journal::{JournalError, StoredEvent, stored_bytes};
use crate::slim::{ExpandError, Expander};

/// Makes the stored events of one journal whole again.
pub(super) struct Whole<'a> {
    path: &'a Path,
    blobs: &'a Blobs,
    recalled: Recalled,
    part: Part,
}

/// What the events of a journal so far have carried, for those that leave it out.
#[derive(Debug, Default)]
pub(super) struct Recalled {
    expander: Expander,
    fence: u64,
}

/// Which events keep their long texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Those whose lines begin here or later,
    pub(super) from: u64,
    /// unless they are longer than this.
    pub(super) event_bytes_max: u64,
}

impl Part {
    /// All events keep their texts.
    pub(super) const ALL: Self = Self { from: 0, event_bytes_max: u64::MAX };

    fn has(self, stored: &StoredEvent<'_>) -> bool {
        stored.offset >= self.from
            && (self.event_bytes_max == u64::MAX
                || stored_bytes(stored.json, stored.blobs) <= self.event_bytes_max)
    }
}

impl<'a> Whole<'a> {
    pub(super) fn new(path: &'a Path, blobs: &'a Blobs, part: Part) -> Self {
        Self::recalling(path, blobs, part, Recalled::default())
    }

    /// The same for events that follow those of `recalled`.
    pub(super) fn recalling(path: &'a Path, blobs: &'a Blobs, part: Part, recalled: Recalled) -> Self {
        Self { path, blobs, recalled, part }
    }

    /// What the events so far have carried.
    pub(super) fn recalled(self) -> Recalled {
        self.recalled
    }

    /// The event, and what of it was left out.
    pub(super) fn event(&mut self, stored: StoredEvent<'_>) -> Result<(Event, LeftOut), JournalError> {
        if stored.fence != self.recalled.fence {
            // Whoever wrote it knew nothing of what was written before it opened the journal.
            self.recalled = Recalled { expander: Expander::new(), fence: stored.fence };
        }
        self.expand(&stored).map_err(|error| JournalError::Unreadable {
            path: self.path.to_owned(),
            seq: stored.seq,
            problem: error.to_string(),
        })
    }

    fn expand(&mut self, stored: &StoredEvent<'_>) -> Result<(Event, LeftOut), ExpandError> {
        let strings = match stored.blobs {
            0 => Strings::InPlace,
            _ => Strings::AsBlobs(self.blobs),
        };
        let may_be_long = stored.blobs > 0 || stored.json.len() > TEXT_BYTES_KEPT;
        if may_be_long
            && !self.part.has(stored)
            && let Some((text, left_out)) = brief(stored.json, strings)
        {
            // What is left out is left out before anything remembers it.
            return Ok((self.recalled.expander.expand(&text)?, left_out));
        }
        let event = match strings {
            Strings::InPlace => self.recalled.expander.expand(stored.json),
            Strings::AsBlobs(blobs) => self.recalled.expander.expand_value(internalise(stored.json, blobs)?),
        };
        Ok((event?, LeftOut::default()))
    }
}
