//! Iterates the lines of a file forward and backward without copying each one.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;

use memchr::{memchr, memrchr};

use super::record::{LINE_BYTES_MAX, LineProblem};

const BUFFER_BYTES: usize = 512 * 1024;

/// The lines of a file from its current position.
pub(super) struct Lines<'a> {
    file: &'a File,
    buffer: Vec<u8>,
    /// The part of the buffer that was read but not returned yet.
    start: usize,
    end: usize,
}

impl<'a> Lines<'a> {
    /// Reads `bytes` at a time, more if a line is longer.
    pub(super) fn new(file: &'a File, bytes: usize) -> Self {
        Self { file, buffer: vec![0; bytes.max(1)], start: 0, end: 0 }
    }

    /// Reads large chunks, for scanning a whole file.
    pub(super) fn many(file: &'a File) -> Self {
        Self::new(file, BUFFER_BYTES)
    }

    /// Returns the next line without its line break.
    pub(super) fn next(&mut self) -> io::Result<Result<&[u8], LineProblem>> {
        let mut searched = 0;
        loop {
            let unread = self.buffer.get(self.start + searched..self.end).unwrap_or_default();
            if let Some(length) = memchr(b'\n', unread) {
                let (start, end) = (self.start, self.start + searched + length);
                self.start = end + 1;
                if end - start > LINE_BYTES_MAX {
                    return Ok(Err(LineProblem::TooLong));
                }
                return Ok(self.buffer.get(start..end).ok_or(LineProblem::Torn));
            }
            searched = self.end - self.start;
            if searched > LINE_BYTES_MAX {
                return Ok(Err(LineProblem::TooLong));
            }
            if self.read_more()? == 0 {
                return Ok(Err(LineProblem::Torn));
            }
        }
    }

    fn read_more(&mut self) -> io::Result<usize> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let read = loop {
            match self.file.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.end += read;
        Ok(read)
    }
}

/// The lines of a file in reverse order.
pub(super) struct LinesBack<'a> {
    file: &'a File,
    buffer: Vec<u8>,
    /// The position of the buffer in the file.
    offset: u64,
    /// The end of the part of the buffer that was not returned yet.
    end: usize,
}

impl<'a> LinesBack<'a> {
    /// Starts before byte `end` of the file.
    pub(super) fn new(file: &'a File, end: u64) -> Self {
        Self { file, buffer: Vec::new(), offset: end, end: 0 }
    }

    /// Returns the previous line without its line break, and its offset.
    pub(super) fn next(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        loop {
            let unread = self.buffer.get(..self.end).unwrap_or_default();
            let content = unread.strip_suffix(b"\n").unwrap_or(unread);
            let start = match memrchr(b'\n', content) {
                Some(index) => index + 1,
                None if self.offset == 0 && unread.is_empty() => return Ok(None),
                None if self.offset == 0 => 0,
                None => {
                    self.read_before()?;
                    continue;
                }
            };
            let (end, offset) = (content.len(), self.offset + u64::try_from(start).unwrap_or(u64::MAX));
            self.end = start;
            return Ok(self.buffer.get(start..end).map(|line| (offset, line)));
        }
    }

    /// Doubles the read size while no line break is found, so that a long line is copied only a few times.
    fn read_before(&mut self) -> io::Result<()> {
        let requested = self.end.max(BUFFER_BYTES);
        let bytes = usize::try_from(self.offset).map_or(requested, |before| before.min(requested));
        let mut buffer = vec![0; bytes + self.end];
        let (new, old) = buffer.split_at_mut(bytes);
        old.copy_from_slice(self.buffer.get(..self.end).unwrap_or_default());
        self.offset -= u64::try_from(bytes).unwrap_or(u64::MAX);
        self.file.read_exact_at(new, self.offset)?;
        self.end += bytes;
        self.buffer = buffer;
        Ok(())
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
