//! `Lines`: reads lines of bounded length from a byte stream.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, BufWriter};

/// How much of an oversized line is kept: enough for its kind and id.
const HEAD_BYTES: usize = 128;

/// The largest buffer that is reused for the next line.
const BUFFER_BYTES_MAX: usize = 1024 * 1024;

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Whole(&'a [u8]),
    /// The start of a line that is too long. The rest is discarded.
    TooLong(&'a [u8]),
}

/// Reads lines. Canceling a read loses nothing.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    bytes_max: usize,
    line: Vec<u8>,
    is_too_long: bool,
    is_over: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, bytes_max: usize) -> Self {
        let reader = BufReader::with_capacity(16 * 1024, reader);
        Self { reader, bytes_max, line: Vec::new(), is_too_long: false, is_over: true }
    }

    /// The next line; `None` at the end. An unterminated last line is ignored.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if std::mem::take(&mut self.is_over) {
            self.line.clear();
            self.line.shrink_to(BUFFER_BYTES_MAX);
            self.is_too_long = false;
        }
        while !self.is_over {
            let bytes = self.reader.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = end.and_then(|end| bytes.get(..end)).unwrap_or(bytes);
            let used = part.len() + usize::from(end.is_some());
            if !self.is_too_long {
                if self.line.len().saturating_add(part.len()) > self.bytes_max {
                    self.line.extend_from_slice(part.get(..HEAD_BYTES).unwrap_or(part));
                    self.line.truncate(HEAD_BYTES);
                    self.line.shrink_to(BUFFER_BYTES_MAX);
                    self.is_too_long = true;
                } else {
                    self.line.extend_from_slice(part);
                }
            }
            self.reader.consume(used);
            self.is_over = end.is_some();
        }
        Ok(Some(if self.is_too_long { Line::TooLong(&self.line) } else { Line::Whole(&self.line) }))
    }
}

/// Writes lines until all senders are dropped or the other side disconnects.
pub(super) async fn write<W: AsyncWrite + Unpin>(mut next: impl NextLine, writer: W) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(16 * 1024, writer);
    while let Some(line) = next.wait().await {
        writer.write_all(&line).await?;
        while let Some(line) = next.ready() {
            writer.write_all(&line).await?;
        }
        writer.flush().await?;
    }
    writer.shutdown().await
}

/// A source of lines to write.
pub(super) trait NextLine: Send {
    /// Waits for the next line.
    fn wait(&mut self) -> impl Future<Output = Option<Vec<u8>>> + Send;

    /// The next line, if one is ready.
    fn ready(&mut self) -> Option<Vec<u8>>;
}

impl NextLine for tokio::sync::mpsc::Receiver<Vec<u8>> {
    fn wait(&mut self) -> impl Future<Output = Option<Vec<u8>>> + Send {
        self.recv()
    }

    fn ready(&mut self) -> Option<Vec<u8>> {
        self.try_recv().ok()
    }
}

impl NextLine for tokio::sync::mpsc::UnboundedReceiver<Vec<u8>> {
    fn wait(&mut self) -> impl Future<Output = Option<Vec<u8>>> + Send {
        self.recv()
    }

    fn ready(&mut self) -> Option<Vec<u8>> {
        self.try_recv().ok()
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
