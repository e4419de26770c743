//! The bytes of responses as the fake server writes them, and their decoding by `ResponseReader`.

use std::collections::VecDeque;
use std::sync::Arc;

use rheon_providers::frame::Framing;
use rheon_providers::wire::{ResponseReader, WireKind};
use rheon_testkit::server::{
    FakeReply, ReasoningField, RecordedRequest, ReplyBlock, ReplyStyle, Script, UsageReport,
};
use rheon_types::{Chunk, ToolCall, Usage};
use serde_json::json;

use super::fixture::{Answer, Fixture};

pub(crate) const THOUGHT: &str = "Hm, so.";
pub(crate) const SIGNATURE: &str = "c2lnbmF0dXJlLW9mLXRoZS10aG91Z2h0";
pub(crate) const REDACTED: &str = "b3BhcXVlLXRob3VnaHQ=";
pub(crate) const TEXT: &str = "Grüße 🙂!";
pub(crate) const USAGE: Usage =
    Usage { input: 10, output: 20, cache_read: 5, cache_write: 0, total_tokens: 0 };

/// A reply with all kinds of content.
pub(crate) fn rich() -> FakeReply {
    let style =
        ReplyStyle { delta_chars: 5, reasoning: ReasoningField::ReasoningDetails, ..ReplyStyle::default() };
    let call = |name: &str, arguments: &str, signature: Option<&str>| ReplyBlock::Call {
        id: None,
        name: name.into(),
        arguments: arguments.into(),
        signature: signature.map(str::to_owned),
    };
    FakeReply::thinking(THOUGHT, SIGNATURE)
        .and(ReplyBlock::Redacted { data: REDACTED.into() })
        .and_text(TEXT)
        .and(call("read", r#"{"path":"ä.txt"}"#, Some(SIGNATURE)))
        .and(call("list", "{}", None))
        .style(style)
        .usage(UsageReport::Counts { usage: USAGE, thinking: 4 })
}

/// The calls of [`rich`], by name and arguments.
pub(crate) fn rich_calls() -> Vec<(String, serde_json::Value)> {
    vec![("read".into(), json!({"path": "ä.txt"})), ("list".into(), json!({}))]
}

pub(crate) fn call_parts(call: &ToolCall) -> (String, serde_json::Value) {
    (call.name.to_string(), (*call.arguments).clone())
}

/// The bytes of one response.
pub(crate) struct Recording {
    pub(crate) wire: WireKind,
    pub(crate) framing: Framing,
    pub(crate) origin: Arc<str>,
    pub(crate) bytes: Vec<u8>,
}

impl Recording {
    /// The bytes that the server writes for `reply`.
    pub(crate) async fn of(wire: WireKind, reply: FakeReply) -> Self {
        Tape::new(wire).await.record(reply).await
    }

    /// Reads `pieces`, then the end.
    pub(crate) fn read<'a>(&self, pieces: impl IntoIterator<Item = &'a [u8]>) -> Answer {
        let mut reader = ResponseReader::new(self.wire, self.framing, Arc::clone(&self.origin));
        let mut chunks = VecDeque::new();
        let fed = pieces.into_iter().try_for_each(|piece| reader.feed(piece, &mut chunks));
        let error = fed.and_then(|()| reader.finish(&mut chunks)).err();
        let mut answer = Answer { chunks: Vec::new(), error };
        for chunk in chunks {
            let is_end = matches!(chunk, Chunk::Done { .. });
            answer.chunks.push(chunk);
            if is_end {
                // A consumer stops reading here.
                answer.error = None;
                break;
            }
        }
        answer
    }

    /// Reads all of it.
    pub(crate) fn whole(&self) -> Answer {
        self.read([self.bytes.as_slice()])
    }
}

/// A request on one wire that can be sent repeatedly.
pub(crate) struct Tape {
    fixture: Fixture,
    request: RecordedRequest,
    client: reqwest::Client,
}

impl Tape {
    pub(crate) async fn new(wire: WireKind) -> Self {
        let fixture = Fixture::wire(wire, Script::default()).await;
        let answer = fixture.ask(fixture.request()).await;
        assert_eq!(answer.error, None, "{wire:?} refuses an ordinary request");
        let request = fixture.server.requests().remove(0);
        rheon_providers::install_tls();
        Self { fixture, request, client: reqwest::Client::builder().no_proxy().build().unwrap() }
    }

    /// The bytes that the server writes for `reply`.
    pub(crate) async fn record(&self, reply: FakeReply) -> Recording {
        let server = rheon_testkit::server::FakeServer::start(reply).await.unwrap();
        let RecordedRequest { path, query, headers, body, .. } = self.request.clone();
        let sent = self.client.post(format!("{}{path}?{query}", server.url())).headers(headers).body(body);
        let response = sent.send().await.unwrap();
        let kind =
            response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let framing = if kind.contains("event-stream") && kind.starts_with("text/") {
            Framing::Sse
        } else if kind.contains("ndjson") {
            Framing::Lines
        } else {
            self.fixture.vendor.wire.framing()
        };
        assert_eq!(response.status(), 200);
        Recording {
            wire: self.fixture.vendor.wire,
            framing,
            origin: format!("{}/{}", self.fixture.vendor.id, self.fixture.resolved.model).into(),
            bytes: response.bytes().await.unwrap().to_vec(),
        }
    }

    /// The first event of `reply` after which `found` holds for the chunks so far.
    pub(crate) async fn event_where(&self, reply: &FakeReply, found: impl Fn(&Answer) -> bool) -> usize {
        const EVENTS_MAX: usize = 100;
        for event in 1..EVENTS_MAX {
            let part =
                self.record(reply.clone().with(rheon_testkit::server::Fault::EndAfterEvent(event))).await;
            if found(&part.whole()) {
                return event;
            }
        }
        panic!("no event of {:?} does", self.fixture.vendor.wire);
    }
}
