//! The journal: one session, one file, one line per durable event.

mod error;
mod file;
mod header;
mod lines;
mod newest;
mod record;
mod scan;
mod writer;

pub use error::{JournalError, next_step};
pub(crate) use file::open_to_read;
pub use header::{Header, Lease, Parent};
pub(crate) use newest::{Room, newest, stored_bytes};
pub use record::{JOURNAL_VERSION, LINE_BYTES_MAX, LineProblem};
pub use scan::{Damage, Scan};
pub(crate) use scan::{Place, StoredEvent, Taken, read_header, scan, scan_on};
pub(crate) use writer::sync_names;
pub use writer::{Journal, Opened};
