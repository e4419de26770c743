//! Every vendor file: the service accepts its requests, and the key is sent only where it belongs.

use std::collections::BTreeMap;
use std::sync::Arc;

use rheon_providers::{AuthScheme, Catalog, ToolStyle, TransportConfig, Vendor, Vendors};
use rheon_testkit::server::{FakeReply, FakeServer, Fault, RecordedRequest, Script, UsageReport};
use rheon_types::{
    AgentMessage, Content, Message, MicroUsd, OutputSchema, Request, ThinkingLevel, Timestamp, ToolChoice,
    Usage,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::fixture::{Answer, CANARY, Fixture, best_model, registry, request, variables};
use super::hand_off::{image, result, rules, user, written};

fn vendors() -> impl Iterator<Item = Arc<Vendor>> {
    let vendors: Vec<_> = Vendors::builtin().iter().collect();
    vendors.into_iter()
}

async fn fixture(vendor: &Arc<Vendor>, replies: impl IntoIterator<Item = FakeReply>) -> Fixture {
    let script = Script::new(replies).rules(rules(vendor));
    Fixture::vendor(Arc::clone(vendor), script, TransportConfig::default()).await
}

/// A call of the tool `read`, as models of `vendor` write it.
fn call(vendor: &Vendor) -> FakeReply {
    match vendor.compat.tools {
        ToolStyle::Native | ToolStyle::Lenient => FakeReply::call("read", &json!({"path": "a.txt"})),
        ToolStyle::Prompted => FakeReply::text(r#"{"tool":"read","arguments":{"path":"a.txt"}}"#),
    }
}

/// A schema as strict as a service may require, and an open one.
fn schemas() -> (Value, Value) {
    let strict = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
        "additionalProperties": false});
    let loose = json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "next": {"type": "object", "properties": {"n": {"type": "string"}}}}});
    (strict, loose)
}

fn held(schema: &Value) -> Option<Arc<OutputSchema>> {
    Some(Arc::new(OutputSchema { name: "number".into(), schema: schema.clone() }))
}

#[tokio::test]
async fn text_thinking_images_and_schemas_are_accepted() {
    for vendor in vendors() {
        let fixture = fixture(&vendor, []).await;
        let model = &fixture.resolved.model;
        let hello = || user(vec![Content::text("Answer in JSON.")]);
        let (schema, loose) = schemas();
        let plain = || Request { thinking: ThinkingLevel::Off, ..request(model, [hello()]) };
        let requests = [
            ("text", Request { tools: Arc::from([]), ..plain() }),
            ("tools", plain()),
            ("a forced tool", Request { tool_choice: ToolChoice::Required, ..plain() }),
            ("no tool", Request { tool_choice: ToolChoice::None, ..plain() }),
            ("temperature", Request { temperature: Some(0.2), tokens_max: Some(100), ..plain() }),
            ("temperature and thinking", Request { temperature: Some(0.2), ..request(model, [hello()]) }),
            ("a small limit and thinking", Request { tokens_max: Some(50), ..request(model, [hello()]) }),
            ("a picture", request(model, [user(vec![Content::text("See:"), image()])])),
            ("a schema", Request { output_schema: held(&schema), tools: Arc::from([]), ..plain() }),
            ("a loose schema", Request { output_schema: held(&loose), tools: Arc::from([]), ..plain() }),
            (
                "a schema, tools and thinking",
                Request { output_schema: held(&schema), ..request(model, [hello()]) },
            ),
        ];
        for (name, request) in requests {
            let is_held = request.output_schema.is_some();
            assert_eq!(fixture.ask(request).await.summary(), "Stop \"ok\"", "{} {name}", vendor.id);
            let sent = fixture.server.requests().pop().unwrap();
            let body = String::from_utf8_lossy(&sent.body).to_lowercase();
            assert_eq!(body.contains("integer"), is_held, "{} {name}: {body}", vendor.id);
        }
    }
}

#[tokio::test]
async fn every_model_accepts_every_thinking_level() {
    let levels = [
        ThinkingLevel::Off,
        ThinkingLevel::Minimal,
        ThinkingLevel::Low,
        ThinkingLevel::Medium,
        ThinkingLevel::High,
        ThinkingLevel::Max,
    ];
    for vendor in vendors() {
        let server = FakeServer::start(Script::default().rules(rules(&vendor))).await.unwrap();
        let registry = registry(variables(&vendor, &server.url()), TransportConfig::default());
        let mut asked = Vec::new();
        for id in Catalog::builtin().ids(&vendor.id) {
            let style = vendor.model(&Catalog::builtin(), id).thinking.clone();
            if asked.contains(&style) {
                continue;
            }
            let resolved = registry.resolve(&format!("{}/{id}", vendor.id)).unwrap();
            for thinking in levels {
                let request = Request { thinking, ..request(id, [user(vec![Content::text("Go.")])]) };
                let stream = resolved.provider.stream(request, CancellationToken::new());
                let answer = Answer::of(futures::StreamExt::collect(stream).await);
                assert_eq!(answer.summary(), "Stop \"ok\"", "{}/{id} {thinking:?}", vendor.id);
            }
            asked.push(style);
        }
    }
}

#[tokio::test]
async fn round_of_tools_is_accepted() {
    for vendor in vendors() {
        let fixture = fixture(&vendor, [call(&vendor), FakeReply::text("Done.")]).await;
        let answer = written(&fixture).await;
        let calls: Vec<_> = answer.tool_calls().cloned().collect();
        let [read] = calls.as_slice() else { panic!("{}: {answer:?}", vendor.id) };
        assert_eq!(
            (read.name.as_str(), &*read.arguments),
            ("read", &json!({"path": "a.txt"})),
            "{}",
            vendor.id
        );
        let history = [
            AgentMessage::user("Go.", Timestamp::from_millis(0)),
            Message::Assistant(answer.clone()).into(),
            result(read, vec![Content::text("the file")], false),
        ];
        let summary = fixture.ask(request(&fixture.resolved.model, history)).await.summary();
        assert_eq!(summary, "Stop \"Done.\"", "{}", vendor.id);
    }
}

#[tokio::test]
async fn cost_is_known_if_the_price_is() {
    let usage = Usage { input: 1_000, output: 100, cache_read: 500, ..Usage::default() };
    for vendor in vendors() {
        let fixture = fixture(&vendor, [FakeReply::text("x").usage(UsageReport::counts(usage))]).await;
        let summary = fixture.ask(Request { tools: Arc::from([]), ..fixture.request() }).await.finished();
        let mut counted = summary.usage;
        counted.total_tokens = 0;
        let info = fixture.resolved.provider.describe(&fixture.resolved.model).unwrap();
        // If the vendor does not request usage, the server sends none.
        if vendor.compat.stream_usage {
            assert_eq!(counted, usage, "{}", vendor.id);
            let expected = info.prices.as_ref().map(|prices| prices.cost(&usage));
            assert_eq!(info.cost(&summary.usage), expected, "{}", vendor.id);
            assert!(expected.is_none_or(|cost| cost > MicroUsd(0)) || !info.known, "{}", vendor.id);
        }
    }
}

/// All ways to authenticate with `vendor`: environment variables, by name.
fn proofs(vendor: &Vendor, server: &FakeServer) -> Vec<(String, BTreeMap<String, String>)> {
    let mut plain = variables(vendor, &server.url());
    plain.retain(|_, value| value != CANARY);
    let with = |pairs: &[(&str, &str)]| {
        let added = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        plain.clone().into_iter().chain(added).collect::<BTreeMap<_, _>>()
    };
    let mut ways: Vec<_> =
        vendor.auth.key_env.iter().map(|name| (name.clone(), with(&[(name, CANARY)]))).collect();
    match &vendor.auth.scheme {
        AuthScheme::Google => ways.push(("token".into(), with(&[("GOOGLE_ACCESS_TOKEN", CANARY)]))),
        AuthScheme::Aws { .. } => ways.push((
            "keys".into(),
            with(&[
                ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
                ("AWS_SECRET_ACCESS_KEY", CANARY),
                ("AWS_SESSION_TOKEN", "session-token-of-a-test"),
            ]),
        )),
        AuthScheme::Header { .. }
        | AuthScheme::Bearer
        | AuthScheme::Query { .. }
        | AuthScheme::Anthropic
        | AuthScheme::None => {}
    }
    ways
}

/// The names of the headers, and `query`, in which the secret arrived.
fn positions(sent: &RecordedRequest) -> Vec<String> {
    let encoded: String = url::form_urlencoded::byte_serialize(CANARY.as_bytes()).collect();
    let headers =
        sent.headers.iter().filter(|(_, value)| String::from_utf8_lossy(value.as_bytes()).contains(CANARY));
    let mut positions: Vec<String> = headers.map(|(name, _)| name.to_string()).collect();
    if sent.query.contains(&encoded) {
        positions.push("query".into());
    }
    assert!(!sent.path.contains(CANARY) && !String::from_utf8_lossy(&sent.body).contains(CANARY));
    positions
}

#[tokio::test]
async fn credentials_arrive_where_expected() {
    for vendor in vendors() {
        let server = FakeServer::start(Script::default()).await.unwrap();
        for (number, (way, variables)) in proofs(&vendor, &server).into_iter().enumerate() {
            let registry = registry(variables, TransportConfig::default());
            let resolved = registry.resolve(&format!("{}/{}", vendor.id, best_model(&vendor))).unwrap();
            let hello = request(&resolved.model, [user(vec![Content::text("Go.")])]);
            let stream = resolved.provider.stream(hello, CancellationToken::new());
            let summary = Answer::of(futures::StreamExt::collect(stream).await).summary();
            assert_eq!(summary, "Stop \"ok\"", "{} by {way}", vendor.id);
            let sent = server.requests().remove(number);
            let expected: &[&str] = match &vendor.auth.scheme {
                AuthScheme::Header { header } => &[header.as_str()],
                AuthScheme::Query { .. } => &["query"],
                AuthScheme::Bearer | AuthScheme::Google => &["authorization"],
                AuthScheme::Anthropic if way == "ANTHROPIC_API_KEY" => &["x-api-key"],
                AuthScheme::Anthropic => &["authorization"],
                // A secret key signs; it is not sent.
                AuthScheme::Aws { .. } if way == "keys" => &[],
                AuthScheme::Aws { .. } => &["authorization"],
                AuthScheme::None => &[],
            };
            assert_eq!(positions(&sent), expected, "{} by {way}", vendor.id);
            if way == "keys" {
                let signature = sent.header("authorization").unwrap_or_default();
                assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20231114/"));
                assert_eq!(sent.header("x-amz-security-token"), Some("session-token-of-a-test"));
            }
        }
    }
}

#[tokio::test]
async fn no_error_shows_the_key() {
    let encoded: String = url::form_urlencoded::byte_serialize(CANARY.as_bytes()).collect();
    let in_json =
        json!({"error": {"message": format!("the key {CANARY} is bad"), "type": CANARY, "code": CANARY}});
    let page = format!("<html>{CANARY}</html>");
    let address = format!("/path?key={encoded} is not there");
    let mut replies = Vec::new();
    for (code, body) in [400, 401, 403, 404, 429, 500, 529].map(|code| (code, in_json.to_string())) {
        replies.push((code, body));
    }
    replies.extend([(400, page), (404, address)]);
    for vendor in vendors() {
        let server = FakeServer::start(Script::default()).await.unwrap();
        for (way, _) in proofs(&vendor, &server) {
            for (code, body) in &replies {
                let body = Some(body.clone());
                let reply = FakeReply::fault(Fault::Status { code: *code, body, headers: Vec::new() });
                let server = FakeServer::start(Script::always(reply).rules(rules(&vendor))).await.unwrap();
                let shown = refused(&vendor, &server, &way).await;
                for secret in [CANARY, encoded.as_str(), "canary-81", "xyzzy"] {
                    assert!(!shown.contains(secret), "{} by {way}: {shown}", vendor.id);
                }
                assert!(shown.contains(&code.to_string()), "{} by {way}: {shown}", vendor.id);
            }
        }
    }
}

/// The error of a request to `vendor`, authenticated by `way`.
async fn refused(vendor: &Vendor, server: &FakeServer, way: &str) -> String {
    let ways = proofs(vendor, server);
    let (_, variables) = ways.into_iter().find(|(name, _)| name == way).unwrap();
    let registry = registry(variables, TransportConfig::default());
    let resolved = registry.resolve(&format!("{}/{}", vendor.id, best_model(vendor))).unwrap();
    let hello = request(&resolved.model, [user(vec![Content::text("Go.")])]);
    let stream = resolved.provider.stream(hello, CancellationToken::new());
    let error = Answer::of(futures::StreamExt::collect(stream).await).error.unwrap();
    format!("{error:?} {error}")
}
