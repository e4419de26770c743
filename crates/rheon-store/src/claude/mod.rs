//! Transcripts of Claude Code, read and written: `<projects folder>/<project>/<session uuid>.jsonl`, one JSON object per
//! line, only ever appended to.
//!
//! A transcript is a view of a session for another program; the journal stays the truth. What the format has no words for
//! stands in a field `rheon` of the entry, which the real program passes over.
//!
//! Deleted entries are named by a line of our own, `{"type":"tombstone","tombstoneUuids":[..],"timestamp":..,"sessionId":..}`.
//! The real program passes over it too; it stops seeing what was deleted once something new was said, because that hangs
//! on what was left.

mod blocks;
mod chain;
mod compose;
mod conversation;
mod entry;
mod extras;
mod facts;
mod folder;
mod ident;
mod lines;
mod list;
mod moment;
mod tail;
mod transcript;
mod writer;

pub use blocks::{read_shown, write_shown};
pub use compose::{FORMAT_VERSION, stop_reason_text, usage_json};
pub use conversation::{Repairs, TranscriptMessage};
pub use facts::{SessionFacts, TITLE_CHARS_MAX};
pub use folder::project_folder_name;
pub use ident::{call_id_on_the_wire, transcript_id};
pub use lines::{LINE_BYTES_MAX, LinePlace};
pub use list::{FindError, ListedTranscript, find, list};
pub use moment::print as moment_text;
pub use transcript::{ODD_LINES_MAX, OddLine, Oddity, Transcript, TranscriptError};
pub use writer::{TranscriptPlace, TranscriptWriter};

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod roundtrip_tests;
