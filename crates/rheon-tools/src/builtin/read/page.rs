//! `Page`: a range of lines of a text, with line numbers.

use std::borrow::Cow;
use std::fmt::Write;
use std::io::{self, BufRead};

use rheon_types::ToolError;
use tokio_util::sync::CancellationToken;

const PAGE_BYTES_MAX: usize = 1024 * 1024;

pub(super) const LINE_BYTES_MAX: usize = 4_096;

/// The number of lines between checks for cancellation.
const CANCEL_CHECK_LINES: u64 = 64;

/// The most bytes read to find the first line.
const SCAN_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// The requested lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    /// From 1.
    pub(super) first: u64,
    pub(super) count: u64,
}

impl Range {
    pub(super) fn new(offset: Option<u64>, limit: Option<u64>, default: u64) -> Result<Self, ToolError> {
        let (first, count) = (offset.unwrap_or(1), limit.unwrap_or(default));
        if first == 0 || count == 0 {
            return Err(ToolError::InvalidArgs("`offset` and `limit` start at 1".into()));
        }
        Ok(Self { first, count })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageEnd {
    Eof,
    LineLimit,
    ByteLimit,
    /// The scan limit was reached. The last line may be incomplete.
    ScanLimit,
    Cancelled,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    text: String,
    pub(super) end: PageEnd,
    /// The number of lines on this page.
    pub(super) lines: u64,
    /// The number of lines read, including those on this page.
    pub(super) lines_seen: u64,
    pub(super) shortened: u64,
    pub(super) invalid: u64,
    pub(super) crlf: u64,
}

/// The first bytes of a line, and its full length.
struct Line {
    head: Vec<u8>,
    length: u64,
}

impl Page {
    /// Reads the lines of `range`.
    pub(super) fn collect(
        mut reader: impl BufRead,
        range: Range,
        cancel: &CancellationToken,
    ) -> io::Result<Self> {
        let mut page = Self {
            text: String::new(),
            end: PageEnd::Eof,
            lines: 0,
            lines_seen: 0,
            shortened: 0,
            invalid: 0,
            crlf: 0,
        };
        let mut scan_left = SCAN_BYTES_MAX;
        let mut line = Line { head: Vec::new(), length: 0 };
        while line.read(&mut reader, &mut scan_left)? {
            let is_check_due =
                page.lines_seen.is_multiple_of(CANCEL_CHECK_LINES) || line.length > LINE_BYTES_MAX as u64;
            if is_check_due && cancel.is_cancelled() {
                page.end = PageEnd::Cancelled;
            } else if page.lines == range.count {
                page.end = PageEnd::LineLimit;
            } else if page.lines_seen + 1 >= range.first && !page.add(&line) {
                page.end = PageEnd::ByteLimit;
            } else if scan_left == 0 {
                page.lines_seen += 1;
                page.end = PageEnd::ScanLimit;
            } else {
                page.lines_seen += 1;
                continue;
            }
            break;
        }
        Ok(page)
    }

    /// Adds a line. `false` if it does not fit.
    fn add(&mut self, line: &Line) -> bool {
        let number = self.lines_seen + 1;
        let mut bytes = line.head.as_slice();
        if number == 1 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        let cut = line.length - line.head.len() as u64;
        if cut > 0 {
            bytes = without_broken_end(bytes);
        }
        let before_return = if cut == 0 { bytes.strip_suffix(b"\r") } else { None };
        let line_bytes = before_return.unwrap_or(bytes);
        // Most lines are valid UTF-8, which this check finds faster than the lossy conversion.
        let shown = std::str::from_utf8(line_bytes)
            .map_or_else(|_| String::from_utf8_lossy(line_bytes), Cow::Borrowed);
        let before = self.text.len();
        push_number(&mut self.text, number);
        self.text.push('\t');
        self.text.push_str(&shown);
        if cut > 0 {
            let missing = line.length - bytes.len() as u64;
            // Writing to a string cannot fail.
            write!(self.text, " ... [{missing} more bytes in this line]").ok();
        }
        self.text.push('\n');
        if self.text.len() > PAGE_BYTES_MAX {
            self.text.truncate(before);
            return false;
        }
        self.lines += 1;
        self.shortened += u64::from(cut > 0);
        self.invalid += u64::from(matches!(shown, Cow::Owned(_)));
        self.crlf += u64::from(before_return.is_some());
        true
    }

    /// The lines, followed by notes for the reader.
    pub(super) fn with_notes(self, range: Range, total: Option<u64>) -> String {
        let mut text = self.text;
        if self.end != PageEnd::Eof {
            let last = self.lines_seen;
            let of = total.map_or_else(String::new, |total| format!(" of {total}"));
            let next = last + 1;
            writeln!(text, "[lines {}-{last}{of}; continue with offset={next}]", range.first).ok();
        }
        if self.invalid > 0 {
            let many = self.invalid;
            let meaning = "invalid bytes are shown as \u{fffd}; `edit` does not accept this file";
            writeln!(text, "[{many} lines are not UTF-8: {meaning}]").ok();
        }
        if self.crlf > 0 {
            text.push_str("[lines end with CRLF; `edit` keeps that]\n");
        }
        text
    }
}

impl Line {
    /// Reads the next line without its line feed. `false` at the end.
    fn read(&mut self, reader: &mut impl BufRead, scan_left: &mut u64) -> io::Result<bool> {
        self.head.clear();
        self.length = 0;
        let mut is_any = false;
        while *scan_left > 0 {
            let buffer = reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(is_any);
            }
            is_any = true;
            let newline = memchr::memchr(b'\n', buffer);
            let part = buffer.get(..newline.unwrap_or(buffer.len())).unwrap_or_default();
            let room = LINE_BYTES_MAX.saturating_sub(self.head.len());
            self.head.extend_from_slice(part.get(..room).unwrap_or(part));
            self.length += part.len() as u64;
            let used = part.len() + usize::from(newline.is_some());
            reader.consume(used);
            *scan_left = scan_left.saturating_sub(used as u64);
            if newline.is_some() {
                return Ok(true);
            }
        }
        Ok(is_any)
    }
}

/// Appends a number. Faster than `write!`, since there is one per line.
fn push_number(text: &mut String, number: u64) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    text.extend(char::from_digit(u32::try_from(number % 10).unwrap_or(0), 10));
}

/// `bytes` without an incomplete character at the end.
fn without_broken_end(bytes: &[u8]) -> &[u8] {
    let broken = match bytes.utf8_chunks().last() {
        Some(chunk)
            if std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none()) =>
        {
            chunk.invalid().len()
        }
        _ => 0,
    };
    bytes.get(..bytes.len() - broken).unwrap_or(bytes)
}

pub(super) fn count_lines(text: &[u8]) -> u64 {
    let feeds = memchr::memchr_iter(b'\n', text).count();
    (feeds + usize::from(text.last().is_some_and(|last| *last != b'\n'))) as u64
}
