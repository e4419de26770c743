//! `Page`: some lines of a text, with their numbers.

use std::borrow::Cow;
use std::fmt::Write;
use std::io::{self, BufRead};

use rheon_types::ToolError;
use tokio_util::sync::CancellationToken;

/// How many bytes a page has at most.
const PAGE_BYTES_MAX: usize = 1024 * 1024;

/// How many bytes of one line are shown.
pub(super) const LINE_BYTES_MAX: usize = 4_096;

/// How many lines are gone through between two looks at whether the call was cancelled.
const CANCEL_CHECK_LINES: u64 = 64;

/// How many bytes are gone through in search of the first line.
const SCAN_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Which lines are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    /// Counted from 1.
    pub(super) first: u64,
    pub(super) count: u64,
}

impl Range {
    pub(super) fn new(offset: Option<u64>, limit: Option<u64>, default: u64) -> Result<Self, ToolError> {
        let (first, count) = (offset.unwrap_or(1), limit.unwrap_or(default));
        if first == 0 || count == 0 {
            return Err(ToolError::InvalidArgs("`offset` and `limit` begin at 1".into()));
        }
        Ok(Self { first, count })
    }
}

/// Why a page ends where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageEnd {
    /// The text ends there.
    Eof,
    /// It has as many lines as were asked for.
    LineLimit,
    /// It has as many bytes as a page may have.
    ByteLimit,
    /// Too much had to be gone through; the last line may go on.
    ScanLimit,
    /// The call was cancelled.
    Cancelled,
}

/// Some lines of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    text: String,
    pub(super) end: PageEnd,
    /// How many lines are on it.
    pub(super) lines: u64,
    /// How many lines of the text were gone through, those on the page included.
    pub(super) lines_seen: u64,
    pub(super) shortened: u64,
    pub(super) invalid: u64,
    pub(super) crlf: u64,
}

/// One line as it was read: its first bytes, and how many it has.
struct Line {
    head: Vec<u8>,
    length: u64,
}

impl Page {
    /// The lines of `range`.
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

    /// Adds the line, or says that it does not fit.
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
        // The usual line is text, and told so by a much quicker look than the one that mends others.
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

    /// The lines, and what the reader has to know about them.
    pub(super) fn with_notes(self, range: Range, total: Option<u64>) -> String {
        let mut text = self.text;
        if self.end != PageEnd::Eof {
            let last = self.lines_seen;
            let of = total.map_or_else(String::new, |total| format!(" of {total}"));
            let next = last + 1;
            writeln!(text, "[lines {}-{last}{of}; read on with offset={next}]", range.first).ok();
        }
        if self.invalid > 0 {
            let many = self.invalid;
            let meaning = "bytes that are not UTF-8 are shown as \u{fffd}; `edit` refuses this file";
            writeln!(text, "[{many} lines are not UTF-8: {meaning}]").ok();
        }
        if self.crlf > 0 {
            text.push_str("[lines end with CRLF; `edit` keeps that]\n");
        }
        text
    }
}

impl Line {
    /// Reads the next line without its line feed; whether there was one.
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

/// Writes a number, as `write!` would, but without its machinery: there is one per line.
fn push_number(text: &mut String, number: u64) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    text.extend(char::from_digit(u32::try_from(number % 10).unwrap_or(0), 10));
}

/// `bytes` without the first part of a character at their end, whose rest was cut off.
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

/// How many lines `text` has.
pub(super) fn count_lines(text: &[u8]) -> u64 {
    let feeds = memchr::memchr_iter(b'\n', text).count();
    (feeds + usize::from(text.last().is_some_and(|last| *last != b'\n'))) as u64
}
