//! Conversations of all kinds, prepared for a service.

use std::borrow::Cow;
use std::sync::Arc;

use rheon_types::{
    AgentMessage, AssistantMessage, Author, Content, History, Message, Request, Signature, SignatureKind,
    StopReason, Timestamp, ToolCall, ToolResultMessage, Usage, UserMessage,
};
use serde_json::json;

use super::call_id::CallIdRule;
use super::history::{Block, HistoryRules, ImageSupport, PreparedHistory, ResultBlock, Role, ThinkingFilter};
use super::tool_name::ToolNameRule;

const RULES: HistoryRules<'static> = HistoryRules {
    origin: "acme/big",
    call_id: CallIdRule::Any,
    alternate: false,
    tool_name: ToolNameRule::Word64,
    image_support: ImageSupport::Any,
    thinking: ThinkingFilter::Signed,
};
const ALTERNATING: HistoryRules<'static> = HistoryRules { alternate: true, ..RULES };

fn user(content: Vec<Content>) -> Message {
    Message::User(UserMessage { content, timestamp: Timestamp::default(), author: Author::User })
}

fn say(text: &str) -> Message {
    user(vec![Content::text(text)])
}

fn answer_by(provider: &str, content: Vec<Content>) -> AssistantMessage {
    AssistantMessage {
        content,
        stop_reason: StopReason::Stop,
        model: "big".into(),
        provider: provider.into(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    }
}

fn answer(content: Vec<Content>) -> Message {
    Message::Assistant(answer_by("acme", content))
}

fn call(id: &str) -> Content {
    let arguments = Arc::new(json!({}));
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments,
        malformed: None,
        key_order: None,
    })
}

fn result_of(id: &str, content: Vec<Content>) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "read".into(),
        content,
        is_error: false,
        timestamp: Timestamp::default(),
    })
}

fn result(id: &str, text: &str) -> Message {
    result_of(id, vec![Content::text(text)])
}

fn image() -> Content {
    Content::Image { data: "QUJD".into(), mime_type: "image/png".into() }
}

fn thinking(text: &str, origin: Option<&str>) -> Content {
    signed(text, origin, SignatureKind::Proof)
}

fn signed(text: &str, origin: Option<&str>, kind: SignatureKind) -> Content {
    let signature =
        origin.map(|origin| Signature { data: "sig".into(), kind, id: None, origin: origin.into() });
    Content::Thinking { thinking: text.into(), signature }
}

fn request(messages: impl IntoIterator<Item = Message>) -> Request {
    let messages: History =
        messages.into_iter().map(|message| Arc::new(AgentMessage::from(message))).collect();
    Request { messages, ..Request::new("big") }
}

/// One line per message.
fn history(rules: HistoryRules<'_>, messages: impl IntoIterator<Item = Message>) -> Vec<String> {
    let request = request(messages);
    let history = PreparedHistory::new(&request, rules);
    let line = |(role, blocks): (Role, &[Block<'_>])| {
        let role = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        let blocks: Vec<String> = blocks.iter().map(shown).collect();
        format!("{role}: {}", blocks.join(" | "))
    };
    history.messages().map(line).collect()
}

fn shown(block: &Block<'_>) -> String {
    match block {
        Block::Text(text) => text.replace('\n', "/"),
        Block::Image { data, .. } => format!("image {data}"),
        Block::Thinking { text, signature } => {
            format!("thinking {text} {}", signature.map_or("-", |signature| &signature.data))
        }
        Block::Call { id, name, .. } => format!("call {name} {id}"),
        Block::Result(result) => {
            let said: Vec<String> = result
                .blocks()
                .map(|block| match block {
                    ResultBlock::Text(text) => text.to_owned(),
                    ResultBlock::Image { data, .. } => format!("image {data}"),
                })
                .collect();
            let failed = if result.is_error { " failed" } else { "" };
            format!("result {}{failed} [{}]", result.id, said.join(", "))
        }
    }
}

const LOST: &str =
    "The result of this call was lost; it may or may not have run. Check before doing it again.";

#[test]
fn valid_conversation_is_unchanged() {
    let messages = [
        say("go"),
        answer(vec![Content::text("Looking."), call("1"), call("2")]),
        result("1", "one"),
        result("2", "two"),
        answer(vec![Content::text("Done.")]),
    ];
    let head = ["user: go", "assistant: Looking. | call read 1 | call read 2"];
    let tail = "assistant: Done.";
    let results = "result 1 [one] | result 2 [two]";
    assert_eq!(history(RULES, messages.clone()), [head[0], head[1], &format!("tool: {results}"), tail]);
    assert_eq!(history(ALTERNATING, messages), [head[0], head[1], &format!("user: {results}"), tail]);
}

#[test]
fn missing_result_is_added_right_after_the_call() {
    let calls = || answer(vec![call("1"), call("2")]);
    let lost = |id: &str| format!("result {id} failed [{LOST}]");
    let begin = "assistant: call read 1 | call read 2";
    assert_eq!(
        history(RULES, [say("go"), calls(), result("2", "two"), say("Well?")]),
        ["user: go", begin, &format!("tool: result 2 [two] | {}", lost("1")), "user: Well?"]
    );
    assert_eq!(
        history(RULES, [say("go"), calls(), answer(vec![Content::text("So.")])]),
        ["user: go", begin, &format!("tool: {} | {}", lost("1"), lost("2")), "assistant: So."]
    );
    assert_eq!(
        history(RULES, [say("go"), calls()]),
        ["user: go", begin, &format!("tool: {} | {}", lost("1"), lost("2"))]
    );
}

#[test]
fn result_without_a_call_is_omitted() {
    assert_eq!(
        history(
            RULES,
            [
                say("go"),
                result("x", "orphan"),
                answer(vec![call("1")]),
                result("2", "foreign"),
                result("1", "one")
            ]
        ),
        ["user: go", "assistant: call read 1", "tool: result 1 [one]"]
    );
    assert_eq!(
        history(RULES, [say("go"), answer(vec![call("1")]), say("stop"), result("1", "late")]),
        ["user: go", "assistant: call read 1", &format!("tool: result 1 failed [{LOST}]"), "user: stop"]
    );
}

#[test]
fn first_result_of_a_call_counts_and_order_is_free() {
    assert_eq!(
        history(
            RULES,
            [
                say("go"),
                answer(vec![call("1"), call("2")]),
                result("2", "b"),
                result("1", "a"),
                result("2", "again")
            ]
        ),
        ["user: go", "assistant: call read 1 | call read 2", "tool: result 2 [b] | result 1 [a]"]
    );
}

#[test]
fn same_id_in_two_messages_is_answered_in_each() {
    assert_eq!(
        history(
            RULES,
            [say("go"), answer(vec![call("1")]), result("1", "a"), answer(vec![call("1")]), result("1", "b")]
        ),
        [
            "user: go",
            "assistant: call read 1",
            "tool: result 1 [a]",
            "assistant: call read 1",
            "tool: result 1 [b]"
        ]
    );
}

#[test]
fn duplicate_call_id_is_sent_and_answered_once() {
    assert_eq!(
        history(RULES, [say("go"), answer(vec![call("1"), call("1")]), result("1", "a")]),
        ["user: go", "assistant: call read 1", "tool: result 1 [a]"]
    );
}

#[test]
fn ids_are_rewritten_in_call_and_result() {
    let rules = HistoryRules { call_id: CallIdRule::Alnum9, ..RULES };
    let new = CallIdRule::Alnum9.apply("toolu_1|x");
    assert_eq!(new.len(), 9);
    let calls = answer(vec![call("toolu_1|x"), call("abcdefgh1"), call("lost")]);
    let lost = CallIdRule::Alnum9.apply("lost");
    assert_eq!(
        history(rules, [say("go"), calls, result("abcdefgh1", "b"), result("toolu_1|x", "a")]),
        [
            "user: go".to_owned(),
            format!("assistant: call read {new} | call read abcdefgh1 | call read {lost}"),
            format!("tool: result abcdefgh1 [b] | result {new} [a] | result {lost} failed [{LOST}]"),
        ]
    );
}

#[test]
fn own_signed_thinking_is_sent_back_and_other_thinking_becomes_text() {
    let messages = || {
        [
            say("go"),
            answer(vec![thinking("mine", Some("acme/big")), thinking("unsigned", None), Content::text("a")]),
            Message::Assistant(answer_by(
                "other",
                vec![thinking("theirs", Some("other/x")), thinking("bare", None)],
            )),
        ]
    };
    let shown = |thinking| history(HistoryRules { thinking, ..RULES }, messages()).split_off(1);
    let text = |text: &str| format!("<thinking>/{text}/</thinking>");
    let theirs = format!("assistant: {} | {}", text("theirs"), text("bare"));
    assert_eq!(
        shown(ThinkingFilter::Signed),
        [format!("assistant: thinking mine sig | {} | a", text("unsigned")), theirs.clone()]
    );
    assert_eq!(
        shown(ThinkingFilter::Plain),
        ["assistant: thinking mine sig | thinking unsigned - | a".to_owned(), theirs.clone()]
    );
    assert_eq!(shown(ThinkingFilter::None), ["assistant: a".to_owned(), theirs]);
    assert_eq!(shown(ThinkingFilter::NoModel), ["assistant: a"]);
}

#[test]
fn opaque_data_of_another_model_is_dropped() {
    let blocks = |origin: &str| {
        answer(vec![
            signed("", Some(origin), SignatureKind::Redacted),
            signed("", Some(origin), SignatureKind::Next),
            Content::text("a"),
        ])
    };
    assert_eq!(
        history(RULES, [say("go"), blocks("acme/big")]),
        ["user: go", "assistant: thinking  sig | thinking  sig | a"]
    );
    assert_eq!(history(RULES, [say("go"), blocks("acme/small")]), ["user: go", "assistant: a"]);
    let only_redacted = answer(vec![signed("", Some("acme/small"), SignatureKind::Redacted)]);
    assert_eq!(history(RULES, [say("go"), only_redacted, say("on")]), ["user: go", "user: on"]);
}

#[test]
fn neighbors_are_merged_if_roles_alternate() {
    assert_eq!(
        history(
            ALTERNATING,
            [
                say("a"),
                say("b"),
                answer(vec![call("1")]),
                result("1", "one"),
                say("c"),
                answer(vec![Content::text("d")]),
                answer(vec![Content::text("e")]),
            ]
        ),
        ["user: a | b", "assistant: call read 1", "user: result 1 [one] | c", "assistant: d | e"]
    );
}

#[test]
fn history_that_starts_with_the_assistant_gets_an_opening() {
    let messages = || [answer(vec![Content::text("Hello.")]), say("go")];
    assert_eq!(
        history(ALTERNATING, messages()),
        ["user: (the conversation continues)", "assistant: Hello.", "user: go"]
    );
    assert_eq!(history(RULES, messages()), ["assistant: Hello.", "user: go"]);
    let unreadable = answer(vec![signed("", Some("other/x"), SignatureKind::Redacted)]);
    assert_eq!(history(ALTERNATING, [unreadable, say("go")]), ["user: go"]);
}

#[test]
fn no_message_and_no_result_is_empty() {
    assert_eq!(
        history(
            RULES,
            [user(vec![]), user(vec![Content::text(" \n")]), answer(vec![Content::text("")]), answer(vec![])]
        ),
        ["user: (empty message)", "user: (empty message)"]
    );
    assert_eq!(
        history(RULES, [say("go"), answer(vec![call("1")]), result_of("1", vec![Content::text("")])]),
        ["user: go", "assistant: call read 1", "tool: result 1 [(no output)]"]
    );
    assert_eq!(history(RULES, []), Vec::<String>::new());
}

#[test]
fn images_become_a_note_for_a_model_without_vision() {
    let messages = || {
        [
            user(vec![Content::text("see"), image()]),
            answer(vec![call("1")]),
            result_of("1", vec![image(), Content::text("made it")]),
        ]
    };
    assert_eq!(
        history(RULES, messages()),
        ["user: see | image QUJD", "assistant: call read 1", "tool: result 1 [image QUJD, made it]"]
    );
    let note = "(an image was here; this model cannot see images)";
    assert_eq!(
        history(HistoryRules { image_support: ImageSupport::None, ..RULES }, messages()),
        [
            format!("user: see | {note}"),
            "assistant: call read 1".to_owned(),
            format!("tool: result 1 [{note}, made it]")
        ]
    );
}

#[test]
fn unsupported_image_type_becomes_a_note() {
    let image_support = ImageSupport::Of(&["image/jpeg", "image/png"]);
    let image =
        |data: &str, mime_type: &str| Content::Image { data: data.into(), mime_type: mime_type.into() };
    let shown = ["image/png", "IMAGE/JPG", "image/svg+xml", ""].map(|kind| image("QUJD", kind));
    let empty = image("", "image/png");
    let note = "(an image was here; the service cannot read its format)";
    assert_eq!(
        history(HistoryRules { image_support, ..RULES }, [user(shown.into_iter().chain([empty]).collect())]),
        [format!("user: image QUJD | image QUJD | {note} | {note} | {note}")]
    );
}

#[test]
fn invalid_names_and_arguments_are_fixed_in_call_and_result() {
    let unusual = Content::ToolCall(ToolCall {
        id: "1".into(),
        name: "a.b".into(),
        arguments: Arc::new(json!([1])),
        malformed: None,
        key_order: None,
    });
    let request = request([say("go"), answer(vec![unusual]), result("1", "one")]);
    let history = PreparedHistory::new(&request, RULES);
    let blocks: Vec<&Block<'_>> = history.messages().flat_map(|(_, blocks)| blocks).collect();
    let [_, Block::Call { name, arguments, .. }, Block::Result(result)] = blocks[..] else {
        panic!("{blocks:?}")
    };
    assert_eq!((name, arguments.value), (&result.name, &json!({})));
    assert!(name.starts_with("a_b_"));
}

#[test]
fn failed_message_is_omitted_with_its_calls_and_results() {
    let failed = AssistantMessage { stop_reason: StopReason::Error, ..answer_by("acme", vec![call("1")]) };
    assert_eq!(
        history(RULES, [say("go"), Message::Assistant(failed), result("1", "one"), say("again")]),
        ["user: go", "user: again"]
    );
}

#[test]
fn result_texts_are_joined_and_a_single_one_is_borrowed() {
    let request = request([
        say("go"),
        answer(vec![call("1"), call("2")]),
        result("1", "one"),
        result_of("2", vec![Content::text("a"), image(), Content::text("b")]),
    ]);
    let history = PreparedHistory::new(&request, RULES);
    let results: Vec<_> = history
        .messages()
        .flat_map(|(_, blocks)| blocks)
        .filter_map(|block| if let Block::Result(result) = block { Some(result) } else { None })
        .collect();
    assert!(matches!(results[0].text(), Cow::Borrowed("one")));
    assert_eq!(results[1].text(), "a\nb");
    assert_eq!(results[1].images().count(), 1);
}

#[test]
fn ten_thousand_messages_are_borrowed() {
    let messages = (0..2_500).flat_map(|n| {
        let id = format!("call_{n}");
        [
            user(vec![Content::text("look"), image()]),
            answer(vec![thinking("hm", Some("acme/big")), Content::text("so"), call(&id)]),
            result(&id, "it says"),
            answer(vec![Content::text("done")]),
        ]
    });
    let request = request(messages);
    let history = PreparedHistory::new(&request, RULES);
    assert_eq!(history.messages().len(), 10_000);
    for block in history.messages().flat_map(|(_, blocks)| blocks) {
        match block {
            Block::Text(text) => assert!(matches!(text, Cow::Borrowed(_))),
            Block::Call { id, .. } => assert!(matches!(id, Cow::Borrowed(_))),
            Block::Result(result) => {
                assert!(matches!(result.id, Cow::Borrowed(_)));
                assert!(matches!(result.text(), Cow::Borrowed(_)));
            }
            Block::Image { .. } | Block::Thinking { .. } => {}
        }
    }
}

#[test]
fn size_of_a_conversation_is_the_size_of_its_blocks() {
    let request = request([
        say("four"),
        answer(vec![Content::text("sixsix"), call("id")]),
        result_of("id", vec![Content::text("ten bytes!"), Content::text("x")]),
    ]);
    assert_eq!(
        PreparedHistory::new(&request, RULES).size(),
        (4, 4 + 6 + ("id".len() + "read".len()) + (2 + 11))
    );
}
