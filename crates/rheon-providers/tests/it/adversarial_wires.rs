//! Requests and responses that are valid for us but difficult for services, on every wire, against a server that
//! refuses what the services refuse.

use std::sync::Arc;

use futures::StreamExt;
use rheon_providers::wire::WireKind;
use rheon_providers::{ProviderEnv, Registry, RegistryParts, ResolvedModel};
use rheon_testkit::TestClock;
use rheon_testkit::server::{FakeReply, FakeServer, ReplyBlock, Script};
use rheon_types::{
    AgentMessage, AssistantMessage, Chunk, Content, Draft, DraftOutcome, History, Message, OutputSchema,
    ProviderError, ProviderErrorKind, Request, StopReason, Timestamp, ToolCall, ToolDefinition,
    ToolResultMessage, Usage,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::user;

/// A model for each wire.
const MODELS: [(&str, WireKind); 5] = [
    ("anthropic/claude-sonnet-4-5", WireKind::Anthropic),
    ("openai-chat/gpt-4.1", WireKind::Chat),
    ("openai/gpt-4.1", WireKind::Responses),
    ("google/gemini-2.5-flash", WireKind::Gemini),
    ("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", WireKind::Bedrock),
];

/// The rewritten name of `mcp__git__log.all`.
const SENT_NAME: &str = "mcp__git__log_all_";

fn model(name: &str, wire: WireKind, server: &FakeServer) -> ResolvedModel {
    let url = server.base_url(wire);
    let variables = [
        ("ANTHROPIC_API_KEY", "k"),
        ("ANTHROPIC_BASE_URL", &url),
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", &url),
        ("OPENAI_CHAT_BASE_URL", &url),
        ("GEMINI_API_KEY", "k"),
        ("GEMINI_BASE_URL", &url),
        ("AWS_BEARER_TOKEN_BEDROCK", "k"),
        ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", &url),
    ];
    let environment: ProviderEnv = variables.into_iter().collect();
    let parts = RegistryParts::builtin(environment, Arc::new(TestClock::default())).unwrap();
    Registry::new(parts).resolve(name).unwrap()
}

async fn ask(resolved: &ResolvedModel, request: Request) -> Result<DraftOutcome, ProviderError> {
    let request = Request { model: Arc::clone(&resolved.model), ..request };
    let mut stream = resolved.provider.stream(request, CancellationToken::new());
    let mut draft = Draft::new();
    while let Some(chunk) = stream.next().await {
        draft.push(&chunk?).unwrap();
    }
    assert!(draft.is_done());
    Ok(draft.finish(StopReason::Error))
}

/// The response of each model to a request, and the request body.
async fn on_every_wire(
    request: &Request,
    reply: &FakeReply,
) -> Vec<(WireKind, Result<DraftOutcome, ProviderError>, Value)> {
    let mut answers = Vec::new();
    for (name, wire) in MODELS {
        let server = FakeServer::start(Script::new([reply.clone()])).await.unwrap();
        let answer = ask(&model(name, wire, &server), request.clone()).await;
        let body = server.requests().last().map_or(Value::Null, |sent| json_of(&sent.body));
        answers.push((wire, answer, body));
    }
    answers
}

fn json_of(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap()
}

fn assistant(content: Vec<Content>) -> AgentMessage {
    AgentMessage::from(Message::Assistant(AssistantMessage {
        content,
        stop_reason: StopReason::ToolUse,
        model: "other".into(),
        provider: "other".into(),
        usage: Usage::default(),
        timestamp: Timestamp::from_millis(0),
        error_message: None,
    }))
}

fn call(id: &str, name: &str, arguments: Value) -> Content {
    let arguments = Arc::new(arguments);
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments,
        malformed: None,
        key_order: None,
    })
}

fn result(id: &str, content: Vec<Content>) -> AgentMessage {
    AgentMessage::from(Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "t".into(),
        content,
        is_error: false,
        timestamp: Timestamp::from_millis(0),
    }))
}

fn image(data: &str, mime_type: &str) -> Content {
    Content::Image { data: data.into(), mime_type: mime_type.into() }
}

fn tool(name: &str, parameters: Value) -> ToolDefinition {
    ToolDefinition { name: name.into(), description: String::new(), parameters }
}

fn history(messages: impl IntoIterator<Item = AgentMessage>) -> History {
    messages.into_iter().map(Arc::new).collect()
}

fn unusual_tools() -> Arc<[ToolDefinition]> {
    let object = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    Arc::from([
        tool("mcp__git__log.all", object.clone()),
        tool("mcp__git__log.all", json!({})),
        tool(&"very_long_".repeat(13), json!({ "type": "object" })),
        tool(
            "3d render/\u{1f980}",
            json!({ "oneOf": [object, { "$ref": "#/$defs/b" }], "$defs": { "b": object } }),
        ),
        tool("plain", json!(null)),
    ])
}

#[tokio::test]
async fn unusual_tool_names_and_schemas_are_accepted() {
    let tools = unusual_tools();
    let first = Request { tools: Arc::clone(&tools), messages: history([user("a")]), ..Request::new("m") };
    let server = FakeServer::start(Script::new([FakeReply::text("b")])).await.unwrap();
    ask(&model(MODELS[0].0, MODELS[0].1, &server), first.clone()).await.unwrap();
    let sent = json_of(&server.requests()[0].body)["tools"][0]["name"].as_str().unwrap().to_owned();
    assert!(sent.starts_with(SENT_NAME), "{sent}");

    let reply = FakeReply::call(sent.as_str(), &json!({ "a": "b" })).and_call("plain", &json!({}));
    for (wire, answer, body) in on_every_wire(&first, &reply).await {
        let finished = answer.unwrap_or_else(|error| panic!("{wire:?}: {error}"));
        let calls: Vec<ToolCall> = finished
            .content
            .into_iter()
            .filter_map(|block| if let Content::ToolCall(call) = block { Some(call) } else { None })
            .collect();
        let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["mcp__git__log.all", "plain"], "{wire:?}");
        assert_eq!(body.to_string().matches("\"name\":").count(), 4, "{wire:?} sends a tool twice: {body}");
    }
    // The call and its result are sent back under the rewritten name.
    let messages = history([
        user("a"),
        assistant(vec![call("toolu_1", "mcp__git__log.all", json!({}))]),
        result("toolu_1", vec!["done".into()]),
    ]);
    let second = Request { messages, ..first };
    for (wire, answer, body) in on_every_wire(&second, &FakeReply::text("b")).await {
        answer.unwrap_or_else(|error| panic!("{wire:?}: {error}"));
        assert!(!body.to_string().contains("log.all"), "{wire:?}: {body}");
        assert!(body.to_string().matches(&sent).count() >= 2, "{wire:?}: {body}");
    }
}

#[tokio::test]
async fn invalid_histories_are_repaired() {
    let half = [
        // After a compaction: results without calls.
        result("gone", vec!["left over".into()]),
        assistant(vec![Content::text("  \n")]),
        user(" \u{a0}\n"),
        assistant(vec![
            call("a.b|1", "t.1", json!({})),
            call("a.b|1", "t.1", json!({})),
            call("c", "", json!(7)),
        ]),
        result("a.b|1", vec![" ".into(), image("", "image/png"), image("QUJD", "image/svg+xml")]),
        result("a.b|1", vec!["again".into()]),
        user("go on"),
        assistant(vec![Content::Thinking { thinking: "hm".into(), signature: None }]),
        user("and?"),
        assistant(vec![Content::text("Half an answer \n")]),
    ];
    let request = Request {
        messages: history(half),
        tools: unusual_tools(),
        tokens_max: Some(1),
        temperature: Some(1.7),
        ..Request::new("m")
    };
    for (wire, answer, _) in on_every_wire(&request, &FakeReply::text("b")).await {
        answer.unwrap_or_else(|error| panic!("{wire:?}: {error}"));
    }
}

#[tokio::test]
async fn empty_conversation_is_refused_by_all_wires() {
    let request = Request { system: "You help.".into(), ..Request::new("m") };
    for (wire, answer, _) in on_every_wire(&request, &FakeReply::text("b")).await {
        let error = answer.unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::InvalidRequest, "{wire:?}");
        assert!(error.message.contains("no message to send"), "{wire:?}: {error}");
    }
}

#[tokio::test]
async fn open_or_bounded_schema_is_accepted_on_every_wire() {
    let schema = json!({
        "type": "object",
        "properties": { "n": { "type": "integer", "minimum": 1 }, "note": { "type": "string", "maxLength": 9 } },
        "required": ["n"],
    });
    let output = OutputSchema { name: "verdict".into(), schema };
    let request = Request {
        messages: history([user("a")]),
        output_schema: Some(Arc::new(output)),
        ..Request::new("m")
    };
    for (wire, answer, _) in on_every_wire(&request, &FakeReply::text("{\"n\":1}")).await {
        answer.unwrap_or_else(|error| panic!("{wire:?}: {error}"));
    }
}

#[tokio::test]
async fn numbers_and_letters_of_arguments_round_trip() {
    let arguments = json!({
        "big": u64::MAX, "small": i64::MIN, "exact": 0.1, "tiny": 5e-324, "huge": 1.7976931348623157e308,
        "crab": "\u{1f980}\u{0}\u{feff}\u{2028}", "key \"\u{e9}\"": ["\\u00e9", null, {}],
    });
    let tools = Arc::from([tool("plain", json!({ "type": "object", "properties": {} }))]);
    let request = Request { messages: history([user("a")]), tools, ..Request::new("m") };
    for (wire, answer, _) in
        on_every_wire(&request, &FakeReply::call("plain", &arguments).delta_chars(1)).await
    {
        let finished = answer.unwrap_or_else(|error| panic!("{wire:?}: {error}"));
        let Some(Content::ToolCall(call)) = finished.content.last() else { panic!("{wire:?}: {finished:?}") };
        assert_eq!((&*call.arguments, &call.malformed), (&arguments, &None), "{wire:?}");
    }
}

/// The keys of arguments are sent back as the model wrote them: a local server finds its own answer in its cache again.
#[tokio::test]
async fn keys_of_arguments_keep_their_order_on_every_wire() {
    let written = r#"{"path":"a.rs","edits":[{"old_string":"x","new_string":"y"}],"alone":true}"#;
    let mut draft = Draft::new();
    for chunk in [
        Chunk::ToolCallStart { index: 0, id: "toolu_1".into(), name: "plain".into() },
        Chunk::ToolCallDelta { index: 0, delta: written.into() },
        Chunk::ToolCallEnd { index: 0 },
        Chunk::Done { stop_reason: StopReason::ToolUse },
    ] {
        draft.push(&chunk).unwrap();
    }
    let answer = assistant(draft.finish(StopReason::Aborted).content);
    // As it comes out of a journal.
    let stored = serde_json::to_string(&answer).unwrap();
    let answer: AgentMessage = serde_json::from_str(&stored).unwrap();
    let tools = Arc::from([tool("plain", json!({ "type": "object", "properties": {} }))]);
    let messages = history([user("a"), answer, result("toolu_1", vec!["done".into()])]);
    let request = Request { messages, tools, ..Request::new("m") };
    for (name, wire) in MODELS {
        let server = FakeServer::start(Script::new([FakeReply::text("b")])).await.unwrap();
        ask(&model(name, wire, &server), request.clone())
            .await
            .unwrap_or_else(|error| panic!("{wire:?}: {error}"));
        let sent = server.requests().last().map(|sent| sent.body.clone()).unwrap_or_default();
        let sent = String::from_utf8(sent.to_vec()).unwrap();
        // Some wires send the arguments as a string.
        let quoted = written.replace('"', "\\\"");
        assert!(sent.contains(written) || sent.contains(&quoted), "{wire:?}: {sent}");
    }
}

#[tokio::test]
async fn the_order_of_streamed_arguments_is_read() {
    let written = r#"{"path":"a.rs","content":"x"}"#;
    let (name, arguments) = ("plain".to_owned(), written.to_owned());
    let reply = FakeReply::empty().and(ReplyBlock::Call { id: None, name, arguments, signature: None });
    let tools = Arc::from([tool("plain", json!({ "type": "object", "properties": {} }))]);
    let request = Request { messages: history([user("a")]), tools, ..Request::new("m") };
    let mut orders = Vec::new();
    for (wire, answer, _) in on_every_wire(&request, &reply.delta_chars(1)).await {
        let finished = answer.unwrap_or_else(|error| panic!("{wire:?}: {error}"));
        let Some(Content::ToolCall(call)) = finished.content.last() else { panic!("{wire:?}: {finished:?}") };
        orders.push(call.ordered_arguments().to_string());
    }
    // Wires that send arguments as an object get it from the fake server with sorted keys.
    assert!(orders.iter().filter(|order| *order == written).count() >= 3, "{orders:?}");
}
