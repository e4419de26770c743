//! Streams in the shapes that services really send, one file each in `tests/recorded/`: fields that no specification
//! has, JSON instead of a stream, stop reasons that say nothing. Every vendor has at least one.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect_file;
use rheon_providers::{TransportConfig, Vendors};
use rheon_testkit::server::{FakeReply, Fault, Script};
use rheon_types::{Content, Draft, StopReason};

use super::fixture::{Answer, Fixture};

/// One recorded response.
struct Exchange {
    /// `vendor.shape`.
    name: String,
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Exchange {
    /// Reads a file: comments, the status if it is not 200, headers, an empty line, the body.
    fn read(path: &Path) -> Self {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).unwrap();
        let (head, body) = text.split_once("\n\n").unwrap();
        let mut exchange = Self { name, status: 200, headers: Vec::new(), body: body.to_owned() };
        for line in head.lines().filter(|line| !line.starts_with('#')) {
            match line.split_once(": ").unwrap() {
                ("status", status) => exchange.status = status.parse().unwrap(),
                (name, value) => exchange.headers.push((name.to_owned(), value.to_owned())),
            }
        }
        exchange
    }

    fn vendor(&self) -> &str {
        self.name.split('.').next().unwrap()
    }

    /// The answer to a request with tools, as the vendor's best model would give it.
    async fn play(&self, pieces: Option<usize>) -> Answer {
        let vendor = Vendors::builtin().get(self.vendor()).unwrap();
        let reply = match self.status {
            200 => {
                let body = Fault::RawAfterEvent { event: 0, bytes: self.body.clone().into_bytes() };
                let reply = FakeReply::text("").with(Fault::EndAfterEvent(0)).with(body);
                let kind = self.headers.iter().find(|(name, _)| name == "content-type");
                kind.into_iter().fold(reply, |reply, (_, kind)| reply.with(Fault::ContentType(kind.clone())))
            }
            code => {
                let (body, headers) = (Some(self.body.clone()), self.headers.clone());
                FakeReply::fault(Fault::Status { code, body, headers })
            }
        };
        let reply = pieces.into_iter().fold(reply, |reply, bytes| reply.with(Fault::Pieces(bytes)));
        let fixture = Fixture::vendor(vendor, Script::always(reply), TransportConfig::default()).await;
        fixture.ask(fixture.request()).await
    }
}

/// All recorded responses, by name.
fn exchanges() -> Vec<Exchange> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut exchanges: Vec<Exchange> = files
        .filter(|path| path.extension().is_some_and(|kind| kind == "http"))
        .map(|path| Exchange::read(&path))
        .collect();
    exchanges.sort_by(|one, other| one.name.cmp(&other.name));
    exchanges
}

/// The answer as a run would keep it.
fn shown(answer: &Answer) -> String {
    let mut draft = Draft::new();
    for chunk in &answer.chunks {
        draft.push(chunk).unwrap();
    }
    let finished = draft.finish(StopReason::Error);
    let mut text = String::new();
    for block in &finished.content {
        match block {
            Content::Text { text: said } => writeln!(text, "  text {said:?}"),
            Content::Thinking { thinking, signature } => {
                let signed = if signature.is_some() { ", signed" } else { "" };
                writeln!(text, "  thinking {thinking:?}{signed}")
            }
            Content::ToolCall(call) => {
                writeln!(text, "  call {} {} {}", call.id, call.name, call.arguments)
            }
            Content::Image { .. } => writeln!(text, "  image"),
        }
        .unwrap();
    }
    let usage = finished.usage;
    writeln!(
        text,
        "  tokens {} + {} read + {} written, {} out, {} in all",
        usage.input, usage.cache_read, usage.cache_write, usage.output, usage.total_tokens
    )
    .unwrap();
    match &answer.error {
        Some(error) => writeln!(text, "  error {:?}: {error}", error.kind),
        None if answer.is_done() => writeln!(text, "  {:?}", finished.stop_reason),
        None => writeln!(text, "  cut"),
    }
    .unwrap();
    text
}

#[tokio::test]
async fn recorded_responses_are_read_in_full() {
    let mut text = String::new();
    for exchange in exchanges() {
        let whole = exchange.play(None).await;
        let pieces = exchange.play(Some(7)).await;
        let (whole, pieces) = (shown(&whole), shown(&pieces));
        assert_eq!(whole, pieces, "{} in small pieces", exchange.name);
        writeln!(text, "{}\n{whole}", exchange.name).unwrap();
    }
    expect_file!["../../recorded/answers.txt"].assert_eq(&text);
}

#[test]
fn every_vendor_has_a_recorded_response() {
    let exchanges = exchanges();
    let recorded: BTreeSet<String> = exchanges.iter().map(|exchange| exchange.vendor().to_owned()).collect();
    let vendors: BTreeSet<String> = Vendors::builtin().iter().map(|vendor| vendor.id.clone()).collect();
    assert_eq!(recorded, vendors);
}
