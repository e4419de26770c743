//! Reading a journal from its beginning, as far as it is whole.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::JournalError;
use super::header::{FORMAT, Header, Lease};
use super::record::{JOURNAL_VERSION, LINE_BYTES_MAX, LineProblem, Record, decode};

/// How much is read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// What the journal says of itself.
    pub header: Header,
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
    pub(crate) json: &'a RawValue,
    /// How many strings of it are kept as blobs.
    pub(crate) blobs: u32,
    /// Which opening wrote it. What it leaves out, another event of the same opening has.
    pub(crate) fence: u64,
}

/// Reads the journal at `path` and shows its events to `visit`, in order. Stops where it is not whole any more.
pub(crate) fn scan(
    path: &Path,
    file: &File,
    mut visit: impl FnMut(StoredEvent<'_>) -> Result<(), JournalError>,
) -> Result<Scan, JournalError> {
    let failed = |source| JournalError::Io { action: "read", path: path.to_owned(), source };
    let length = file.metadata().map_err(failed)?.len();
    let mut lines = BufReader::with_capacity(BUFFER_BYTES, file);
    let mut line = Vec::new();
    let first = read_line(&mut lines, &mut line).map_err(failed)?;
    let header = first.and_then(|()| decode(&line)).and_then(header);
    let header = header.map_err(|problem| JournalError::NotAJournal { path: path.to_owned(), problem })?;
    if header.version > JOURNAL_VERSION {
        return Err(JournalError::Newer { path: path.to_owned(), version: header.version });
    }
    let bytes = u64::try_from(line.len()).unwrap_or(u64::MAX).saturating_add(1);
    let seq = header.parent.as_ref().map_or(0, |parent| parent.seq);
    let mut scan = Scan { header, seq, fence: 0, lease: None, unknown: 0, bytes, damage: None };
    while scan.bytes < length {
        let found = read_line(&mut lines, &mut line).map_err(failed)?;
        let record = match found.and_then(|()| decode(&line)) {
            Ok(record) => record,
            Err(problem) => {
                let bytes = length.saturating_sub(scan.bytes);
                scan.damage = Some(Damage { offset: scan.bytes, bytes, problem });
                break;
            }
        };
        if let Err(problem) = scan.take(record, &mut visit)? {
            let bytes = length.saturating_sub(scan.bytes);
            scan.damage = Some(Damage { offset: scan.bytes, bytes, problem });
            break;
        }
        scan.bytes += u64::try_from(line.len()).unwrap_or(u64::MAX) + 1;
    }
    Ok(scan)
}

/// Reads the header alone.
pub(crate) fn read_header(path: &Path, file: &File) -> Result<Header, JournalError> {
    let failed = |source| JournalError::Io { action: "read", path: path.to_owned(), source };
    let mut line = Vec::new();
    let first = read_line(&mut BufReader::new(file), &mut line).map_err(failed)?;
    let header = first.and_then(|()| decode(&line)).and_then(header);
    header.map_err(|problem| JournalError::NotAJournal { path: path.to_owned(), problem })
}

impl Scan {
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
            visit(StoredEvent { seq, json, blobs: record.blobs, fence: record.fence })?;
            self.seq = seq;
        } else if let Some(lease) = record.lease {
            self.lease = Some(lease);
        } else {
            self.unknown += 1;
        }
        Ok(Ok(()))
    }
}

fn header(record: Record<'_>) -> Result<Header, LineProblem> {
    match record.header {
        Some(header) if header.format == FORMAT => Ok(header),
        Some(_) | None => Err(LineProblem::NotARecord),
    }
}

/// The number of an event.
fn number(json: &RawValue) -> Result<u64, LineProblem> {
    #[derive(Deserialize)]
    struct Numbered {
        seq: u64,
    }
    let numbered: Numbered =
        serde_json::from_str(json.get()).map_err(|error| LineProblem::Content(error.to_string()))?;
    Ok(numbered.seq)
}

/// The next line without its line break.
fn read_line(lines: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<Result<(), LineProblem>> {
    line.clear();
    let most = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX) + 1;
    lines.by_ref().take(most).read_until(b'\n', line)?;
    Ok(match line.pop() {
        Some(b'\n') => Ok(()),
        Some(_) if line.len() >= LINE_BYTES_MAX => Err(LineProblem::TooLong),
        Some(_) | None => Err(LineProblem::Torn),
    })
}
