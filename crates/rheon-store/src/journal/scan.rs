//! Reads a journal from its start up to the first damaged line.

use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use serde::Deserialize;

use super::error::JournalError;
use super::header::{FORMAT, JournalHeader, Lease};
use super::lines::Lines;
use super::record::{self, LineProblem, Record, decode};

const HEADER_BYTES: usize = 4 * 1024;

/// The result of reading a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalScan {
    pub header: JournalHeader,
    /// The number of the last event.
    pub seq: u64,
    /// The highest fence: how often the journal was opened for writing.
    pub fence: u64,
    /// The last process that opened it for writing.
    pub lease: Option<Lease>,
    /// The number of lines written by later versions.
    pub unknown: u64,
    /// The length of the intact part.
    pub bytes: u64,
    /// What follows the intact part, if anything does.
    pub damage: Option<Damage>,
}

/// The part of a journal after its last intact line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the journal is damaged from byte {offset} on ({bytes} bytes): {problem}")]
pub struct Damage {
    /// The offset of the first damaged line.
    pub offset: u64,
    /// The number of bytes from there to the end.
    pub bytes: u64,
    pub problem: LineProblem,
}

/// An event as stored in a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredEvent<'a> {
    pub(crate) seq: u64,
    pub(crate) json: &'a str,
    /// How many of its strings are stored as blobs.
    pub(crate) blobs: u32,
    /// The opening that wrote it. Parts it omits are in earlier events with the same fence.
    pub(crate) fence: u64,
    /// The offset of its line in the file.
    pub(crate) offset: u64,
}

/// Reads the journal at `path` and passes its events to `visit` in order. Stops at the first damaged line.
pub(crate) fn scan(
    path: &Path,
    file: &File,
    mut visit: impl FnMut(StoredEvent<'_>) -> Result<(), JournalError>,
) -> Result<JournalScan, JournalError> {
    let failed = |source| JournalError::Io { action: "read", path: path.to_owned(), source };
    let length = file.metadata().map_err(failed)?.len();
    let mut lines = Lines::many(file);
    let first = lines.next().map_err(failed)?;
    let bytes = first.as_ref().map_or(0, |line| bytes_of(line));
    let header = first.and_then(decode).and_then(header);
    let header = header.map_err(|problem| JournalError::NotAJournal { path: path.to_owned(), problem })?;
    let seq = header.parent.as_ref().map_or(0, |parent| parent.seq);
    let mut scan = JournalScan { header, seq, fence: 0, lease: None, unknown: 0, bytes, damage: None };
    while scan.bytes < length {
        let line = lines.next().map_err(failed)?;
        let bytes = line.as_ref().map_or(0, |line| bytes_of(line));
        let result = match line.and_then(decode) {
            Ok(record) => scan.take(record, &mut visit)?,
            Err(problem) => Err(problem),
        };
        if let Err(problem) = result {
            let bytes = length.saturating_sub(scan.bytes);
            scan.damage = Some(Damage { offset: scan.bytes, bytes, problem });
            break;
        }
        scan.bytes += bytes;
    }
    Ok(scan)
}

/// How far a journal was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScanPosition {
    /// The offset of the next line.
    offset: u64,
    /// The number of the last event.
    seq: u64,
}

/// Reads the journal at `path` from `position`, or from its start, and passes its events to `visit` until that stops or
/// no intact line follows.
pub(crate) fn scan_from(
    path: &Path,
    mut file: &File,
    position: Option<ScanPosition>,
    mut visit: impl FnMut(StoredEvent<'_>) -> Result<ControlFlow<ScanStop>, JournalError>,
) -> Result<ScanPosition, JournalError> {
    let failed = |source| JournalError::Io { action: "read", path: path.to_owned(), source };
    let length = file.metadata().map_err(failed)?.len();
    let mut position = match position {
        Some(position) => position,
        None => start(path, file)?,
    };
    file.seek(SeekFrom::Start(position.offset)).map_err(failed)?;
    let mut lines = Lines::many(file);
    while position.offset < length {
        let Ok(line) = lines.next().map_err(failed)? else { break };
        let next = position.offset + bytes_of(line);
        let Ok(record) = decode(line) else { break };
        if let Some(json) = record.event {
            let Ok(seq) = number(json) else { break };
            if seq != position.seq + 1 {
                break;
            }
            let (blobs, fence, offset) = (record.blobs, record.fence, position.offset);
            let flow = visit(StoredEvent { seq, json, blobs, fence, offset })?;
            match flow {
                ControlFlow::Break(ScanStop::Unused) => break,
                ControlFlow::Break(ScanStop::Last) => return Ok(ScanPosition { offset: next, seq }),
                ControlFlow::Continue(()) => position.seq = seq,
            }
        }
        position.offset = next;
    }
    Ok(position)
}

/// Whether the event at which a scan stops was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScanStop {
    /// It was the last one used.
    Last,
    /// It is left for the next scan.
    Unused,
}

/// The position of the first line after the header.
fn start(path: &Path, mut file: &File) -> Result<ScanPosition, JournalError> {
    let failed = |source| JournalError::Io { action: "read", path: path.to_owned(), source };
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let mut lines = Lines::new(file, HEADER_BYTES);
    let first = lines.next().map_err(failed)?;
    let offset = first.as_ref().map_or(0, |line| bytes_of(line));
    let header = first.and_then(decode).and_then(header);
    let header = header.map_err(|problem| JournalError::NotAJournal { path: path.to_owned(), problem })?;
    Ok(ScanPosition { offset, seq: header.parent.map_or(0, |parent| parent.seq) })
}

/// Reads only the header.
pub(crate) fn read_header(path: &Path, file: &File) -> Result<JournalHeader, JournalError> {
    let failed = |source| JournalError::Io { action: "read", path: path.to_owned(), source };
    let mut lines = Lines::new(file, HEADER_BYTES);
    let header = lines.next().map_err(failed)?.and_then(decode).and_then(header);
    header.map_err(|problem| JournalError::NotAJournal { path: path.to_owned(), problem })
}

impl JournalScan {
    fn take(
        &mut self,
        record: Record<'_>,
        visit: &mut impl FnMut(StoredEvent<'_>) -> Result<(), JournalError>,
    ) -> Result<Result<(), LineProblem>, JournalError> {
        self.fence = self.fence.max(record.fence);
        if let Some(json) = record.event {
            let seq = match number(json) {
                Ok(seq) if seq == self.seq + 1 => seq,
                Ok(seq) => {
                    let problem = format!("expected event {}, found {seq}", self.seq + 1);
                    return Ok(Err(LineProblem::Content(problem)));
                }
                Err(problem) => return Ok(Err(problem)),
            };
            let (blobs, fence, offset) = (record.blobs, record.fence, self.bytes);
            visit(StoredEvent { seq, json, blobs, fence, offset })?;
            self.seq = seq;
        } else if let Some(lease) = record.lease {
            self.lease = Some(lease);
        } else {
            self.unknown += 1;
        }
        Ok(Ok(()))
    }
}

fn header(record: Record<'_>) -> Result<JournalHeader, LineProblem> {
    match record.header {
        Some(header) if header.format == FORMAT => Ok(header),
        Some(_) | None => Err(LineProblem::NotARecord),
    }
}

/// The `seq` of an event.
pub(super) fn number(json: &str) -> Result<u64, LineProblem> {
    #[derive(Deserialize)]
    struct Numbered {
        seq: u64,
    }
    // `seq` comes first unless payloads were moved to blobs, and then the JSON is short.
    if let Some((seq, _)) = json.strip_prefix("{\"seq\":").and_then(record::number) {
        return Ok(seq);
    }
    let numbered: Numbered =
        serde_json::from_str(json).map_err(|error| LineProblem::Content(error.to_string()))?;
    Ok(numbered.seq)
}

/// The length of a line including its line break.
fn bytes_of(line: &[u8]) -> u64 {
    u64::try_from(line.len()).unwrap_or(u64::MAX).saturating_add(1)
}
