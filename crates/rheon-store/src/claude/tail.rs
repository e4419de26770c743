//! Reads the two ends of a file without the middle.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::entry::{Entry, text};
use super::lines::LINE_BYTES_MAX;

/// How much of the end is read first; more if it contains no entry.
const TAIL_BYTES: u64 = 1024 * 1024;

/// The end of a transcript.
pub(super) struct Tail {
    /// The entries of the chain in it.
    pub(super) entries: Vec<Entry>,
    pub(super) has_tombstones: bool,
    /// Whether the file does not end with a line break.
    pub(super) is_torn: bool,
}

/// Reads the end of the file at `path`, enough to contain an entry of the chain.
pub(super) fn read(path: &Path) -> io::Result<Tail> {
    let mut file = File::open(path)?;
    let mut bytes_max = TAIL_BYTES;
    loop {
        let (bytes, is_whole) = last_bytes(&mut file, bytes_max)?;
        let lines = complete_lines(&bytes, is_whole);
        let values: Vec<Value> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let entries: Vec<Entry> =
            values.iter().filter(|value| !is_tombstone(value)).filter_map(Entry::read).collect();
        let holds_the_end = entries.iter().any(|entry| !entry.is_sidechain);
        if holds_the_end || is_whole || bytes_max > LINE_BYTES_MAX as u64 {
            let has_tombstones = values.iter().any(is_tombstone);
            let is_torn = bytes.last().is_some_and(|last| *last != b'\n');
            return Ok(Tail { entries, has_tombstones, is_torn });
        }
        bytes_max *= 8;
    }
}

fn is_tombstone(value: &Value) -> bool {
    text(value, "type") == Some("tombstone")
}

/// At most the first `bytes_max` bytes of a file.
pub(super) fn first_bytes(file: &mut File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// At most the last `bytes_max` bytes of a file, and whether that is the whole file.
pub(super) fn last_bytes(file: &mut File, bytes_max: u64) -> io::Result<(Vec<u8>, bool)> {
    let length = file.seek(SeekFrom::End(0))?;
    let start = length.saturating_sub(bytes_max);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    // Other processes may be appending.
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok((bytes, start == 0))
}

/// The lines that start in `bytes`. The first one is incomplete unless `bytes` is the whole file.
pub(super) fn complete_lines(bytes: &[u8], is_whole: bool) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').skip(usize::from(!is_whole)).filter(|line| !line.is_empty())
}
