//! `LineReader`: lines of a byte stream, of bounded length.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::oversize::Oversize;

const CHUNK_BYTES: usize = 64 * 1024;

/// One line, without its line break.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// It was longer than the limit; its beginning and its end are left.
    TooLong(Oversize),
}

/// Reads lines. A line over the limit is skipped, so memory does not depend on what the other side sends.
pub(super) struct LineReader<R> {
    source: R,
    bytes_max: usize,
    /// What was read and not yet returned.
    buffer: Vec<u8>,
    /// How much of `buffer` has no line break.
    searched: usize,
    skipping: Option<Oversize>,
    chunk: Box<[u8]>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(source: R, bytes_max: usize) -> Self {
        let chunk = vec![0; CHUNK_BYTES].into();
        Self { source, bytes_max, buffer: Vec::new(), searched: 0, skipping: None, chunk }
    }

    /// The next line; `None` at the end. A last line without a line break is not a message. May be dropped and called
    /// again without losing anything.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.take_line() {
                return Ok(Some(line));
            }
            let count = self.source.read(&mut self.chunk).await?;
            if count == 0 {
                return Ok(None);
            }
            self.buffer.extend(self.chunk.iter().take(count));
        }
    }

    /// A complete line from the buffer.
    fn take_line(&mut self) -> Option<Line> {
        let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(end) = unsearched.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            if self.skipping.is_some() || self.buffer.len() > self.bytes_max {
                self.skipping.get_or_insert_default().push(&self.buffer);
                self.forget();
            }
            return None;
        };
        let end = self.searched + end;
        let rest = self.buffer.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.buffer, rest);
        self.searched = 0;
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        let long = match self.skipping.take() {
            Some(long) => Some(long),
            None => (line.len() > self.bytes_max).then(Oversize::default),
        };
        Some(match long {
            Some(mut long) => {
                long.push(&line);
                Line::TooLong(long)
            }
            None => Line::Whole(line),
        })
    }

    /// Gives the memory back.
    fn forget(&mut self) {
        self.buffer = Vec::new();
        self.searched = 0;
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
