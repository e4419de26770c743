//! Parses a collector's response: how much of a message was rejected, or why all of it was. Pure.

use rheon_text::TextContext;
use serde_json::Value;

use super::target::{Encoding, Signal};

/// The most characters of a collector's message that are shown.
const WORDS_CHARS_MAX: usize = 200;

/// The partial rejection or warning in a successful response, if any.
pub(super) fn rejected(signal: Signal, encoding: Encoding, body: &[u8]) -> Option<String> {
    let (count, words) = match encoding {
        Encoding::Protobuf => protobuf_partial(body)?,
        Encoding::Json => json_partial(signal, body)?,
    };
    let words = shown(&words);
    let parts = signal.parts();
    match (count, words.as_str()) {
        (0, "") => None,
        (0, words) => Some(format!("the collector warns: {words}")),
        (count, "") => Some(format!("the collector rejected {count} {parts} without saying why")),
        (count, words) => Some(format!("the collector rejected {count} {parts}: {words}")),
    }
}

/// The reason in an error response, a `google.rpc.Status`.
pub(super) fn reason(encoding: Encoding, body: &[u8]) -> Option<String> {
    let words = match encoding {
        Encoding::Protobuf => text_of(body, 2)?,
        Encoding::Json => {
            let status: Value = serde_json::from_slice(body).ok()?;
            status.get("message")?.as_str()?.to_owned()
        }
    };
    Some(shown(&words)).filter(|words| !words.is_empty())
}

/// `partial_success` with its `rejected_…` and `error_message`.
fn protobuf_partial(body: &[u8]) -> Option<(u64, String)> {
    let partial = Fields(body).find_map(|field| match field {
        (1, Content::Bytes(bytes)) => Some(bytes),
        (_, Content::Bytes(_) | Content::Number(_) | Content::Other) => None,
    })?;
    let count = Fields(partial).find_map(|field| match field {
        (1, Content::Number(count)) => Some(count),
        (_, Content::Bytes(_) | Content::Number(_) | Content::Other) => None,
    });
    Some((count.unwrap_or_default(), text_of(partial, 2).unwrap_or_default()))
}

/// The same in JSON, where 64-bit numbers are strings, although some collectors write numbers.
fn json_partial(signal: Signal, body: &[u8]) -> Option<(u64, String)> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let partial = answer.get("partialSuccess")?;
    let name = match signal {
        Signal::Traces => "rejectedSpans",
        Signal::Metrics => "rejectedDataPoints",
    };
    let count = partial.get(name).and_then(|count| count.as_u64().or_else(|| count.as_str()?.parse().ok()));
    let words = partial.get("errorMessage").and_then(Value::as_str).unwrap_or_default();
    Some((count.unwrap_or_default(), words.to_owned()))
}

/// A message that is safe to show.
fn shown(words: &str) -> String {
    let inert = words.chars().map(|letter| if TextContext::Title.forbids(letter) { ' ' } else { letter });
    inert.take(WORDS_CHARS_MAX).collect::<String>().trim().to_owned()
}

fn text_of(message: &[u8], number: u64) -> Option<String> {
    Fields(message).find_map(|field| match field {
        (found, Content::Bytes(bytes)) if found == number => String::from_utf8(bytes.to_vec()).ok(),
        (_, Content::Bytes(_) | Content::Number(_) | Content::Other) => None,
    })
}

/// The fields of a protobuf message, as far as they can be read.
struct Fields<'m>(&'m [u8]);

/// The content of a field, for the types that occur in responses.
enum Content<'m> {
    Number(u64),
    Bytes(&'m [u8]),
    /// A fixed-size number; not used in responses.
    Other,
}

impl<'m> Iterator for Fields<'m> {
    type Item = (u64, Content<'m>);

    fn next(&mut self) -> Option<Self::Item> {
        let tag = self.varint()?;
        let content = match tag & 7 {
            0 => Content::Number(self.varint()?),
            1 => self.bytes(8).map(|_| Content::Other)?,
            2 => {
                let length = self.varint()?;
                Content::Bytes(self.bytes(usize::try_from(length).ok()?)?)
            }
            5 => self.bytes(4).map(|_| Content::Other)?,
            _ => return None,
        };
        Some((tag >> 3, content))
    }
}

impl<'m> Fields<'m> {
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn bytes(&mut self, count: usize) -> Option<&'m [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
