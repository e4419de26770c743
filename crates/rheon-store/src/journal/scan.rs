//! Reading a journal from its beginning, as far as it is whole.

use std::fs::File;
use std::path::Path;

use serde::Deserialize;

use super::error::JournalError;
use super::header::{FORMAT, JournalHeader, Lease};
use super::lines::Lines;
use super::record::{self, JOURNAL_VERSION, LineProblem, Record, decode};

/// How much is read for a header.
const HEADER_BYTES: usize = 4 * 1024;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalScan {
    /// What the journal says of itself.
    pub header: JournalHeader,
    /// The number of its last event.
    pub seq: u64,
    /// The newest opening.
    pub fence: u64,
    /// Who opened it last.
    pub lease: Option<Lease>,
    /// How many lines of later versions there are.
    pub unknown: u64,
    /// How many bytes are whole.
    pub bytes: u64,
    /// What is wrong behind them, if anything is there.
    pub damage: Option<Damage>,
}

/// Where a journal is not whole any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the journal is whole up to byte {offset}; {bytes} bytes follow: {problem}")]
pub struct Damage {
    /// Where the first line begins that is not whole.
    pub offset: u64,
    /// How many bytes follow from there on.
    pub bytes: u64,
    /// What is wrong with it.
    pub problem: LineProblem,
}

/// An event as it stands in a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredEvent<'a> {
    /// Its number.
    pub(crate) seq: u64,
    /// Its text.
    pub(crate) json: &'a str,
    /// How many strings of it are kept as blobs.
    pub(crate) blobs: u32,
    /// Which opening wrote it. What it leaves out, another event of the same opening has.
    pub(crate) fence: u64,
    /// Where its line begins in the file.
    pub(crate) offset: u64,
}

/// Reads the journal at `path` and shows its events to `visit`, in order. Stops where it is not whole any more.
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
    if header.version > JOURNAL_VERSION {
        return Err(JournalError::Newer { path: path.to_owned(), version: header.version });
    }
    let seq = header.parent.as_ref().map_or(0, |parent| parent.seq);
    let mut scan = JournalScan { header, seq, fence: 0, lease: None, unknown: 0, bytes, damage: None };
    while scan.bytes < length {
        let line = lines.next().map_err(failed)?;
        let bytes = line.as_ref().map_or(0, |line| bytes_of(line));
        let taken = match line.and_then(decode) {
            Ok(record) => scan.take(record, &mut visit)?,
            Err(problem) => Err(problem),
        };
        if let Err(problem) = taken {
            let bytes = length.saturating_sub(scan.bytes);
            scan.damage = Some(Damage { offset: scan.bytes, bytes, problem });
            break;
        }
        scan.bytes += bytes;
    }
    Ok(scan)
}

/// Reads the header alone.
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
                    let problem = format!("event {} is missing; {seq} stands in its place", self.seq + 1);
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

/// The number of an event.
pub(super) fn number(json: &str) -> Result<u64, LineProblem> {
    #[derive(Deserialize)]
    struct Numbered {
        seq: u64,
    }
    // It stands first unless payloads were taken out, and then the rest is short.
    if let Some((seq, _)) = json.strip_prefix("{\"seq\":").and_then(record::number) {
        return Ok(seq);
    }
    let numbered: Numbered =
        serde_json::from_str(json).map_err(|error| LineProblem::Content(error.to_string()))?;
    Ok(numbered.seq)
}

/// How many bytes a line takes with its line break.
fn bytes_of(line: &[u8]) -> u64 {
    u64::try_from(line.len()).unwrap_or(u64::MAX).saturating_add(1)
}
