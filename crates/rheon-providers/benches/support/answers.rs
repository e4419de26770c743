//! Response streams as services write them, for every wire. No two deltas of a response are the same.

use std::fmt::Write as _;

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use bytes::Bytes;
use rheon_providers::wire::WireKind;

/// The number of bytes read at once.
pub(crate) const PIECE_BYTES: usize = 4 * 1024;
/// The number of deltas per response.
const DELTAS: usize = 4_000;

/// Consecutive responses, and where each ends.
pub(crate) struct Answers {
    pub(crate) wire: WireKind,
    pub(crate) bytes: Bytes,
    ends: Vec<usize>,
}

impl Answers {
    /// As many responses as fill `bytes_min`.
    pub(crate) fn new(wire: WireKind, bytes_min: usize) -> Self {
        let mut body = Body { wire, bytes: Vec::with_capacity(bytes_min + 4 * 1024 * 1024), number: 0 };
        let mut ends = Vec::new();
        while body.bytes.len() < bytes_min {
            body.answer(DELTAS);
            ends.push(body.bytes.len());
        }
        Self { wire, bytes: body.bytes.into(), ends }
    }

    /// All bytes, in chunks.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Bytes> + '_ {
        (0..self.bytes.len())
            .step_by(PIECE_BYTES)
            .map(|start| self.bytes.slice(start..self.bytes.len().min(start + PIECE_BYTES)))
    }

    /// Each response.
    pub(crate) fn each(&self) -> impl Iterator<Item = Bytes> + '_ {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.bytes.slice(start..*end))
    }
}

/// A body being written.
pub(crate) struct Body {
    pub(crate) wire: WireKind,
    pub(crate) bytes: Vec<u8>,
    pub(crate) number: usize,
}

impl Body {
    /// One whole response.
    pub(crate) fn answer(&mut self, deltas: usize) {
        self.open();
        for _ in 0..deltas {
            self.delta();
        }
        self.close();
    }

    /// Everything before the first delta.
    pub(crate) fn open(&mut self) {
        let id = self.number;
        match self.wire {
            WireKind::Anthropic => {
                self.event("message_start", &format!(
                    r#"{{"type":"message_start","message":{{"id":"msg_{id:024}","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":25,"cache_creation_input_tokens":0,"cache_read_input_tokens":12000,"output_tokens":1}}}}}}"#
                ));
                self.event(
                    "content_block_start",
                    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                );
                self.event("ping", r#"{"type": "ping"}"#);
            }
            WireKind::Chat => {
                self.event("", &chat(r#"{"role":"assistant","content":"","refusal":null}"#, "null"))
            }
            WireKind::Responses => {
                for name in ["response.created", "response.in_progress"] {
                    self.event(name, &format!(
                        r#"{{"type":"{name}","sequence_number":0,"response":{{"id":"resp_{id:048}","object":"response","status":"in_progress","model":"gpt-5.2","output":[]}}}}"#
                    ));
                }
                self.event("response.output_item.added", r#"{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"msg_0","type":"message","status":"in_progress","content":[],"role":"assistant"}}"#);
            }
            WireKind::Gemini => {}
            WireKind::Bedrock => self.event("messageStart", r#"{"role":"assistant","p":"abcdefghijkl"}"#),
        }
    }

    /// One delta of a few words.
    pub(crate) fn delta(&mut self) {
        self.number += 1;
        let (text, number) = (words(self.number), self.number);
        match self.wire {
            WireKind::Anthropic => self.event("content_block_delta", &format!(
                r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}"#
            )),
            WireKind::Chat => self.event("", &chat(&format!(r#"{{"content":"{text}"}}"#), "null")),
            WireKind::Responses => self.event("response.output_text.delta", &format!(
                r#"{{"type":"response.output_text.delta","sequence_number":{number},"item_id":"msg_0c2f0d5a1b7e4c6f8a9b0c1d2e3f4a5b6c7d8e9f0a1b2c3d","output_index":0,"content_index":0,"delta":"{text}","logprobs":[],"obfuscation":"k3Jx9QzA"}}"#
            )),
            WireKind::Gemini => self.event("", &format!(
                r#"{{"candidates": [{{"content": {{"parts": [{{"text": "{text}"}}],"role": "model"}},"index": 0}}],"usageMetadata": {{"promptTokenCount": 12025,"candidatesTokenCount": {number},"totalTokenCount": {},"promptTokensDetails": [{{"modality": "TEXT","tokenCount": 12025}}]}},"modelVersion": "gemini-3-pro","responseId": "aB3dE5fG7hI9"}}"#,
                number + 12_025
            )),
            WireKind::Bedrock => self.event("contentBlockDelta", &format!(
                r#"{{"contentBlockIndex":0,"delta":{{"text":"{text}"}},"p":"abcdefghijklmnop"}}"#
            )),
        }
    }

    /// Everything after the last delta.
    pub(crate) fn close(&mut self) {
        match self.wire {
            WireKind::Anthropic => {
                self.event("content_block_stop", r#"{"type":"content_block_stop","index":0}"#);
                self.event("message_delta", r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4000}}"#);
                self.event("message_stop", r#"{"type":"message_stop"}"#);
            }
            WireKind::Chat => {
                self.event("", &chat("{}", r#""stop""#));
                self.event("", "[DONE]");
            }
            WireKind::Responses => {
                self.event("response.output_item.done", r#"{"type":"response.output_item.done","sequence_number":9,"output_index":0,"item":{"id":"msg_0","type":"message","status":"completed","content":[],"role":"assistant"}}"#);
                self.event("response.completed", r#"{"type":"response.completed","sequence_number":10,"response":{"id":"resp_0","object":"response","status":"completed","model":"gpt-5.2","output":[],"usage":{"input_tokens":12025,"output_tokens":4000,"total_tokens":16025}}}"#);
            }
            WireKind::Gemini => self.event("", r#"{"candidates": [{"content": {"parts": [{"text": "."}],"role": "model"},"finishReason": "STOP","index": 0}],"modelVersion": "gemini-3-pro"}"#),
            WireKind::Bedrock => {
                self.event("contentBlockStop", r#"{"contentBlockIndex":0}"#);
                self.event("messageStop", r#"{"stopReason":"end_turn"}"#);
                self.event("metadata", r#"{"usage":{"inputTokens":25,"outputTokens":4000,"totalTokens":4025},"metrics":{"latencyMs":1}}"#);
            }
        }
    }

    fn event(&mut self, name: &str, data: &str) {
        match self.wire {
            WireKind::Bedrock => {
                let header = |name: &'static str, value: &str| {
                    Header::new(name, HeaderValue::String(value.to_owned().into()))
                };
                let headers = vec![
                    header(":event-type", name),
                    header(":content-type", "application/json"),
                    header(":message-type", "event"),
                ];
                let message = Message::new_from_parts(headers, data.as_bytes().to_vec());
                write_message_to(&message, &mut self.bytes).expect("a buffer takes all that is written");
            }
            WireKind::Anthropic | WireKind::Chat | WireKind::Responses | WireKind::Gemini => {
                if !name.is_empty() {
                    self.bytes.extend_from_slice(format!("event: {name}\n").as_bytes());
                }
                self.bytes.extend_from_slice(b"data: ");
                self.bytes.extend_from_slice(data.as_bytes());
                self.bytes.extend_from_slice(if self.wire == WireKind::Gemini {
                    b"\r\n\r\n"
                } else {
                    b"\n\n"
                });
            }
        }
    }
}

fn chat(delta: &str, finish_reason: &str) -> String {
    format!(
        r#"{{"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1764000000,"model":"gpt-5.2","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{finish_reason}}}],"usage":null,"obfuscation":"x7Qz"}}"#
    )
}

/// A few words and a number, JSON-escaped.
fn words(number: usize) -> String {
    const WORDS: [&str; 12] = [
        " the",
        " parser",
        " keeps",
        "\\n\\n",
        " what",
        " it",
        " has not",
        " na\u{ef}ve",
        " `Result`",
        ",",
        " read \\\"once\\\"",
        " \u{2192}",
    ];
    let mut text = String::new();
    for step in 0..=number % 3 {
        text.push_str(WORDS.get((number * 7 + step * 5) % WORDS.len()).copied().unwrap_or_default());
    }
    write!(text, " {number}").expect("a string takes all that is written");
    text
}
