//! Reads and writes Claude Code transcripts: `<projects dir>/<project>/<session uuid>.jsonl`, one JSON object per
//! line, append-only.
//!
//! A transcript is a view of a session for Claude Code; the journal stays the source of truth. What the format
//! cannot hold is stored in a `rheon` field of the entry, which Claude Code ignores.
//!
//! Deleted entries are named by a line of our own,
//! `{"type":"tombstone","tombstoneUuids":[..],"timestamp":..,"sessionId":..}`. Claude Code ignores this line too. It
//! stops showing the deleted entries once a new message is written, because that message is attached to an entry
//! before them.

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
mod session_entries;
mod tail;
mod timestamp;
mod transcript;
mod writer;

pub use blocks::{read_input_block, write_input_block};
pub use compose::{FORMAT_VERSION, stop_reason_text, usage_json};
pub use conversation::{Repairs, TranscriptMessage};
pub use facts::{TITLE_CHARS_MAX, TranscriptFacts};
pub use ids::{entry_id, transcript_id, wire_call_id};
pub use lines::{LINE_BYTES_MAX, LinePosition};
pub use list::{TranscriptFindError, TranscriptListing, find, list};
pub use project_dir::project_dir_name;
pub use session_entries::{SessionEntries, answer_entries, imported_metadata};
pub use timestamp::format as format_timestamp;
pub use transcript::{LineIssue, Transcript, TranscriptError, UNRECOGNIZED_LINES_MAX, UnrecognizedLine};
pub use writer::{ForeignPart, TranscriptLocation, TranscriptWriter};

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod roundtrip_tests;
