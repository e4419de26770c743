//! Everything that is written as JSON reads back as it was.

use std::sync::Arc;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::*;

pub(crate) fn json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has no such number", |number| number.is_finite())
            .prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map(".{0,4}", inner, 0..3).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
    .boxed()
}

pub(crate) fn shared_json() -> BoxedStrategy<Arc<Value>> {
    json().prop_map(Arc::new).boxed()
}

/// A path that JSON can say.
pub(crate) fn path() -> BoxedStrategy<std::path::PathBuf> {
    "(/[a-zé ]{1,6}){1,3}".prop_map(std::path::PathBuf::from).boxed()
}

/// Schemas of answers.
pub(crate) fn output_schema() -> BoxedStrategy<OutputSchema> {
    ("[a-z]{1,8}", json()).prop_map(|(name, schema)| OutputSchema { name, schema }).boxed()
}

/// Lists are short, so that a value of lists of lists stays small.
pub(crate) fn few<T: Arbitrary + 'static>() -> BoxedStrategy<Vec<T>> {
    vec(any::<T>(), 0..3).boxed()
}

/// An optional value reads JSON `null` as absent, so `null` is not among these.
pub(crate) fn metadata() -> BoxedStrategy<Option<Arc<Value>>> {
    proptest::option::of(shared_json().prop_filter("null is absent", |value| !value.is_null())).boxed()
}

/// A conversation that a run may have begun with.
pub(crate) fn conversation() -> BoxedStrategy<Option<crate::History>> {
    let messages = few::<Arc<crate::AgentMessage>>();
    proptest::option::of(messages.prop_map(|messages| messages.into_iter().collect())).boxed()
}

fn reads_back<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    let back: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
    assert_eq!(&back, value, "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn messages_read_back(message: AgentMessage) {
        reads_back(&message);
    }

    #[test]
    fn a_model_message_reads_as_a_message_of_no_turn(message: Message) {
        let text = serde_json::to_string(&message).unwrap();
        let read: AgentMessage = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read, AgentMessage::from(message));
    }

    #[test]
    fn commands_read_back(command: Command) {
        reads_back(&command);
    }

    #[test]
    fn protocol_messages_read_back(
        query: Query,
        ack: Ack,
        open: OpenRequest,
        subscription: Subscription,
        error: ClientError,
    ) {
        reads_back(&query);
        reads_back(&ack);
        reads_back(&open);
        reads_back(&subscription);
        reads_back(&error);
    }

    #[test]
    fn replies_read_back(
        reply: Reply,
        query: protocol::HostQuery,
        command: protocol::HostCommand,
        answer: protocol::HostReply,
    ) {
        reads_back(&reply);
        reads_back(&query);
        reads_back(&command);
        reads_back(&answer);
    }

    #[test]
    fn outputs_read_back(output: AgentOutput) {
        reads_back(&output);
    }

    #[test]
    fn tool_types_read_back(result: ToolResult, error: ToolError, definition: ToolDefinition, effect: Effect) {
        reads_back(&result);
        reads_back(&error);
        reads_back(&definition);
        reads_back(&effect);
    }

    #[test]
    fn histories_read_back(messages in vec(any::<AgentMessage>(), 0..5)) {
        let history: History = messages.into_iter().map(Arc::new).collect();
        reads_back(&history);
    }

    #[test]
    fn usage_never_overflows(mut left: Usage, right: Usage) {
        left += right;
        let rate = left.cache_hit_rate();
        prop_assert!((0.0..=1.0).contains(&rate), "{}", rate);
    }
}

/// The derived strategy of an enum with 38 variants is one deeply nested value, too large for a test thread's stack.
fn check_events(test: fn(&Event)) {
    let run = move || {
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1024) };
        let mut runner = proptest::test_runner::TestRunner::new(config);
        let outcome = runner.run(&any::<Event>(), |event| {
            test(&event);
            Ok(())
        });
        outcome.unwrap();
    };
    let thread = std::thread::Builder::new().stack_size(64 * 1024 * 1024).spawn(run).unwrap();
    thread.join().unwrap();
}

#[test]
fn events_read_back() {
    check_events(reads_back);
}

#[test]
fn the_json_type_is_the_dotted_name() {
    check_events(|event| {
        let json = serde_json::to_value(&event.kind).unwrap();
        assert_eq!(json.get("type").and_then(Value::as_str), Some(event.kind.name()));
    });
}

#[test]
fn shapes_are_the_documented_ones() {
    let at = Timestamp::from_millis(1_700_000_000_000);
    let call = ToolCall {
        id: "call_1".into(),
        name: "read".into(),
        arguments: Arc::new(serde_json::json!({ "path": "a.txt" })),
        malformed: None,
        key_order: None,
    };
    let message = AgentMessage::Llm(LlmMessage {
        message: Message::Assistant(AssistantMessage {
            content: vec![
                Content::Thinking {
                    thinking: "hm".into(),
                    signature: Some(Signature {
                        data: "sig".into(),
                        kind: SignatureKind::Proof,
                        id: None,
                        origin: "anthropic/opus".into(),
                    }),
                },
                Content::text("Reading."),
                Content::ToolCall(call),
            ],
            stop_reason: StopReason::ToolUse,
            model: "m".into(),
            provider: "p".into(),
            usage: Usage { input: 1, output: 2, ..Usage::default() },
            timestamp: at,
            error_message: None,
        }),
        turn_id: Some(TurnId { run_id: "s.c.1".into(), index: 0 }),
    });
    let result = AgentMessage::from(Message::ToolResult(ToolResultMessage {
        tool_call_id: "call_1".into(),
        tool_name: "read".into(),
        content: vec![Content::Image { data: "AA==".into(), mime_type: "image/png".into() }],
        is_error: false,
        timestamp: at,
    }));
    let note = AgentMessage::Extension(ExtensionMessage { kind: "ui_update".into(), data: Value::from(1) });
    let event = Event {
        seq: 7,
        at,
        session_id: "s".into(),
        run_id: Some("s.c.1".into()),
        kind: AgentEvent::Turn(TurnEvent::Start { turn_index: 0, triggered_by: TurnTrigger::SubAgent }),
    };
    let lines: Vec<String> = [&message, &result, &note]
        .into_iter()
        .map(|message| serde_json::to_string(message).unwrap())
        .chain([serde_json::to_string(&event).unwrap()])
        .collect();
    expect_test::expect![[r#"
        {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":{"data":"sig","origin":"anthropic/opus"}},{"type":"text","text":"Reading."},{"type":"toolCall","id":"call_1","name":"read","arguments":{"path":"a.txt"}}],"stop_reason":"toolUse","model":"m","provider":"p","usage":{"input":1,"output":2,"cache_read":0,"cache_write":0,"total_tokens":0},"timestamp":1700000000000,"turn_id":{"run_id":"s.c.1","index":0}}
        {"role":"toolResult","tool_call_id":"call_1","tool_name":"read","content":[{"type":"image","data":"AA==","mime_type":"image/png"}],"is_error":false,"timestamp":1700000000000}
        {"role":"extension","kind":"ui_update","data":1}
        {"seq":7,"at":1700000000000,"session_id":"s","run_id":"s.c.1","kind":{"type":"turn.start","turn_index":0,"triggered_by":"subAgent"}}"#]].assert_eq(&lines.join("\n"));
    assert_eq!(at.to_string(), "2023-11-14T22:13:20Z");
}
