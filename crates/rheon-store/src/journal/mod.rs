//! The journal: one file per session, one line per durable event.

mod error;
pub(crate) mod file;
mod header;
mod lines;
mod newest;
mod record;
mod scan;
mod writer;

pub use error::{JournalError, NewerContent, next_step};
pub(crate) use file::{damaged_copies, open_to_read};
pub use header::{JournalHeader, JournalParent, Lease};
pub(crate) use newest::{ByteBudget, newest, stored_bytes};
pub use record::{JOURNAL_VERSION, LINE_BYTES_MAX, LineProblem};
pub use scan::{Damage, JournalScan};
pub(crate) use scan::{ScanPosition, ScanStop, StoredEvent, read_header, scan, scan_from};
pub(crate) use writer::sync_names;
pub use writer::{Journal, OpenedJournal};
