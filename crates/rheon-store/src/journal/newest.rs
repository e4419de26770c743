//! How far back the contents of a journal fit into a number of bytes. Only the end of the file is read.

use std::fs::File;
use std::path::Path;

use super::error::JournalError;
use super::lines::LinesBack;
use super::record::decode;
use super::scan::number;
use crate::blobs::used;

/// How many bytes of contents may still be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// No end of it.
    Endless,
    /// This many.
    Bytes(u64),
}

/// Where the part of the journal begins whose events, with the payloads they lean on, fit into `room`; `room` is what is
/// left of it then. An event that is longer than `bytes_max` never fits, and does not count. Events after number
/// `last` do not belong to it.
pub(crate) fn newest(
    path: &Path,
    file: &File,
    last: u64,
    room: &mut Room,
    bytes_max: u64,
) -> Result<u64, JournalError> {
    let left = match room {
        Room::Endless => return Ok(0),
        Room::Bytes(left) => left,
    };
    let failed = |source| JournalError::Io { action: "read", path: path.to_owned(), source };
    let length = file.metadata().map_err(failed)?.len();
    let mut lines = LinesBack::new(file, length);
    let mut from = length;
    while *left > 0
        && let Some((offset, line)) = lines.next().map_err(failed)?
    {
        let weight = weight(line, last);
        if weight <= bytes_max {
            if weight > *left {
                *left = 0;
                return Ok(from);
            }
            *left -= weight;
        }
        from = offset;
    }
    Ok(from)
}

/// What the event of a line would take. What is no event takes nothing.
fn weight(line: &[u8], last: u64) -> u64 {
    let Ok(record) = decode(line) else { return 0 };
    let Some(json) = record.event else { return 0 };
    match number(json) {
        Ok(seq) if seq <= last => stored_bytes(json, record.blobs),
        Ok(_) | Err(_) => 0,
    }
}

/// How long a stored event is, with the payloads it leans on.
pub(crate) fn stored_bytes(json: &str, blobs: u32) -> u64 {
    let payloads = match blobs {
        0 => 0,
        _ => used(json).into_iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(bytes)),
    };
    payloads.saturating_add(u64::try_from(json.len()).unwrap_or(u64::MAX))
}

#[cfg(test)]
#[path = "newest_tests.rs"]
mod tests;
