//! One line of a journal: a JSON object that starts with the checksum of the rest. Pure: encodes and decodes bytes.
//!
//! ```text
//! {"sum":"8a1f03c2","fence":3,"event":{...}}
//! ```
//!
//! The checksum (CRC-32) covers everything after the comma that follows it, up to the end of the line. Each line is
//! valid JSON, so that other programs can read a journal. Lines never change once written. The event is the last
//! field: new fields go before it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::header::{JournalHeader, Lease};

pub const JOURNAL_VERSION: u32 = 1;

/// Longer lines are not read. Large payloads are stored beside the journal, so no line comes close to this.
pub const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The bytes before and after the checksum, and the length of all three parts together.
const BEFORE: &[u8] = b"{\"sum\":\"";
const BETWEEN: &[u8] = b"\",";
const PREFIX_BYTES: usize = BEFORE.len() + 8 + BETWEEN.len();

/// The content of a line. Exactly one of the optional fields is set. A line with none of them comes from a later
/// version and is left unchanged.
#[derive(Debug, Default)]
pub(crate) struct Record<'a> {
    /// Counts the times the journal was opened for writing.
    pub(crate) fence: u64,
    pub(crate) header: Option<JournalHeader>,
    pub(crate) lease: Option<Lease>,
    /// The JSON of the event.
    pub(crate) event: Option<&'a str>,
    /// How many strings of the event are stored as blobs.
    pub(crate) blobs: u32,
}

/// A record parsed as plain JSON.
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

/// The fields written after the checksum.
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

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// The line has no line break.
    #[error("the last line was cut off")]
    Torn,
    /// The line does not start with a checksum.
    #[error("the line is not a record")]
    NotARecord,
    #[error("the checksum does not match")]
    Checksum,
    /// The checksum matches, but the content cannot be parsed.
    #[error("cannot parse the record: {0}")]
    Content(String),
    #[error("the line is longer than {LINE_BYTES_MAX} bytes")]
    TooLong,
}

/// Appends `entry` as a line to `line`.
pub(crate) fn encode(entry: &Entry<'_>, line: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let start = line.len();
    line.extend_from_slice(BEFORE);
    line.extend_from_slice(b"00000000\"");
    let brace = line.len();
    serde_json::to_writer(&mut *line, entry)?;
    // The object continues after the checksum, so its opening brace becomes a comma.
    if let Some(brace) = line.get_mut(brace) {
        *brace = b',';
    }
    let sum = line.get(brace + 1..).map(crc32fast::hash).unwrap_or_default();
    let digits = start + BEFORE.len();
    if let Some(digits_slot) = line.get_mut(digits..digits + 8) {
        digits_slot.copy_from_slice(format!("{sum:08x}").as_bytes());
    }
    line.push(b'\n');
    Ok(())
}

/// Returns the content of a line without its line break, if the checksum matches.
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

/// Parses a line if its checksum matches.
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

/// The event of a line in the usual form. The event itself is not parsed: the checksum already proves that it is
/// intact, and long lines are not scanned twice.
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

/// Splits the number at the start of `text` from the rest.
pub(crate) fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, rest) = text.split_at_checked(digits)?;
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
