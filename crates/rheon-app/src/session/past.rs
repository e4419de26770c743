//! `Past`: the events of a session, read from its log a page at a time.

use std::sync::Arc;

use rheon_store::sessions::{EventPages, PageSize};
use rheon_types::{ClientError, Event, SessionId};

use crate::sessions::{SessionManager, Unsaved};

/// How much of a log is in memory at once for a subscriber that reads it. The last event of a page may be longer.
pub(super) const PAGE: PageSize = PageSize { events_max: 256, bytes_max: 1024 * 1024 };

/// Opens the log of a session, or of a child of it, to be read.
pub(super) type Past = Arc<dyn Fn(&SessionId) -> Box<dyn Pages> + Send + Sync>;

/// A log that is read in pages.
pub(super) trait Pages: Send {
    /// The next durable events after the one with number `after`, at most a [`PAGE`]; none if the log has no more. Blocks.
    fn next(&mut self, after: u64) -> Result<Vec<Arc<Event>>, ClientError>;
}

/// The logs that `manager` keeps, and what of them is not in a journal.
pub(super) fn logs(manager: SessionManager, unsaved: Unsaved) -> Past {
    Arc::new(move |session_id| {
        let (manager, unsaved) = (manager.clone(), Arc::clone(&unsaved));
        Box::new(Log { manager, unsaved, session_id: session_id.clone(), journal: None })
    })
}

struct Log {
    manager: SessionManager,
    unsaved: Unsaved,
    session_id: SessionId,
    /// Absent until there is one.
    journal: Option<EventPages>,
}

impl Pages for Log {
    fn next(&mut self, after: u64) -> Result<Vec<Arc<Event>>, ClientError> {
        // Before the journal is read: what leaves this list is in the journal by then.
        let unsaved = (self.unsaved)(&self.session_id, after, PAGE.events_max);
        if self.journal.is_none() {
            self.journal = match self.manager.pages(&self.session_id) {
                Ok(journal) => journal,
                // A journal that cannot even be looked for: what there is, is in memory.
                Err(_) if !unsaved.is_empty() => None,
                Err(error) => return Err(error),
            };
        }
        let Some(journal) = &mut self.journal else { return Ok(unsaved) };
        match journal.next(after, PAGE) {
            Ok(saved) if saved.is_empty() => Ok(unsaved),
            Ok(saved) => Ok(saved.into_iter().map(Arc::new).collect()),
            Err(_) if unsaved.first().is_some_and(|event| event.seq == after + 1) => Ok(unsaved),
            Err(error) => Err(ClientError::failed(error)),
        }
    }
}
