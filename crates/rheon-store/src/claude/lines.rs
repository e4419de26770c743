//! Reads the lines of a possibly damaged file one at a time, with their positions and a size limit.

use std::io::{self, BufRead};

/// Longer lines are skipped.
pub const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The position of a line in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinePosition {
    /// Counted from 1.
    pub number: u64,
    pub offset: u64,
    /// The length without the line break.
    pub bytes: u64,
}

pub(super) enum Extent {
    /// Complete, in the buffer.
    Whole,
    /// Longer than the limit. The buffer holds its start.
    TooLong,
}

/// Reads lines one at a time into a reused buffer.
pub(super) struct Lines<R> {
    reader: R,
    bytes_max: usize,
    number: u64,
    offset: u64,
    pub(super) buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, bytes_max: usize) -> Self {
        Self { reader, bytes_max, number: 0, offset: 0, buffer: Vec::new() }
    }

    /// Reads the next line into `buffer`, without the line break. Returns `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<(LinePosition, Extent)>> {
        self.buffer.clear();
        let offset = self.offset;
        let mut bytes = 0u64;
        let mut extent = Extent::Whole;
        loop {
            let available = match self.reader.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end_of_file = available.is_empty();
            let mut parts = available.splitn(2, |byte| *byte == b'\n');
            let part = parts.next().unwrap_or_default();
            let line_ends = parts.next().is_some();
            let room = self.bytes_max.saturating_sub(self.buffer.len());
            if part.len() > room {
                extent = Extent::TooLong;
            }
            self.buffer.extend(part.iter().take(room));
            let used = part.len() + usize::from(line_ends);
            bytes += part.len() as u64;
            self.reader.consume(used);
            self.offset += used as u64;
            if line_ends || end_of_file {
                if !line_ends && bytes == 0 {
                    return Ok(None);
                }
                self.number += 1;
                return Ok(Some((LinePosition { number: self.number, offset, bytes }, extent)));
            }
        }
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
