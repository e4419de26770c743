//! A history written by one service can be sent to every other.

use std::sync::Arc;

use rheon_providers::wire::WireKind;
use rheon_providers::{CallIdRule, TransportConfig, Vendor, Vendors};
use rheon_testkit::server::{ChatIds, FakeReply, ReplyBlock, RequestRules, Script};
use rheon_types::{
    AgentMessage, AssistantMessage, Author, Content, Message, Timestamp, ToolCall, ToolResultMessage,
    UserMessage,
};

use super::fixture::{Fixture, main_vendor, request};
use super::recording::{REDACTED, SIGNATURE, TEXT, rich};

/// A one-pixel image.
pub(crate) const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// An id that no other service would accept.
const FOREIGN_ID: &str = "call|an odd id, longer than any service takes: 0123456789/0123456789/0123456789";

const NOW: Timestamp = Timestamp::from_millis(0);

pub(crate) fn image() -> Content {
    Content::Image { data: IMAGE.into(), mime_type: "image/png".into() }
}

pub(crate) fn user(content: Vec<Content>) -> AgentMessage {
    Message::User(UserMessage { content, timestamp: NOW, author: Author::User }).into()
}

pub(crate) fn result(call: &ToolCall, content: Vec<Content>, is_error: bool) -> AgentMessage {
    let (tool_call_id, tool_name) = (call.id.clone(), call.name.clone());
    Message::ToolResult(ToolResultMessage { tool_call_id, tool_name, content, is_error, timestamp: NOW })
        .into()
}

/// The response of `fixture` to an ordinary request, as stored in a history.
pub(crate) async fn written(fixture: &Fixture) -> AssistantMessage {
    let answer = fixture.ask(fixture.request()).await;
    assert!(answer.is_done(), "{}: {answer:?}", fixture.vendor.id);
    let finished = answer.finished();
    AssistantMessage {
        content: finished.content,
        stop_reason: finished.stop_reason,
        model: finished.model.unwrap_or_else(|| fixture.resolved.model.to_string()),
        provider: fixture.vendor.id.clone(),
        usage: finished.usage,
        timestamp: NOW,
        error_message: None,
    }
}

fn unusual() -> FakeReply {
    let mut reply = rich();
    for block in &mut reply.blocks {
        if let ReplyBlock::Call { id, name, .. } = block
            && name == "read"
        {
            *id = Some(FOREIGN_ID.into());
        }
    }
    reply
}

/// Conversations that continue after `answer`, by name.
fn conversations(answer: &AssistantMessage) -> Vec<(&'static str, Vec<AgentMessage>)> {
    let calls: Vec<&ToolCall> = answer.tool_calls().collect();
    let [read, list] = calls.as_slice() else { panic!("{answer:?}") };
    let begin = user(vec![Content::text("Look at this."), image()]);
    let answered = AgentMessage::from(Message::Assistant(answer.clone()));
    let results = [
        result(read, vec![Content::text("a picture:"), image()], false),
        result(list, vec![Content::text("no such directory")], true),
    ];
    let next = user(vec![Content::text("Go on.")]);
    let [first, second] = results;
    vec![
        ("with results", vec![begin.clone(), answered.clone(), first.clone(), second.clone()]),
        (
            "with results in another order",
            vec![begin.clone(), answered.clone(), second, first.clone(), next.clone()],
        ),
        ("with one result", vec![begin.clone(), answered.clone(), first, next.clone()]),
        ("without results", vec![begin.clone(), answered.clone(), next]),
        ("without anything behind the calls", vec![begin, answered]),
    ]
}

/// The request rules of the service of `vendor`.
pub(crate) fn rules(vendor: &Vendor) -> RequestRules {
    let chat_ids = match vendor.compat.call_id {
        CallIdRule::Alnum9 => ChatIds::Alnum9,
        CallIdRule::Word40 => ChatIds::Any40,
        CallIdRule::Any | CallIdRule::Word64 => ChatIds::Any64,
    };
    RequestRules { chat_ids, ..RequestRules::default() }
}

/// What another service must not see.
fn assert_nothing_foreign(body: &str, position: &str) {
    for secret in [SIGNATURE, REDACTED] {
        assert!(!body.contains(secret), "{position}: {secret} in {body}");
    }
}

#[tokio::test]
async fn service_content_is_sent_back_byte_for_byte() {
    for wire in WireKind::ALL {
        let script = Script::new([unusual()]).rules(rules(&main_vendor(wire)));
        let fixture = Fixture::wire(wire, script).await;
        let answer = written(&fixture).await;
        for (number, (name, history)) in conversations(&answer).into_iter().enumerate() {
            let position = format!("{wire:?} {name}");
            let summary = fixture.ask(request(&fixture.resolved.model, history)).await.summary();
            assert_eq!(summary, "Stop \"ok\"", "{position}");
            let sent = fixture.server.requests().remove(number + 1);
            let body = String::from_utf8_lossy(&sent.body).into_owned();
            assert!(body.contains(SIGNATURE) && body.contains(REDACTED), "{position}: {body}");
            assert!(body.contains(TEXT), "{position}: {body}");
        }
    }
}

#[tokio::test]
async fn service_content_is_accepted_by_every_other_service() {
    for wire in WireKind::ALL {
        let writer = Fixture::wire(wire, unusual()).await;
        let answer = written(&writer).await;
        for vendor in Vendors::builtin().iter() {
            let script = Script::default().rules(rules(&vendor));
            let reader = Fixture::vendor(Arc::clone(&vendor), script, TransportConfig::default()).await;
            let is_own = vendor.id == writer.vendor.id && reader.resolved.model == writer.resolved.model;
            for (number, (name, history)) in conversations(&answer).into_iter().enumerate() {
                let position = format!("{wire:?} to {} {name}", vendor.id);
                let summary = reader.ask(request(&reader.resolved.model, history)).await.summary();
                assert_eq!(summary, "Stop \"ok\"", "{position}");
                let body =
                    String::from_utf8_lossy(&reader.server.requests().remove(number).body).into_owned();
                if !is_own {
                    assert_nothing_foreign(&body, &position);
                }
                assert!(body.contains(TEXT), "{position}: {body}");
                let shown = body.matches(IMAGE).count();
                let given = 1 + usize::from(!name.starts_with("without"));
                let expected = if reader.resolved.info.images { given } else { 0 };
                assert_eq!(shown, expected, "{position}: {body}");
            }
        }
    }
}
