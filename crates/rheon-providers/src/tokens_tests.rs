//! Prompt sizes, and learning from reports.

use std::sync::Arc;

use rheon_types::{
    AgentMessage, Content, History, Message, Request, Timestamp, ToolCall, ToolDefinition, Usage,
};
use serde_json::json;

use crate::tokens::{Estimator, message_size};

fn user(content: Vec<Content>) -> AgentMessage {
    let message = AgentMessage::user("x", Timestamp::from_millis(0));
    match message.as_llm() {
        Some(Message::User(user)) => {
            AgentMessage::from(Message::User(rheon_types::UserMessage { content, ..user.clone() }))
        }
        Some(Message::Assistant(_) | Message::ToolResult(_)) | None => message,
    }
}

fn request(bytes: usize) -> Request {
    let messages: History = [Arc::new(user(vec![Content::text("x".repeat(bytes))]))].into_iter().collect();
    Request { messages, ..Request::new("m") }
}

fn prompt(input: u64, cache_read: u64, cache_write: u64) -> Usage {
    Usage { input, cache_read, cache_write, output: 9_999, total_tokens: 0 }
}

#[test]
fn every_part_of_a_prompt_has_a_size() {
    let estimator = Estimator::default();
    assert_eq!(estimator.size(&Request::new("m")), 0);
    assert_eq!(estimator.size(&request(3_500)), 4 + 1_000);
    let image = Content::Image { data: "A".repeat(1_000_000), mime_type: "image/png".into() };
    let call = Content::ToolCall(ToolCall {
        id: "1".into(),
        name: "read".into(),
        arguments: Arc::new(json!({"path": "x".repeat(3_485)})),
        malformed: None,
        key_order: None,
    });
    let thinking = Content::Thinking { thinking: "x".repeat(35), signature: None };
    let size = |content| message_size(user(vec![content]).as_llm().unwrap());
    assert_eq!([size(image), size(call), size(thinking)], [4 + 1_500, 4 + 4 + 1_000, 4 + 10]);
    let tool =
        ToolDefinition { name: "t".repeat(5).into(), description: "d".repeat(28), parameters: json!({}) };
    let around = Request {
        system: "s".repeat(35).into(),
        tools: Arc::from([tool]),
        output_schema: Some(Arc::new(rheon_types::OutputSchema { name: "o".into(), schema: json!("12345") })),
        ..Request::new("m")
    };
    assert_eq!(estimator.size(&around), 10 + (4 + 10) + 2);
}

#[test]
fn size_of_a_conversation_is_the_sum_of_its_messages() {
    let estimator = Estimator::default();
    let mut request = request(700);
    let before = estimator.size(&request);
    let more = user(vec![Content::text("y".repeat(350))]);
    let added = message_size(more.as_llm().unwrap());
    request.messages.push(Arc::new(more));
    assert_eq!(estimator.size(&request), before + added);
}

#[test]
fn reports_correct_the_estimate_of_their_model_only() {
    let estimator = Estimator::default();
    let request = request(3_500);
    let size = estimator.size(&request);
    estimator.learn(&request.model, size, &prompt(size / 2, size / 2, size));
    assert_eq!(estimator.estimate(&request), 2 * size);
    assert_eq!(estimator.calibrated("other", size), size);
    // Later reports move it by a quarter each.
    estimator.learn(&request.model, size, &prompt(size, 0, 0));
    assert_eq!(estimator.calibrated("m", 1_000), 1_750);
    for _ in 0..40 {
        estimator.learn(&request.model, size, &prompt(size, 0, 0));
    }
    assert!((1_000..=1_001).contains(&estimator.calibrated("m", 1_000)));
}

#[test]
fn implausible_reports_and_small_prompts_are_ignored() {
    let estimator = Estimator::default();
    let model: Arc<str> = "m".into();
    for usage in [prompt(0, 0, 0), prompt(1, 0, 0), prompt(u64::MAX, u64::MAX, 1), prompt(8_001, 0, 0)] {
        estimator.learn(&model, 1_000, &usage);
    }
    estimator.learn(&model, 199, &prompt(400, 0, 0));
    estimator.learn(&model, 0, &prompt(0, 0, 0));
    estimator.learn(&model, u64::MAX, &prompt(1_000, 0, 0));
    assert_eq!(estimator.calibrated("m", 1_000), 1_000);
    assert_eq!(estimator.calibrated("m", u64::MAX), u64::MAX);
}

#[test]
fn number_of_remembered_models_is_bounded() {
    let estimator = Estimator::default();
    for number in 0..10_000 {
        estimator.learn(&format!("m{number}").into(), 1_000, &prompt(2_000, 0, 0));
    }
    let remembered =
        (0..10_000).filter(|number| estimator.calibrated(&format!("m{number}"), 10) == 20).count();
    assert!((1..=64).contains(&remembered), "{remembered}");
}
