//! What a subscriber has to catch up on: the rest of a log, and of the logs of children.

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_types::{ClientError, Event, RunId, SessionId};

use super::children::ChildPlaces;
use super::hub::{Draft, Hub};
use super::past::Pages;

/// What a subscriber has to catch up on before it sees what happens now. It holds a page of the log at most.
pub(super) struct CatchUp {
    pub(super) log: Reader,
    /// Events read from the log and not sent yet.
    pub(super) page: VecDeque<Arc<Event>>,
    /// The last event that does not come through the ring.
    pub(super) until: u64,
    /// The part of the open message written so far.
    pub(super) draft: Draft,
    pub(super) children: ChildPlaces,
    pub(super) because: CatchUpReason,
    pub(super) child: Option<ChildCatchUp>,
}

/// Why a subscriber has to catch up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CatchUpReason {
    /// It begins after an event of the past. What children did before is in their own sessions.
    Joined,
    /// It read too slowly. It gets what it missed, of children too.
    FellBehind,
}

/// What a subscriber missed of a child and reads from the child's log.
pub(super) struct ChildCatchUp {
    pub(super) log: Reader,
    pub(super) session_id: SessionId,
    pub(super) after: u64,
    pub(super) end: CatchUpEnd,
}

/// How far a child's log is read.
pub(super) enum CatchUpEnd {
    /// To this event: the child still runs.
    Event(u64),
    /// From the beginning of this run, if it was not shown, to its end.
    Run { run_id: RunId, has_begun: bool },
}

impl ChildCatchUp {
    /// The last event that is wanted, where that is known.
    pub(super) fn through(&self) -> Option<u64> {
        match self.end {
            CatchUpEnd::Event(seq) => Some(seq),
            CatchUpEnd::Run { .. } => None,
        }
    }
}

/// Reads a log off the async threads.
pub(super) struct Reader {
    hub: Hub,
    session_id: SessionId,
    pages: Option<Box<dyn Pages>>,
}

impl Reader {
    pub(super) fn new(hub: &Hub, session_id: &SessionId) -> Self {
        Self { hub: hub.clone(), session_id: session_id.clone(), pages: None }
    }

    /// The next durable events after `after`; none if the log has no more.
    pub(super) async fn next(&mut self, after: u64) -> Result<Vec<Arc<Event>>, ClientError> {
        if let Some(page) = self.hub.remembered(&self.session_id, after) {
            return Ok(page);
        }
        let mut pages = match self.pages.take() {
            Some(pages) => pages,
            None => self.hub.past(&self.session_id),
        };
        let reading = tokio::task::spawn_blocking(move || {
            let page = pages.next(after);
            (pages, page)
        });
        let (pages, page) = reading.await.map_err(ClientError::failed)?;
        self.pages = Some(pages);
        page
    }
}

#[cfg(test)]
#[path = "catch_up_tests.rs"]
mod tests;
