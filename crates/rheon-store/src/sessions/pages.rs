//! `EventPages`: the events of a session in pages, each read from where the one before ended.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use rheon_types::Event;

use super::error::SessionError;
use super::whole::{Part, Recalled, Whole};
use crate::blobs::Blobs;
use crate::journal::{Place, Taken, open_to_read, scan_on, stored_bytes};

/// How much one page holds: it ends with the event that reaches one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSize {
    /// So many events.
    pub events_max: usize,
    /// So many bytes of events as they are stored, their payloads included.
    pub bytes_max: u64,
}

/// Reads the events of a session in pages. Between two pages no file is open, and nothing is held but what later events of the runs in
/// progress lean on. May be used while somebody writes: a later page has what was written since.
#[derive(Debug)]
pub struct EventPages {
    blobs: Arc<Blobs>,
    /// The journals that are not read to their end, oldest first.
    journals: VecDeque<PageSource>,
    /// Where the first of them is read on.
    place: Option<Place>,
    recalled: Recalled,
}

/// A journal, and the last event of it that belongs to the session.
#[derive(Debug)]
pub(super) struct PageSource {
    pub(super) path: PathBuf,
    pub(super) last: u64,
}

impl EventPages {
    pub(super) fn new(blobs: Arc<Blobs>, journals: VecDeque<PageSource>) -> Self {
        Self { blobs, journals, place: None, recalled: Recalled::default() }
    }

    /// The next events that have a number above `after`. None if there are no more so far.
    pub fn next(&mut self, after: u64, size: PageSize) -> Result<Vec<Event>, SessionError> {
        loop {
            let page = self.read(after, size)?;
            if !page.is_empty() || self.journals.len() <= 1 {
                return Ok(page);
            }
            self.journals.pop_front();
            (self.place, self.recalled) = (None, Recalled::default());
        }
    }

    /// A page of the first journal.
    fn read(&mut self, after: u64, size: PageSize) -> Result<Vec<Event>, SessionError> {
        let Some(PageSource { path, last }) = self.journals.front() else { return Ok(Vec::new()) };
        let (mut events, mut bytes) = (Vec::new(), 0_u64);
        let mut whole = Whole::recalling(path, &self.blobs, Part::ALL, std::mem::take(&mut self.recalled));
        let place = scan_on(path, &open_to_read(path)?, self.place, |stored| {
            if stored.seq > *last {
                return Ok(ControlFlow::Break(Taken::Not));
            }
            let (seq, size_of) = (stored.seq, stored_bytes(stored.json, stored.blobs));
            let (event, _) = whole.event(stored)?;
            if seq > after {
                bytes = bytes.saturating_add(size_of);
                events.push(event);
            }
            let is_full = events.len() >= size.events_max || bytes >= size.bytes_max;
            Ok(if is_full && !events.is_empty() {
                ControlFlow::Break(Taken::Last)
            } else {
                ControlFlow::Continue(())
            })
        })?;
        self.recalled = whole.recalled();
        self.place = Some(place);
        Ok(events)
    }
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;
