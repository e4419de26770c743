//! Server-sent events by the WHATWG specification, without IO.
//!
//! One deliberate deviation: an event that the end of the body leaves unterminated is passed on, because services and
//! proxies forget the last empty line.

use std::borrow::Cow;
use std::str::from_utf8;

use memchr::{memchr, memchr2};
use rheon_types::ProviderError;

use super::event::{FRAME_BYTES_MAX, Frame, FrameSink, text, too_large};

/// An optional mark at the start of the body; not part of the first line.
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Larger buffers are freed after their event.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// Splits a body into frames.
///
/// Each byte is read once and copied at most twice, no matter how the body is chunked. An event that lies within one
/// chunk and has one data line is not copied at all. After an error, further bytes are ignored.
#[derive(Debug, Default)]
pub struct SseDecoder {
    /// How many bytes of the byte order mark have been seen; all of them once past the start.
    mark_seen: usize,
    /// The last chunk ended in a carriage return: a line feed that comes next belongs to it.
    after_return: bool,
    /// The incomplete line.
    line: Vec<u8>,
    /// The fields of the incomplete event from earlier chunks.
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    id: Option<String>,
    last_event_id: String,
    retry_ms: Option<u64>,
    ended: bool,
}

/// The current bytes, and the prefix that is known to be UTF-8. Checking all of it at once is far cheaper than per
/// event.
#[derive(Clone, Copy)]
struct Piece<'a> {
    bytes: &'a [u8],
    valid: &'a str,
}

/// A range in a piece.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
}

/// The fields of the incomplete event in the current piece.
#[derive(Clone, Copy, Default)]
struct OpenEvent {
    name: Option<Span>,
    data: Option<Span>,
}

impl<'a> Piece<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let checked = match from_utf8(bytes) {
            Ok(valid) => return Self { bytes, valid },
            Err(error) => bytes.get(..error.valid_up_to()).map(from_utf8),
        };
        Self { bytes, valid: checked.and_then(Result::ok).unwrap_or_default() }
    }

    fn bytes(self, span: Span) -> &'a [u8] {
        self.bytes.get(span.start..span.end).unwrap_or_default()
    }

    fn text(self, span: Span) -> Cow<'a, str> {
        match self.valid.get(span.start..span.end) {
            Some(valid) => Cow::Borrowed(valid),
            None => text(self.bytes(span)),
        }
    }
}

impl SseDecoder {
    /// Starts a new body.
    pub fn new() -> Self {
        Self::default()
    }

    /// The `id` of the last event, or of an earlier one if it had none.
    pub fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    /// The reconnection delay that the service asks for.
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// Feeds the next bytes and passes each completed frame to `sink`.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
        if self.ended {
            return Ok(());
        }
        let result = self.read(bytes, sink);
        if result.is_err() {
            self.end();
        }
        result
    }

    /// Ends the body.
    pub fn finish(&mut self, sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
        if self.ended {
            return Ok(());
        }
        self.finish_mark();
        let line = std::mem::take(&mut self.line);
        let piece = Piece { bytes: &line, valid: "" };
        let mut open = OpenEvent::default();
        let taken = self.take_line(piece, Span { start: 0, end: line.len() }, &mut open);
        let result = taken.and_then(|()| self.dispatch(piece, &open, sink));
        self.end();
        result
    }

    fn end(&mut self) {
        self.ended = true;
        (self.line, self.name, self.data, self.has_data) = (Vec::new(), Vec::new(), Vec::new(), false);
    }

    fn read(&mut self, bytes: &[u8], sink: &mut FrameSink<'_>) -> Result<(), ProviderError> {
        let mut rest = self.skip_mark(bytes);
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        let returns = memchr(b'\r', rest).is_some();
        if !self.line.is_empty() {
            let Some((line, tail)) = self.split_line(rest, returns) else { return self.save_line(rest) };
            self.save_line(line)?;
            self.take_saved_line()?;
            rest = tail;
        }
        let piece = Piece::new(rest);
        let mut open = OpenEvent::default();
        loop {
            // The empty line after an event needs no search.
            let (line, tail) = match rest {
                [b'\n', tail @ ..] => (&[][..], tail),
                _ => match self.split_line(rest, returns) {
                    Some(split) => split,
                    None => break,
                },
            };
            if line.is_empty() {
                self.dispatch(piece, &open, sink)?;
                (open.name, open.data) = (None, None);
            } else {
                let start = piece.bytes.len().saturating_sub(rest.len());
                self.take_line(piece, Span { start, end: start.saturating_add(line.len()) }, &mut open)?;
            }
            rest = tail;
        }
        self.save_event(piece, open);
        self.save_line(rest)
    }

    /// Skips the part of the byte order mark that is in this chunk.
    fn skip_mark<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        while let Some(expected) = BYTE_ORDER_MARK.get(self.mark_seen) {
            match bytes.split_first() {
                Some((byte, rest)) if byte == expected => {
                    self.mark_seen += 1;
                    bytes = rest;
                }
                Some(_) => self.finish_mark(),
                None => break,
            }
        }
        bytes
    }

    /// Ends the start of the body. A partial mark is part of the first line.
    fn finish_mark(&mut self) {
        if self.mark_seen < BYTE_ORDER_MARK.len() {
            self.line.extend(BYTE_ORDER_MARK.iter().take(self.mark_seen));
            self.mark_seen = BYTE_ORDER_MARK.len();
        }
    }

    /// Splits off the first line of `rest`; `None` if it is incomplete. `returns` says whether the chunk contains
    /// carriage returns: searching for one byte is faster than for two.
    #[inline]
    fn split_line<'a>(&mut self, rest: &'a [u8], returns: bool) -> Option<(&'a [u8], &'a [u8])> {
        let end = if returns { memchr2(b'\n', b'\r', rest)? } else { memchr(b'\n', rest)? };
        let (line, tail) = rest.split_at_checked(end)?;
        match tail {
            [b'\r', b'\n', tail @ ..] => Some((line, tail)),
            [b'\r'] => {
                self.after_return = true;
                Some((line, &[]))
            }
            [_, tail @ ..] => Some((line, tail)),
            [] => None,
        }
    }

    fn save_line(&mut self, bytes: &[u8]) -> Result<(), ProviderError> {
        if self.line.len().saturating_add(bytes.len()) > FRAME_BYTES_MAX {
            return Err(too_large());
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn take_saved_line(&mut self) -> Result<(), ProviderError> {
        let mut line = std::mem::take(&mut self.line);
        // It is copied, so checking it now would be wasted.
        let piece = Piece { bytes: &line, valid: "" };
        let mut open = OpenEvent::default();
        self.take_line(piece, Span { start: 0, end: line.len() }, &mut open)?;
        self.save_event(piece, open);
        if line.capacity() <= BUFFER_BYTES_MAX {
            line.clear();
            self.line = line;
        }
        Ok(())
    }

    /// Reads a non-empty line. Comments and unknown fields are ignored.
    #[inline]
    fn take_line(&mut self, piece: Piece<'_>, line: Span, open: &mut OpenEvent) -> Result<(), ProviderError> {
        let bytes = piece.bytes(line);
        if bytes.len() > FRAME_BYTES_MAX {
            return Err(too_large());
        }
        let (field, value) = split_field(bytes);
        let range = Span { start: line.end.saturating_sub(value.len()), end: line.end };
        match field {
            b"data" => self.take_data(piece, range, open)?,
            b"event" => open.name = Some(range),
            b"id" if !value.contains(&0) => self.id = Some(text(value).into_owned()),
            b"retry" => {
                let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
                self.retry_ms = text(value).parse().ok().filter(|_| digits).or(self.retry_ms);
            }
            _ => {}
        }
        Ok(())
    }

    fn take_data(
        &mut self,
        piece: Piece<'_>,
        value: Span,
        open: &mut OpenEvent,
    ) -> Result<(), ProviderError> {
        if !self.has_data {
            let Some(first) = open.data.take() else {
                open.data = Some(value);
                return Ok(());
            };
            self.save_data(piece.bytes(first));
        }
        let value = piece.bytes(value);
        if self.data.len().saturating_add(value.len()) >= FRAME_BYTES_MAX {
            return Err(too_large());
        }
        self.data.push(b'\n');
        self.data.extend_from_slice(value);
        Ok(())
    }

    fn save_data(&mut self, first: &[u8]) {
        self.data.extend_from_slice(first);
        self.has_data = true;
    }

    /// Saves the fields of the incomplete event for the next chunk.
    fn save_event(&mut self, piece: Piece<'_>, open: OpenEvent) {
        if let Some(name) = open.name {
            self.name.clear();
            self.name.extend_from_slice(piece.bytes(name));
        }
        if let Some(data) = open.data {
            self.save_data(piece.bytes(data));
        }
    }

    /// Ends the event and passes it on if it has data.
    #[inline]
    fn dispatch(
        &mut self,
        piece: Piece<'_>,
        open: &OpenEvent,
        sink: &mut FrameSink<'_>,
    ) -> Result<(), ProviderError> {
        if self.id.is_some() {
            self.last_event_id = self.id.take().unwrap_or_default();
        }
        let data =
            if self.has_data { Some(text(&self.data)) } else { open.data.map(|data| piece.text(data)) };
        if let Some(data) = data {
            let name = open.name.map_or_else(|| text(&self.name), |name| piece.text(name));
            sink(Frame { name: &name, data: &data })?;
        }
        if !self.name.is_empty() {
            reset(&mut self.name);
        }
        if self.has_data {
            reset(&mut self.data);
            self.has_data = false;
        }
        Ok(())
    }
}

/// Splits a line into field and value. The common fields need no search for the colon.
#[inline]
fn split_field(line: &[u8]) -> (&[u8], &[u8]) {
    match line {
        [b'd', b'a', b't', b'a', b':', b' ', value @ ..] => return (b"data", value),
        [b'e', b'v', b'e', b'n', b't', b':', b' ', value @ ..] => return (b"event", value),
        _ => {}
    }
    match memchr(b':', line).and_then(|colon| line.split_at_checked(colon)) {
        Some((field, [_, b' ', value @ ..] | [_, value @ ..])) => (field, value),
        Some((field, [])) => (field, &[]),
        None => (line, &[]),
    }
}

fn reset(buffer: &mut Vec<u8>) {
    if buffer.capacity() > BUFFER_BYTES_MAX { *buffer = Vec::new() } else { buffer.clear() }
}
