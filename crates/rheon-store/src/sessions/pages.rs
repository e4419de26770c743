//! `EventPages`: the events of a session in pages, each read from where the one before ended.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use rheon_types::Event;

use super::error::SessionFileError;
use super::restore::{EventRestorer, FullRange, RestoreState};
use crate::blobs::Blobs;
use crate::journal::{ScanPosition, ScanStop, open_to_read, scan_from, stored_bytes};

/// The size of a page: it ends with the event that reaches one of these limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSize {
    pub events_max: usize,
    /// Bytes of stored events, payloads included.
    pub bytes_max: u64,
}

/// Reads the events of a session in pages. Between two pages no file is open, and memory holds only what later events
/// of open runs refer to. Safe while another process writes: a later page includes its events.
#[derive(Debug)]
pub struct EventPages {
    blobs: Arc<Blobs>,
    /// The journals that are not read completely, oldest first.
    journals: VecDeque<PageSource>,
    /// Where to continue in the first of them.
    position: Option<ScanPosition>,
    state: RestoreState,
}

/// A journal and its last event that belongs to the session.
#[derive(Debug)]
pub(super) struct PageSource {
    pub(super) path: PathBuf,
    pub(super) last: u64,
}

impl EventPages {
    pub(super) fn new(blobs: Arc<Blobs>, journals: VecDeque<PageSource>) -> Self {
        Self { blobs, journals, position: None, state: RestoreState::default() }
    }

    /// The next events after number `after`; empty if there are none yet.
    pub fn next(&mut self, after: u64, size: PageSize) -> Result<Vec<Event>, SessionFileError> {
        loop {
            let page = self.read(after, size)?;
            if !page.is_empty() || self.journals.len() <= 1 {
                return Ok(page);
            }
            self.journals.pop_front();
            (self.position, self.state) = (None, RestoreState::default());
        }
    }

    /// A page of the first journal.
    fn read(&mut self, after: u64, size: PageSize) -> Result<Vec<Event>, SessionFileError> {
        let Some(PageSource { path, last }) = self.journals.front() else { return Ok(Vec::new()) };
        let (mut events, mut bytes) = (Vec::new(), 0_u64);
        let mut restorer =
            EventRestorer::continuing(path, &self.blobs, FullRange::ALL, std::mem::take(&mut self.state));
        let position = scan_from(path, &open_to_read(path)?, self.position, |stored| {
            if stored.seq > *last {
                return Ok(ControlFlow::Break(ScanStop::Unused));
            }
            let (seq, size_of) = (stored.seq, stored_bytes(stored.json, stored.blobs));
            let (event, _) = restorer.event(stored)?;
            if seq > after {
                bytes = bytes.saturating_add(size_of);
                events.push(event);
            }
            let is_full = events.len() >= size.events_max || bytes >= size.bytes_max;
            Ok(if is_full && !events.is_empty() {
                ControlFlow::Break(ScanStop::Last)
            } else {
                ControlFlow::Continue(())
            })
        })?;
        self.state = restorer.into_state();
        self.position = Some(position);
        Ok(events)
    }
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;
