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
mod ids;
mod lines;
mod list;
mod project_dir;
mod tail;
mod timestamp;
mod transcript;
mod writer;

pub use blocks::{read_input_block, write_input_block};
pub use compose::{FORMAT_VERSION, stop_reason_text, usage_json};
pub use conversation::{Repairs, TranscriptMessage};
pub use facts::{TITLE_CHARS_MAX, TranscriptFacts};
pub use ids::{transcript_id, wire_call_id};
pub use lines::{LINE_BYTES_MAX, LinePosition};
pub use list::{TranscriptFindError, TranscriptListing, find, list};
pub use project_dir::project_dir_name;
pub use timestamp::format as format_timestamp;
pub use transcript::{LineIssue, Transcript, TranscriptError, UNRECOGNIZED_LINES_MAX, UnrecognizedLine};
pub use writer::{TranscriptLocation, TranscriptWriter};

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod roundtrip_tests;
