//! A session of 2,000 turns: it stays inside its window, keeps its rules and its goal, every call has its result, and what is
//! sent again is what services have in their cache.
//!
//! The long one goes through the real wire code, which makes the bytes of every request, and is answered by a script; HTTP would
//! take minutes. A shorter one of the same kind goes over HTTP to the fake server, which refuses what the services refuse.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use rheon_agent::{Agent, AgentBuilder, ExecutionLimits, TokenCounter, WindowSettings, flat_tokens};
use rheon_app::context::LoadedContext;
use rheon_providers::wire::{WireKind, WireRequest};
use rheon_providers::{
    AuthScheme, Catalog, Model, ProxyChoice, Registry, RegistryParts, Transport, TransportConfig, Vendor,
    Vendors,
};
use rheon_testkit::FnTool;
use rheon_testkit::server::{FakeReply, FakeServer, ReplyCondition, ReplyCount, Script};
use rheon_types::{
    AgentEvent, AgentMessage, Chunk, ChunkStream, ContextEvent, ModelInfo, Provider, Request, RunEnd,
    StopReason, ToolError, ToolResult, Usage,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::cache_meter::CacheMeter;
use crate::fixture::{TODAY, rust_crate};
use crate::prompt_bytes::{Cutter, Piece};

/// Whoever speaks one of the protocols that the registry knows.
const VENDORS: [&str; 7] = ["anthropic", "openai-chat", "openai", "azure", "google", "vertex", "bedrock"];
const WINDOW_TOKENS: u64 = 10_000;
const ANSWER_TOKENS_MAX: u32 = 500;
const GOAL: &str = "Rename Parcel to Packet in every module, and keep the tests green.";
const RULE: &str = "This crate has no dependencies. Keep it so.";

/// What goes through a session on the wire, as it is sent.
struct Watched {
    cutter: Cutter,
    meter: CacheMeter,
    requests: usize,
    /// The largest body, in bytes.
    bytes_max: usize,
}

impl Watched {
    fn new(wire: WireKind) -> Self {
        Self {
            cutter: Cutter::new(wire, &[RULE, GOAL]),
            meter: CacheMeter::default(),
            requests: 0,
            bytes_max: 0,
        }
    }

    /// Checks a request, and takes it in.
    fn take(&mut self, body: &[u8]) {
        let body = str::from_utf8(body).unwrap();
        let pieces = self.cutter.pieces(body);
        let pieces = || pieces.iter().flat_map(|pieces| pieces.iter());
        let place = format!("request {}", self.requests);
        for (number, text) in [RULE, GOAL].iter().enumerate() {
            assert!(pieces().any(|piece| piece.holds[number]), "{place} lacks {text:?}");
        }
        assert_paired(pieces(), &place);
        self.meter.take(pieces(), body.len());
        self.requests += 1;
        self.bytes_max = self.bytes_max.max(body.len());
    }
}

/// Words of the text that asks for a summary.
const ASKS_SUMMARY: &str = "write a hand-over for a colleague";

fn is_summary(request: &Request) -> bool {
    request.messages.for_model().next_back().is_some_and(|last| last.text().contains(ASKS_SUMMARY))
}

/// Every call has its result before anybody says anything else, and every result its call.
fn assert_paired<'a>(pieces: impl Iterator<Item = &'a Piece>, place: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut is_models = false;
    for piece in pieces {
        for result in &piece.results {
            let found = open.iter().position(|call| call == result);
            open.remove(found.unwrap_or_else(|| panic!("{place}: {result} answers no call")));
        }
        if piece.results.is_empty() && !(piece.is_models && is_models) {
            assert!(open.is_empty(), "{place}: {open:?} have no result");
        }
        open.extend(piece.calls.iter().map(String::as_str));
        is_models = piece.is_models;
    }
    assert!(open.is_empty(), "{place}: {open:?} have no result");
}

/// What the tool says in this turn: mostly little, sometimes much, now and then that it failed.
fn result_of(turn: u64) -> Result<ToolResult, ToolError> {
    if turn.is_multiple_of(41) {
        return Err(ToolError::Failed(format!("module {turn} does not compile: expected `;`")));
    }
    let bytes = match turn {
        turn if turn.is_multiple_of(97) => 5_000,
        turn if turn.is_multiple_of(10) => 500,
        turn => 1 + (turn * 37) % 100,
    };
    let line = |number| format!("{number}: let parcel = Parcel::new(\"{turn}\");\n");
    let mut text = String::new();
    while (text.len() as u64) < bytes {
        text.push_str(&line(text.len()));
    }
    Ok(ToolResult::text(text))
}

fn look() -> FnTool {
    FnTool::new("look", |arguments, _| std::future::ready(result_of(arguments["turn"].as_u64().unwrap())))
        .schema(json!({
            "type": "object",
            "properties": { "path": { "type": "string" }, "turn": { "type": "integer" } },
            "required": ["path", "turn"]
        }))
}

fn arguments(turn: usize) -> serde_json::Value {
    json!({ "path": format!("src/module_{turn}.rs"), "turn": turn })
}

const SUMMARY: &str = "## Goal\nRename Parcel to Packet everywhere.\n## State\nThe first modules are renamed; the tests pass.\n\
    ## Next step\nLook at the next module.";

/// A model that is spoken to in the bytes of a wire, and looks at one module per turn.
struct OnWire {
    vendor: Arc<Vendor>,
    model: Arc<Model>,
    turns: usize,
    seen: Mutex<Seen>,
}

struct Seen {
    watched: Watched,
    turn: usize,
    /// The tokens of messages that were counted before, by their place in memory; they are held so that it stays theirs.
    counted: HashMap<usize, (Arc<AgentMessage>, u64)>,
    frame: Option<u64>,
    tokens_max: u64,
}

impl Seen {
    /// How many tokens a request has.
    fn tokens(&mut self, request: &Request) -> u64 {
        let counter = TokenCounter::default();
        let frame = *self.frame.get_or_insert_with(|| counter.frame(request));
        let reminder = request.reminder.as_ref().map_or(0, |text| counter.text(text));
        let of = |message: &Arc<AgentMessage>| (Arc::clone(message), counter.entry(message));
        let key = |message: &Arc<AgentMessage>| Arc::as_ptr(message).addr();
        let messages: u64 = request
            .messages
            .iter()
            .map(|one| self.counted.entry(key(one)).or_insert_with(|| of(one)).1)
            .sum();
        frame + reminder + messages
    }

    fn answer(&mut self, request: &Request, turns: usize) -> Vec<Chunk> {
        if is_summary(request) {
            return vec![text(SUMMARY), done(StopReason::Stop)];
        }
        self.turn += 1;
        if self.turn > turns {
            return vec![text("Every module is renamed and the tests pass."), done(StopReason::Stop)];
        }
        let id = format!("call_{}", self.turn).into();
        let mut chunks = Vec::new();
        if self.turn.is_multiple_of(5) {
            chunks.push(text("This one is done; the next module is shorter."));
        }
        chunks.extend([
            Chunk::ToolCallStart { index: 0, id, name: "look".into() },
            Chunk::ToolCallDelta { index: 0, delta: arguments(self.turn).to_string().into() },
            Chunk::ToolCallEnd { index: 0 },
            done(StopReason::ToolUse),
        ]);
        chunks
    }
}

fn text(text: &str) -> Chunk {
    Chunk::Text { delta: text.into() }
}

fn done(stop_reason: StopReason) -> Chunk {
    Chunk::Done { stop_reason }
}

impl Provider for OnWire {
    fn id(&self) -> &str {
        &self.vendor.id
    }

    fn stream(&self, request: Request, _cancel: CancellationToken) -> ChunkStream {
        let origin = format!("{}/{}", self.vendor.id, request.model);
        let call = WireRequest {
            request: &request,
            model: &self.model,
            compat: &self.vendor.compat,
            origin: &origin,
        };
        let body = self.vendor.wire.encode(&call).unwrap();
        let mut seen = self.seen.lock().unwrap();
        seen.watched.take(&body);
        let tokens = seen.tokens(&request);
        seen.tokens_max = seen.tokens_max.max(tokens);
        let mut chunks = seen.answer(&request, self.turns);
        let usage = Usage { input: tokens, output: 30, ..Usage::default() };
        chunks.insert(0, Chunk::Usage { usage });
        Box::pin(futures::stream::iter(chunks.into_iter().map(Ok)))
    }

    fn describe(&self, _model: &str) -> Option<Arc<ModelInfo>> {
        Some(Arc::clone(&self.model.info))
    }
}

/// The vendor, and one of its models that can do everything.
fn vendor(id: &str) -> (Arc<Vendor>, Arc<Model>, String) {
    let vendor = Vendors::builtin().get(id).unwrap();
    let catalog = Catalog::builtin();
    let is_main = |name: &&str| id != "bedrock" || name.contains("claude");
    let name = catalog.ids(id).find(is_main).unwrap_or("gemini-3-pro").to_owned();
    let model = vendor.model(&catalog, &name);
    (vendor, model, name)
}

/// Counts how often the window was made shorter.
#[derive(Clone, Default)]
struct Shortened(Arc<Mutex<usize>>);

/// An agent that has been told everything that there is to tell of the project.
fn session(loaded: &LoadedContext, provider: Arc<dyn Provider>, model: &str, shortened: &Shortened) -> Agent {
    let shortened = shortened.clone();
    let limits = ExecutionLimits { turns_max: Some(5_000), tokens_max: None, duration_max: None };
    let window = WindowSettings { tokens_max: Some(WINDOW_TOKENS), ..WindowSettings::default() };
    let builder: AgentBuilder = Agent::builder().provider(provider).model(model).tool(look());
    let builder = loaded.wire(builder).limits(limits).window(window).max_tokens(ANSWER_TOKENS_MAX);
    let builder = builder.on_event(move |event| {
        if let AgentEvent::Context(ContextEvent::CompactionEnd { .. }) = event.kind {
            *shortened.0.lock().unwrap() += 1;
        }
    });
    builder.build().unwrap()
}

/// A session of so many turns on the wire of `vendor`.
async fn run_on_wire(id: &str, turns: usize) {
    let (_ground, inputs) = rust_crate();
    let loaded = LoadedContext::load(inputs).await;
    let (vendor, model, name) = vendor(id);
    let seen = Seen {
        watched: Watched::new(vendor.wire),
        turn: 0,
        counted: HashMap::new(),
        frame: None,
        tokens_max: 0,
    };
    let provider = Arc::new(OnWire { vendor, model, turns, seen: Mutex::new(seen) });
    let shortened = Shortened::default();
    let agent = session(&loaded, Arc::clone(&provider) as Arc<dyn Provider>, &name, &shortened);
    let output = agent.run(GOAL).await.unwrap();
    assert_eq!((&output.end, output.turns as usize), (&RunEnd::Completed, turns + 1), "{id}");
    // Nothing is lost of the conversation itself: the goal, a call and a result per turn, the last words.
    assert_eq!(agent.messages().len(), 1 + 2 * turns + 1, "{id}");
    let seen = provider.seen.lock().unwrap();
    let Watched { meter, requests, bytes_max, .. } = &seen.watched;
    let shortened = *shortened.0.lock().unwrap();
    println!(
        "{id}: {requests} requests, at most {} tokens in {bytes_max} bytes; {shortened} times shortened; {:.2} % of the bytes \
         were sent before{}",
        seen.tokens_max,
        meter.begun_percent(),
        meter.kept_percent().map_or_else(String::new, |percent| format!(", {percent:.2} % up to a mark")),
    );
    assert!(shortened > turns / 200, "{id}: {shortened}");
    assert!(seen.tokens_max <= WINDOW_TOKENS, "{id}: {}", seen.tokens_max);
    assert!(flat_tokens(*bytes_max) <= WINDOW_TOKENS, "{id}: {bytes_max} bytes");
    assert!(meter.begun_percent() >= 95.0, "{id}: {}", meter.begun_percent());
    assert!(meter.kept_percent().is_none_or(|percent| percent >= 95.0), "{id}: {:?}", meter.kept_percent());
}

/// Turns of the long session.
const TURNS: usize = 2_000;
/// Turns of the one over HTTP.
const HTTP_TURNS: usize = 150;

#[tokio::test]
async fn two_thousand_turns_on_anthropic() {
    run_on_wire("anthropic", TURNS).await;
}

#[tokio::test]
async fn two_thousand_turns_on_chat() {
    run_on_wire("openai-chat", TURNS).await;
}

#[tokio::test]
async fn two_thousand_turns_on_responses() {
    run_on_wire("openai", TURNS).await;
}

#[tokio::test]
async fn two_thousand_turns_on_responses_of_azure() {
    run_on_wire("azure", TURNS).await;
}

#[tokio::test]
async fn two_thousand_turns_on_gemini() {
    run_on_wire("google", TURNS).await;
}

#[tokio::test]
async fn two_thousand_turns_on_gemini_of_vertex() {
    run_on_wire("vertex", TURNS).await;
}

#[tokio::test]
async fn two_thousand_turns_on_bedrock() {
    run_on_wire("bedrock", TURNS).await;
}

/// A model of `vendor` behind the server.
fn behind(server: &FakeServer, vendor: &Vendor, model: &str) -> Arc<dyn Provider> {
    let mut variables = BTreeMap::new();
    for (name, variable) in &vendor.variables {
        if let (Some(env), None) = (variable.env.first(), &variable.default) {
            variables.insert(env.clone(), format!("test-{name}"));
        }
    }
    let key = match &vendor.auth.scheme {
        AuthScheme::Google => Some("GOOGLE_ACCESS_TOKEN"),
        AuthScheme::Header { .. }
        | AuthScheme::Bearer
        | AuthScheme::Query { .. }
        | AuthScheme::Aws { .. }
        | AuthScheme::Anthropic
        | AuthScheme::None => vendor.auth.key_env.first().map(String::as_str),
    };
    variables.extend(key.map(|name| (name.to_owned(), "key".to_owned())));
    variables.extend(vendor.base_url_env.first().map(|name| (name.clone(), server.url())));
    let direct = TransportConfig { proxy: ProxyChoice::Direct, ..TransportConfig::default() };
    let registry = Registry::new(RegistryParts {
        environment: variables.into_iter().collect(),
        clock: Arc::new(TODAY),
        transport: Transport::new(direct).unwrap(),
        vendors: Vendors::builtin(),
        catalog: Catalog::builtin(),
        keys: BTreeMap::new(),
    });
    registry.resolve(&format!("{}/{model}", vendor.id)).unwrap().provider
}

#[tokio::test]
async fn a_session_over_http_breaks_no_rule_of_any_service() {
    for id in VENDORS {
        let (_ground, inputs) = rust_crate();
        let loaded = LoadedContext::load(inputs).await;
        let (vendor, _, model) = vendor(id);
        let summary = FakeReply::text(SUMMARY).when(ReplyCondition::contains(ASKS_SUMMARY));
        let turns = (1..=HTTP_TURNS).map(|turn| {
            let thought = format!("Module {turn} is next.");
            FakeReply::thinking(thought, format!("c2lnbmF0dXJl{turn:04}")).and_call("look", &arguments(turn))
        });
        let script = Script::new(std::iter::once(summary.times(ReplyCount::Always)).chain(turns))
            .otherwise(FakeReply::text("Every module is renamed and the tests pass."));
        let server = FakeServer::start(script).await.unwrap();
        let shortened = Shortened::default();
        let agent = session(&loaded, behind(&server, &vendor, &model), &model, &shortened);
        let output = agent.run(GOAL).await.unwrap();
        assert_eq!((&output.end, output.turns as usize), (&RunEnd::Completed, HTTP_TURNS + 1), "{id}");
        assert!(*shortened.0.lock().unwrap() > 0, "{id}");
        let mut watched = Watched::new(vendor.wire);
        for request in server.requests() {
            let progress = server.progress(request.number).unwrap();
            assert_eq!(progress.status, 200, "{id}: {}", request.number);
            // Counts of tokens are no prompts.
            if progress.chosen != "count" {
                watched.take(&request.body);
            }
        }
        println!("{id}: {:.2} % over HTTP", watched.meter.begun_percent());
        assert!(watched.requests > HTTP_TURNS, "{id}: {}", watched.requests);
        // Signatures are bytes, but no tokens.
        assert!(watched.bytes_max as u64 <= 5 * WINDOW_TOKENS, "{id}: {} bytes", watched.bytes_max);
    }
}
