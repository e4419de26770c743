//! Copies the text of a stored event without its long texts, in one pass. It only parses quotes and brackets, so
//! that a megabyte of tool output costs no more than finding its end.
//!
//! Events are written without whitespace between tokens. Anything else is not recognized and stays unchanged.

use memchr::memchr;

use super::report::TruncationReport;
use super::strings::{Strings, TEXT_BYTES_KEPT};
use crate::blobs::{BlobId, lost};

/// The event types whose texts are used only in the conversation.
const KINDS: [&str; 6] = ["message.start", "message.end", "tool.start", "tool.end", "turn.end", "agent.end"];
/// The type prefix of deduplicated events.
const DEDUP_PREFIX: &str = "slim.";

/// Deeper events are not recognized.
const DEPTH_MAX: usize = 100;

/// The part of an event that a value belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Region {
    /// The event itself.
    Event,
    /// The `kind` object, whose `type` is recorded.
    Kind,
    /// Kept as it is, but may contain messages.
    Around,
    /// The content blocks of a message.
    Blocks,
    /// The signature of a thinking block.
    Signature,
    /// Texts that may be cut.
    Free,
    /// Kept as it is.
    Exact,
}

impl Region {
    fn field(self, key: &str) -> Self {
        match self {
            Self::Event if key == "kind" => Self::Kind,
            Self::Event => Self::Exact,
            Self::Kind | Self::Around => match key {
                "content" => Self::Blocks,
                "arguments" | "args" | "details" | "data" | "text" => Self::Free,
                "message" | "messages" | "tool_results" | "output" | "result" => Self::Around,
                _ => Self::Exact,
            },
            Self::Blocks => match key {
                "text" | "thinking" | "data" | "malformed" | "arguments" => Self::Free,
                "signature" => Self::Signature,
                _ => Self::Exact,
            },
            Self::Signature if key == "data" => Self::Free,
            Self::Signature => Self::Exact,
            Self::Free => Self::Free,
            Self::Exact => Self::Exact,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Copied, perhaps with a note.
    Kept,
    Removed,
}

pub(super) struct Walk<'a> {
    text: &'a str,
    position: usize,
    strings: Strings<'a>,
    out: String,
    truncation: TruncationReport,
    kind: &'a str,
    depth: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(text: &'a str, strings: Strings<'a>) -> Self {
        let (out, truncation) = (String::new(), TruncationReport::default());
        Self { text, position: 0, strings, out, truncation, kind: "", depth: 0 }
    }

    /// Returns the event without its long texts, if it has any that may be cut.
    pub(super) fn event(mut self) -> Option<(String, TruncationReport)> {
        self.value(Region::Event)?;
        let is_whole = self.position == self.text.len();
        let may_be = KINDS.contains(&self.kind) || self.kind.starts_with(DEDUP_PREFIX);
        (is_whole && may_be && self.truncation.texts > 0).then_some((self.out, self.truncation))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    /// Consumes `expected`.
    fn skip(&mut self, expected: &str) -> Option<()> {
        self.rest().starts_with(expected).then(|| self.position += expected.len())
    }

    fn value(&mut self, region: Region) -> Option<Outcome> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let outcome = match self.peek()? {
            b'"' => self.string(region)?,
            b'[' => self.array(region)?,
            b'{' => self.wrapped(region)?,
            _ => self.scalar()?,
        };
        self.depth -= 1;
        Some(outcome)
    }

    /// A number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Option<Outcome> {
        let rest = self.rest();
        let length = rest.find([',', ']', '}'])?;
        self.out.push_str(rest.get(..length)?);
        self.position += length;
        Some(Outcome::Kept)
    }

    /// Consumes a string and returns it without its quotes.
    fn raw_string(&mut self) -> Option<&'a str> {
        self.skip("\"")?;
        let bytes = self.text.as_bytes();
        let start = self.position;
        let mut from = start;
        loop {
            let quote = from + memchr(b'"', bytes.get(from..)?)?;
            let before = bytes.get(start..quote)?;
            let escapes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
            from = quote + 1;
            if escapes % 2 == 0 {
                self.position = from;
                return self.text.get(start..quote);
            }
        }
    }

    fn string(&mut self, region: Region) -> Option<Outcome> {
        let raw = self.raw_string()?;
        if region == Region::Free && raw.len() > TEXT_BYTES_KEPT {
            self.omit(u64::try_from(raw.len()).ok()?);
        } else {
            self.out.push('"');
            self.out.push_str(raw);
            self.out.push('"');
        }
        Some(Outcome::Kept)
    }

    fn omit(&mut self, bytes: u64) {
        self.truncation += TruncationReport { texts: 1, bytes };
        self.out.push('"');
        self.out.push_str(&note(Omitted::Text, bytes));
        self.out.push('"');
    }

    fn array(&mut self, region: Region) -> Option<Outcome> {
        self.skip("[")?;
        self.out.push('[');
        let mut is_first = true;
        while self.skip("]").is_none() {
            let before = self.out.len();
            if !is_first {
                self.out.push(',');
            }
            match self.value(region)? {
                Outcome::Kept => is_first = false,
                Outcome::Removed => self.out.truncate(before),
            }
            if self.skip(",").is_none() && self.peek()? != b']' {
                return None;
            }
        }
        self.out.push(']');
        Some(Outcome::Kept)
    }

    /// An object, or the object that stands for a string in a blob.
    fn wrapped(&mut self, region: Region) -> Option<Outcome> {
        let Strings::AsBlobs(blobs) = self.strings else { return self.object(region) };
        if self.skip("{\"$literal\":").is_some() {
            let outcome = self.object(region)?;
            self.skip("}")?;
            return Some(outcome);
        }
        if self.skip("{\"$blob\":").is_none() {
            return self.object(region);
        }
        let id = BlobId::parse(self.raw_string()?)?;
        self.skip(",\"bytes\":")?;
        let digits = self.rest().find('}')?;
        let bytes: u64 = self.rest().get(..digits)?.parse().ok()?;
        self.position += digits + 1;
        if region == Region::Free {
            self.omit(bytes);
        } else {
            let text = blobs.get(id).ok().and_then(|content| String::from_utf8(content).ok());
            let text = text.unwrap_or_else(|| lost(bytes));
            self.out.push_str(&serde_json::to_string(&text).ok()?);
        }
        Some(Outcome::Kept)
    }

    fn object(&mut self, region: Region) -> Option<Outcome> {
        self.skip("{")?;
        let start = self.out.len();
        self.out.push('{');
        let mut block = Block::default();
        while self.skip("}").is_none() {
            let key = self.raw_string()?;
            self.skip(":")?;
            self.out.push('"');
            self.out.push_str(key);
            self.out.push_str("\":");
            if key == "type" && matches!(region, Region::Kind | Region::Blocks) {
                let position = self.position;
                block.name = self.raw_string()?;
                self.position = position;
            }
            let before = self.truncation.bytes;
            self.value(region.field(key))?;
            block.omitted_bytes += self.truncation.bytes - before;
            if self.skip(",").is_some() {
                self.out.push(',');
            } else if self.peek()? != b'}' {
                return None;
            }
        }
        self.out.push('}');
        match region {
            Region::Kind => self.kind = block.name,
            Region::Blocks => return Some(self.end_block(start, &block)),
            Region::Event | Region::Around | Region::Signature | Region::Free | Region::Exact => {}
        }
        Some(Outcome::Kept)
    }

    /// A note replaces an image, as text. Services reject thinking that was changed, so a truncated thinking block
    /// is removed.
    fn end_block(&mut self, start: usize, block: &Block<'_>) -> Outcome {
        match block.name {
            "image" if block.omitted_bytes > 0 => {
                self.out.truncate(start);
                self.out.push_str("{\"type\":\"text\",\"text\":\"");
                self.out.push_str(&note(Omitted::Image, block.omitted_bytes));
                self.out.push_str("\"}");
                Outcome::Kept
            }
            "thinking" if block.omitted_bytes > 0 => {
                self.out.truncate(start);
                Outcome::Removed
            }
            _ => Outcome::Kept,
        }
    }
}

/// What is known about an object at its end.
#[derive(Default)]
struct Block<'a> {
    /// The value of `type`.
    name: &'a str,
    omitted_bytes: u64,
}

/// The note that the model reads instead.
const NOTE: &str = include_str!("note.md");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Omitted {
    Text,
    Image,
}

/// The note needs no escaping in a JSON string.
fn note(omitted: Omitted, bytes: u64) -> String {
    let what = match omitted {
        Omitted::Text => "a text",
        Omitted::Image => "an image",
    };
    NOTE.trim_end().replace("{what}", what).replace("{kilobytes}", &bytes.div_ceil(1_000).to_string())
}
