//! Stored events made whole again.

use std::path::Path;

use rheon_types::Event;

use crate::blobs::{Blobs, internalise};
use crate::journal::{JournalError, StoredEvent};
use crate::slim::Expander;

/// Makes the stored events of one journal whole again.
pub(super) struct Whole<'a> {
    path: &'a Path,
    blobs: &'a Blobs,
    expander: Expander,
    fence: u64,
}

impl<'a> Whole<'a> {
    pub(super) fn new(path: &'a Path, blobs: &'a Blobs) -> Self {
        Self { path, blobs, expander: Expander::new(), fence: 0 }
    }

    /// The whole event.
    pub(super) fn event(&mut self, stored: StoredEvent<'_>) -> Result<Event, JournalError> {
        if stored.fence != self.fence {
            // Whoever wrote it knew nothing of what was written before it opened the journal.
            self.fence = stored.fence;
            self.expander = Expander::new();
        }
        let unreadable = |problem: String| JournalError::Unreadable {
            path: self.path.to_owned(),
            seq: stored.seq,
            problem,
        };
        let expanded = match stored.blobs {
            0 => self.expander.expand(stored.json),
            _ => {
                let whole = internalise(stored.json, self.blobs);
                let whole = whole.map_err(|error| unreadable(error.to_string()))?;
                self.expander.expand(&whole)
            }
        };
        expanded.map_err(|error| unreadable(error.to_string()))
    }
}
