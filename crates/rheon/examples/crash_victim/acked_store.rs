//! `AckedStore`: the journals, and a line outside for everything that they acknowledge.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rheon::Event;
use rheon::store::sessions::JournalStore;
use rheon::types::{Answer, Store, StoreError};

use crate::acks::Acks;

/// Passes everything on to the journals, and says outside what they have acknowledged.
pub(crate) struct AckedStore {
    pub(crate) journals: Arc<JournalStore>,
    pub(crate) acks: Arc<Acks>,
    pub(crate) last: Arc<AtomicU64>,
}

impl Store for AckedStore {
    fn append(&self, event: &Event) -> Result<(), StoreError> {
        self.journals.append(event)?;
        self.last.store(event.seq, Ordering::Relaxed);
        self.acks.appended(event).map_err(|error| StoreError::new(error.to_string()))
    }

    fn sync(&self) -> Answer<'_, Result<(), StoreError>> {
        let last = self.last.load(Ordering::Relaxed);
        let synced = self.journals.sync();
        Answer::later(async move {
            synced.get().await?;
            self.acks.say(&format!("sync {last}")).map_err(|error| StoreError::new(error.to_string()))
        })
    }
}
