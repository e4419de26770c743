//! Finds how many of the newest events fit into a byte budget, reading the file from its end.

use std::fs::File;
use std::path::Path;

use super::error::JournalError;
use super::lines::LinesBack;
use super::record::decode;
use super::scan::number;
use crate::blobs::used;

/// The remaining budget for full event contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteBudget {
    Unlimited,
    Bytes(u64),
}

/// Returns the offset from which all events fit into `budget`, payloads included, and reduces `budget` by their size. An
/// event larger than `bytes_max` never fits and does not count. Events after number `last` are ignored.
pub(crate) fn newest(
    path: &Path,
    file: &File,
    last: u64,
    budget: &mut ByteBudget,
    bytes_max: u64,
) -> Result<u64, JournalError> {
    let left = match budget {
        ByteBudget::Unlimited => return Ok(0),
        ByteBudget::Bytes(left) => left,
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

/// The size of the event in a line; 0 for other lines.
fn weight(line: &[u8], last: u64) -> u64 {
    let Ok(record) = decode(line) else { return 0 };
    let Some(json) = record.event else { return 0 };
    match number(json) {
        Ok(seq) if seq <= last => stored_bytes(json, record.blobs),
        Ok(_) | Err(_) => 0,
    }
}

/// The size of a stored event with its payloads.
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
