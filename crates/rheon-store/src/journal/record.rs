//! One line of a journal: a JSON object that begins with the checksum of the rest. Pure: bytes in, record out, and back.
//!
//! ```text
//! {"sum":"8a1f03c2","fence":3,"event":{...}}
//! ```
//!
//! The checksum (CRC-32) covers everything after the comma that follows it, up to the end of the line. A line is valid
//! JSON, so that other programs can read a journal; what is in it is written once and never changed. The event stands last in
//! its line: whatever is added to the format one day stands before it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::header::{JournalHeader, Lease};

/// The version of the format that is written.
pub const JOURNAL_VERSION: u32 = 1;

/// The longest line that is read. Large payloads are kept beside the journal, so that no line comes near it.
pub const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What stands before the checksum, between it and the rest, and how long both are together with the eight digits.
const BEFORE: &[u8] = b"{\"sum\":\"";
const BETWEEN: &[u8] = b"\",";
const PREFIX_BYTES: usize = BEFORE.len() + 8 + BETWEEN.len();

/// What a line says besides its checksum. Exactly one of the optional fields is there; a line with none of them was written
/// by a later version and is kept as it is.
#[derive(Debug, Default)]
pub(crate) struct Record<'a> {
    /// Which opening of the journal wrote it; grows with each.
    pub(crate) fence: u64,
    /// The first line.
    pub(crate) header: Option<JournalHeader>,
    /// A writer has opened the journal.
    pub(crate) lease: Option<Lease>,
    /// Something happened: its JSON.
    pub(crate) event: Option<&'a str>,
    /// How many strings of the event are kept as blobs.
    pub(crate) blobs: u32,
}

/// A record as any program would read it.
#[derive(Deserialize)]
struct ReadRecord<'a> {
    #[serde(default)]
    fence: u64,
    #[serde(default)]
    header: Option<JournalHeader>,
    #[serde(default)]
    lease: Option<Lease>,
    #[serde(default, borrow)]
    event: Option<&'a RawValue>,
    #[serde(default)]
    blobs: u32,
}

/// What is written after the checksum.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Entry<'a> {
    pub(crate) fence: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) header: Option<&'a JournalHeader>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lease: Option<&'a Lease>,
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) blobs: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event: Option<&'a RawValue>,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// The line has no end.
    #[error("the last line was cut off")]
    Torn,
    /// It does not begin as lines of a journal do.
    #[error("the line is not a record")]
    NotARecord,
    /// Its content is not what was written.
    #[error("the checksum does not fit")]
    Checksum,
    /// Its content fits its checksum and is still not understood.
    #[error("the record cannot be read: {0}")]
    Content(String),
    /// It is longer than any line that is written.
    #[error("the line is longer than {LINE_BYTES_MAX} bytes")]
    TooLong,
}

/// Appends the line of `entry` to `line`.
pub(crate) fn encode(entry: &Entry<'_>, line: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let start = line.len();
    line.extend_from_slice(BEFORE);
    line.extend_from_slice(b"00000000\"");
    let brace = line.len();
    serde_json::to_writer(&mut *line, entry)?;
    // The object that was written has no brace of its own: it goes on where the checksum ends.
    if let Some(brace) = line.get_mut(brace) {
        *brace = b',';
    }
    let sum = line.get(brace + 1..).map(crc32fast::hash).unwrap_or_default();
    let digits = start + BEFORE.len();
    if let Some(place) = line.get_mut(digits..digits + 8) {
        place.copy_from_slice(format!("{sum:08x}").as_bytes());
    }
    line.push(b'\n');
    Ok(())
}

/// The content of a line, without its line break, if the checksum fits.
pub(crate) fn check(line: &[u8]) -> Result<&[u8], LineProblem> {
    let (prefix, content) = line.split_at_checked(PREFIX_BYTES).ok_or(LineProblem::NotARecord)?;
    let digits = prefix
        .strip_prefix(BEFORE)
        .and_then(|rest| rest.strip_suffix(BETWEEN))
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .ok_or(LineProblem::NotARecord)?;
    let sum = u32::from_str_radix(digits, 16).map_err(|_| LineProblem::NotARecord)?;
    if crc32fast::hash(content) == sum { Ok(content) } else { Err(LineProblem::Checksum) }
}

/// What a line says, if it is whole.
pub(crate) fn decode(line: &[u8]) -> Result<Record<'_>, LineProblem> {
    let content = check(line)?;
    if let Some(record) = event_of(content) {
        return Ok(record);
    }
    let read: ReadRecord<'_> =
        serde_json::from_slice(line).map_err(|error| LineProblem::Content(error.to_string()))?;
    let ReadRecord { fence, header, lease, event, blobs } = read;
    Ok(Record { fence, header, lease, event: event.map(RawValue::get), blobs })
}

/// The event in a line that looks as lines with events are written. Its text is not read: that it is what was written, the
/// checksum says, and long lines are not gone through twice.
fn event_of(content: &[u8]) -> Option<Record<'_>> {
    let content = std::str::from_utf8(content).ok()?;
    let (fence, rest) = number(content.strip_prefix("\"fence\":")?)?;
    let (blobs, rest) = match rest.strip_prefix(",\"blobs\":") {
        Some(rest) => number(rest)?,
        None => (0, rest),
    };
    let event = rest.strip_prefix(",\"event\":")?.strip_suffix('}')?;
    let is_object = event.starts_with('{') && event.ends_with('}');
    is_object.then_some(Record {
        fence,
        blobs: u32::try_from(blobs).ok()?,
        event: Some(event),
        ..Record::default()
    })
}

/// The number that `text` begins with, and what follows.
pub(crate) fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, rest) = text.split_at_checked(digits)?;
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
