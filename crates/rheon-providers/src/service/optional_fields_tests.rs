//! A field that a model refuses is left out, once and for all.

use std::sync::Arc;

use rheon_types::{Chunk, Provider, Request, ThinkingLevel};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::HttpProvider;
use super::testing::{FixedClock, Keys, endpoint, request};
use crate::test_server::{Server, Step, answer, events, transport};
use crate::vendor::unknown_model;
use crate::wire::WireKind;

/// A model that is not in the catalog, and a request that asks it for everything.
fn provider(wire: WireKind, server: &Server) -> HttpProvider {
    let models = Arc::new(move |model: &str| Arc::new(unknown_model(wire, model)));
    HttpProvider::new(endpoint(wire, server), Keys::new(["k"]), transport(), models, Arc::new(FixedClock))
}

fn demanding(model: &str) -> Request {
    Request {
        model: model.into(),
        thinking: ThinkingLevel::High,
        temperature: Some(0.5),
        tokens_max: Some(9_000),
        ..request()
    }
}

/// The text of the answer, its notices before it, or its error.
async fn asked(provider: &HttpProvider, request: Request) -> String {
    use futures::StreamExt;
    let items: Vec<_> = provider.stream(request, CancellationToken::new()).collect().await;
    let shown = items.into_iter().map(|item| match item {
        Ok(Chunk::Text { delta }) => delta.to_string(),
        Ok(Chunk::Notice { message }) => format!("[{message}] "),
        Ok(_) => String::new(),
        Err(error) => format!("{:?}: {error}", error.kind),
    });
    shown.collect()
}

fn bodies(server: &Server) -> Vec<Value> {
    let body = |sent: &String| serde_json::from_str(sent.split_once("\r\n\r\n").unwrap().1).unwrap();
    server.requests().iter().map(body).collect()
}

fn refusal(message: &str) -> Vec<Step> {
    let body = serde_json::json!({ "error": { "message": message, "type": "invalid_request_error" } });
    answer("400 Bad Request", &[], body.to_string())
}

fn whole() -> Vec<Step> {
    events(&[
        "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n",
        "data: [DONE]\n\n",
        "",
    ])
}

#[tokio::test]
async fn refused_field_is_left_out_and_remembered_for_that_model_alone() {
    let no = "Unrecognized request argument supplied: reasoning_effort";
    let server = Server::start([refusal(no), whole(), whole(), whole()]).await;
    let provider = provider(WireKind::Chat, &server);
    assert_eq!(
        asked(&provider, demanding("m")).await,
        "[m refused a part of the request, which is left out from now on (400 invalid_request_error: \
         Unrecognized request argument supplied: reasoning_effort)] hi"
    );
    assert_eq!(asked(&provider, demanding("m")).await, "hi");
    assert_eq!(asked(&provider, demanding("other")).await, "hi");
    let efforts: Vec<bool> =
        bodies(&server).iter().map(|body| body.get("reasoning_effort").is_some()).collect();
    assert_eq!(efforts, [true, false, false, true]);
}

#[tokio::test]
async fn several_fields_are_left_out_one_by_one() {
    let server = Server::start([
        refusal("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        refusal("Unsupported value: 'temperature' does not support 0.5 with this model."),
        refusal("stream_options is not allowed"),
        whole(),
    ])
    .await;
    let request = Request { thinking: ThinkingLevel::Off, ..demanding("m") };
    let shown = asked(&provider(WireKind::Chat, &server), request).await;
    assert!(shown.ends_with("] hi") && shown.matches('[').count() == 3, "{shown}");
    let last = bodies(&server).pop().unwrap();
    let fields: Vec<&String> = last.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["max_completion_tokens", "messages", "model", "stream"]);
}

#[tokio::test]
async fn refusal_of_anything_else_is_final() {
    for message in [
        "temperature: a field that was not sent",
        "messages.1: Invalid `signature` in `thinking` block",
        "max_tokens: must be at most 4096",
        "the store is closed",
        "model not found",
    ] {
        let server = Server::start([refusal(message), whole()]).await;
        let request = Request { temperature: None, ..demanding("m") };
        let shown = asked(&provider(WireKind::Chat, &server), request).await;
        assert_eq!(shown, format!("InvalidRequest: 400 invalid_request_error: {message}"));
        assert_eq!(server.requests().len(), 1, "{message}");
    }
}

#[tokio::test]
async fn refusal_that_goes_on_is_not_remembered() {
    let no = "thinking is not supported";
    let server = Server::start([refusal(no), refusal(no), refusal(no), refusal(no)]).await;
    let provider = provider(WireKind::Chat, &server);
    for _ in 0..2 {
        let shown = asked(&provider, demanding("m")).await;
        assert_eq!(shown, format!("InvalidRequest: 400 invalid_request_error: {no}"));
    }
    let efforts: Vec<bool> =
        bodies(&server).iter().map(|body| body.get("reasoning_effort").is_some()).collect();
    assert_eq!(efforts, [true, false, true, false]);
}

#[tokio::test]
async fn thinking_that_a_model_refuses_is_left_out_on_every_wire() {
    let refused = "thinking is not supported by this model";
    for (wire, model) in [
        (WireKind::Anthropic, "claude-next"),
        (WireKind::Chat, "m"),
        (WireKind::Responses, "m"),
        (WireKind::Gemini, "gemini-9"),
        (WireKind::Bedrock, "claude-next"),
    ] {
        let server = Server::start([refusal(refused), answer("500 Oops", &[], "")]).await;
        asked(&provider(wire, &server), demanding(model)).await;
        let [first, second] = bodies(&server).try_into().unwrap();
        let plain = Request { thinking: ThinkingLevel::Off, ..demanding(model) };
        let server = Server::start([answer("500 Oops", &[], "")]).await;
        asked(&provider(wire, &server), plain).await;
        let unasked = bodies(&server).pop().unwrap();
        assert_ne!(first, second, "{wire:?}");
        let word = |body: &Value| body.to_string().to_lowercase().contains("thinking");
        let effort = |body: &Value| body.to_string().contains("effort");
        assert!(!word(&second) && !effort(&second), "{wire:?}: {second}");
        assert!(!word(&unasked) && !effort(&unasked), "{wire:?} sends what nobody asked for: {unasked}");
    }
}
