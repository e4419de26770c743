//! Everything a service counts is counted.

use std::sync::Arc;

use rheon_types::{
    AgentMessage, AssistantMessage, Content, ExtensionMessage, Message, OutputSchema, Request, Signature,
    SignatureKind, StopReason, Timestamp, ToolCall, ToolDefinition, ToolResultMessage, Usage,
};
use serde_json::{Value, json};

use super::{TokenCounter, flat_tokens};

fn answer(content: Vec<Content>, stop_reason: StopReason) -> AgentMessage {
    let (model, provider) = ("m".to_owned(), "p".to_owned());
    let (usage, timestamp) = (Usage::default(), Timestamp::from_millis(0));
    let message =
        AssistantMessage { content, stop_reason, model, provider, usage, timestamp, error_message: None };
    Message::Assistant(message).into()
}

fn call(arguments: Value) -> Content {
    let (id, name) = ("call-1".into(), "write".into());
    Content::ToolCall(ToolCall { id, name, arguments: Arc::new(arguments), malformed: None, key_order: None })
}

#[test]
fn tool_calls_and_results_count_what_they_carry() {
    let counter = TokenCounter::default();
    let text = "fn main() { println!(\"hello\"); }\n".repeat(100);
    let alone = counter.text(&text);
    let written = answer(vec![call(json!({ "path": "a.rs", "content": text }))], StopReason::ToolUse);
    assert!(counter.entry(&written) >= alone);
    let result = ToolResultMessage {
        tool_call_id: "call-1".into(),
        tool_name: "read".into(),
        content: vec![Content::text(text)],
        is_error: false,
        timestamp: Timestamp::from_millis(0),
    };
    assert!(counter.message(&Message::ToolResult(result)) >= alone);
}

#[test]
fn malformed_arguments_count_as_the_text_they_are() {
    let counter = TokenCounter::default();
    let text = "{\"path\": \"a.rs\", \"content\": \"never ends ".repeat(50);
    let broken = ToolCall {
        id: "call-1".into(),
        name: "write".into(),
        arguments: Arc::new(json!({})),
        malformed: Some(text.clone()),
        key_order: None,
    };
    assert!(counter.block(&Content::ToolCall(broken)) >= counter.text(&text));
}

#[test]
fn images_count_their_area_and_not_their_bytes() {
    let counter = TokenCounter::for_model("claude-sonnet-4-5");
    let image = Content::Image { data: "A".repeat(2_000_000), mime_type: "image/png".into() };
    assert_eq!(counter.block(&image), 1_600);
}

#[test]
fn hidden_thinking_counts_by_its_size() {
    let signature =
        Signature { data: "x".repeat(400), kind: SignatureKind::Redacted, id: None, origin: "p/m".into() };
    let hidden = Content::Thinking { thinking: String::new(), signature: Some(signature.clone()) };
    let shown = Content::Thinking { thinking: "So be it.".into(), signature: Some(signature) };
    let counter = TokenCounter::default();
    assert_eq!(counter.block(&hidden), flat_tokens(400));
    assert_eq!(counter.block(&shown), counter.text("So be it."));
}

#[test]
fn entries_that_are_never_sent_count_nothing() {
    let counter = TokenCounter::default();
    let extension = ExtensionMessage { kind: "note".into(), data: json!("much text") };
    assert_eq!(counter.entry(&AgentMessage::Extension(extension)), 0);
    assert_eq!(counter.entry(&answer(vec![Content::text("cut")], StopReason::Error)), 0);
    assert_eq!(counter.entry(&answer(Vec::new(), StopReason::Stop)), 0);
}

#[test]
fn a_request_is_the_sum_of_its_parts() {
    let counter = TokenCounter::for_model("gpt-5");
    let tool = ToolDefinition {
        name: "read".into(),
        description: "Reads a file.".into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    };
    let mut request = Request {
        system: "You are careful.".into(),
        tools: Arc::from([tool]),
        output_schema: Some(Arc::new(OutputSchema { name: "o".into(), schema: json!({"type": "object"}) })),
        ..Request::new("gpt-5")
    };
    let frame = counter.frame(&request);
    assert!(frame > counter.tools(&request.tools) + counter.system(&request.system));
    let message = AgentMessage::user("hello", Timestamp::from_millis(0));
    let tokens = counter.entry(&message);
    request.messages.push(Arc::new(message));
    assert_eq!(counter.request(&request), frame + tokens);
}

#[test]
fn models_find_their_family_by_name() {
    let families: Vec<&str> = [
        "claude-opus-4-5",
        "us.anthropic.claude-sonnet-4",
        "gpt-4-turbo",
        "gpt-4o-mini",
        "gpt-4.1",
        "openai/gpt-5.2",
        "Qwen/Qwen3-Coder",
        "meta-llama/Llama-3.3-70B",
        "deepseek-chat",
        "gemini-3-pro",
        "some-new-model",
    ]
    .iter()
    .map(|model| TokenCounter::for_model(model).family())
    .collect();
    let expected = [
        "claude", "claude", "cl100k", "o200k", "o200k", "o200k", "qwen", "llama", "deepseek", "gemini",
        "general",
    ];
    assert_eq!(families, expected);
}

#[test]
fn a_huge_text_is_scanned_in_part() {
    let counter = TokenCounter::default();
    let text = "word and number 12 é\n".repeat(300_000);
    let whole = counter.text(&text);
    let part = counter.text(text.get(..2_200_000 / 22 * 22).unwrap_or_default());
    let expected = part * text.len() as u64 / (2_200_000 / 22 * 22);
    assert!(whole.abs_diff(expected) < expected / 100, "{whole} {expected}");
}

#[test]
fn an_empty_text_has_no_tokens() {
    assert_eq!(TokenCounter::default().text(""), 0);
}
