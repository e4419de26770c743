//! Odd things to say to an agent, odd conversations to go on with, and odd sizes.

use std::sync::Arc;

use rheon_agent::{Agent, ClosureHook};
use rheon_testkit::{Scenario, ScriptedRun, Turn, echo, request_text, scripted};
use rheon_types::{
    AgentMessage, AssistantMessage, Content, ContinuationKind, ExtensionMessage, History, Message, RunEnd,
    StopReason, Timestamp, ToolCall, ToolResultMessage, Usage, unanswered_calls,
};
use serde_json::{Value, json};

use crate::adversarial::ends;

const AT: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn fine() -> Scenario {
    Scenario::new().turn(Turn::say("Fine.").repeat())
}

fn answer(content: Vec<Content>, stop_reason: StopReason) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        stop_reason,
        model: "m".into(),
        provider: "p".into(),
        usage: Usage::default(),
        timestamp: AT,
        error_message: None,
    })
}

fn calls(ids: &[&str]) -> Message {
    let block = |id: &&str| {
        let (id, name) = ((*id).into(), "echo".into());
        Content::ToolCall(ToolCall {
            id,
            name,
            arguments: Arc::new(json!({})),
            malformed: None,
            key_order: None,
        })
    };
    answer(ids.iter().map(block).collect(), StopReason::ToolUse)
}

fn result(id: &str) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "echo".into(),
        content: vec![Content::text(format!("result of {id}"))],
        is_error: false,
        timestamp: AT,
    })
}

fn history(messages: Vec<Message>) -> History {
    messages.into_iter().map(|message| Arc::new(AgentMessage::from(message))).collect()
}

#[tokio::test(start_paused = true)]
async fn only_user_messages_are_accepted_as_prompts() {
    let exchange = vec![
        Message::user("2+2?", AT),
        answer(vec![Content::text("4")], StopReason::Stop),
        Message::user("3+3?", AT),
    ];
    let results = vec![Message::user("look", AT), calls(&["a"]), result("a")];
    for messages in [exchange, results, vec![calls(&["a"]), Message::user("so?", AT)]] {
        let (agent, trace, provider) = scripted(fine()).build();
        let refused = agent.prompt_messages(messages).err().unwrap();
        let said = "only user messages can be sent to a run; pass earlier answers and tool results as the agent's history";
        assert_eq!(refused.to_string(), said);
        assert_eq!(ends(&trace), 0);
        assert_eq!(provider.request_count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn extension_messages_cause_no_model_call() {
    let (agent, trace, provider) = scripted(fine()).build();
    agent.follow_up(ExtensionMessage { kind: "bookmark".into(), data: json!({ "page": 3 }) });
    agent.run("go").await.unwrap();
    trace.assert_order();
    assert_eq!(provider.request_count(), 1, "a model was asked to answer a message that it never sees");
}

#[tokio::test(start_paused = true)]
async fn empty_messages_are_not_sent() {
    let (agent, trace, provider) = scripted(fine()).build();
    agent.steer("");
    agent.follow_up(Vec::<Content>::new());
    agent.run("go").await.unwrap();
    trace.assert_order();
    // Services refuse an empty message, now and in every later request of the conversation.
    let last = provider.requests().pop().unwrap();
    assert!(last.messages.for_model().all(|message| !message.text().is_empty()), "{}", request_text(&last));
}

async fn rerun(agent: &Agent) -> RunEnd {
    match agent.continue_run(ContinuationKind::rerun(AT)).unwrap().finish().await {
        Ok(output) => output.end.clone(),
        Err(rheon_agent::AgentError::Failed { output, .. }) => output.end.clone(),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_rerun_without_user_messages_loses_nothing() {
    let history = history(vec![answer(vec![Content::text("a summary")], StopReason::Stop)]);
    let (agent, trace, _) = scripted(fine()).with(|builder| builder.history(history)).build();
    assert!(matches!(rerun(&agent).await, RunEnd::Failed { .. }));
    trace.assert_order();
    assert_eq!(agent.messages().len(), 1, "the conversation was emptied by a run that could not begin");
}

#[tokio::test(start_paused = true)]
async fn a_rerun_that_is_vetoed_loses_nothing() {
    let ran: ScriptedRun = scripted(fine())
        .with(|builder| builder.hook(ClosureHook::new().before_run(|_, index| index == 0)))
        .run("go")
        .await;
    assert!(matches!(rerun(&ran.agent).await, RunEnd::Vetoed { .. }));
    assert_eq!(ran.agent.messages().len(), 2, "a run that never began cut the conversation");
}

#[tokio::test(start_paused = true)]
async fn a_rerun_after_a_limit_answers_the_user_message() {
    let looping = Turn::call("echo", json!({ "text": "again" })).repeat();
    let ran = scripted(Scenario::new().turn(looping))
        .tool(echo())
        .with(|builder| builder.max_turns(1))
        .run("go")
        .await;
    rerun(&ran.agent).await;
    assert_eq!(ran.sent(1), "user \"go\"", "the note of the limit was taken for the user's words");
}

#[tokio::test(start_paused = true)]
async fn results_without_a_call_and_second_results_never_reach_the_model() {
    let broken = history(vec![
        result("ghost"),
        Message::user("go", AT),
        calls(&["a", "b"]),
        result("a"),
        result("a"),
        result("b"),
        result("elsewhere"),
    ]);
    let (agent, trace, provider) = scripted(fine()).build();
    agent.restore_messages(&serde_json::to_string(&broken).unwrap()).unwrap();
    agent.run("so?").await.unwrap();
    trace.assert_order();
    let sent = request_text(&provider.requests().pop().unwrap());
    let ids: Vec<&str> =
        sent.lines().filter_map(|line| line.strip_prefix("toolResult ")?.split(' ').next()).collect();
    assert_eq!(ids, ["a", "b"], "services refuse such a request:\n{sent}");
}

#[tokio::test(start_paused = true)]
async fn ids_are_unique_in_the_whole_conversation() {
    for id in ["", "call_0"] {
        let say = || Turn::new().tool_call_with_id(id, "echo", json!({ "text": "hi" }));
        let scenario = Scenario::new().turn(say()).turn("One.").turn(say()).turn("Two.");
        let ran = scripted(scenario).tool(echo()).run("first").await;
        ran.agent.run("second").await.unwrap();
        let sent = ran.sent(3);
        let mut ids: Vec<&str> =
            sent.lines().filter_map(|line| line.strip_prefix("toolResult ")?.split(' ').next()).collect();
        assert_eq!(ids.len(), 2);
        ids.dedup();
        assert_eq!(ids.len(), 2, "two calls of one request share an id:\n{sent}");
    }
}

/// Arguments as deep as this: `{"a":{"a":...}}`.
fn nested(depth: usize) -> String {
    format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth))
}

#[tokio::test(start_paused = true)]
async fn a_conversation_with_deep_arguments_can_be_read_again() {
    let any = || rheon_testkit::FnTool::new("any", |_, _| async { Ok(rheon_types::ToolResult::text("ok")) });
    for depth in [1, 100, 110, 115, 120, 121, 122, 123, 124, 125, 126, 127, 128, 1_000, 100_000] {
        let turn = Turn::new().raw_tool_call("a", "any", nested(depth));
        let ran = scripted(Scenario::new().turn(turn).turn("Done.")).tool(any()).run("go").await;
        assert!(ran.result.is_ok(), "depth {depth}");
        let (other, _, _) = scripted(fine()).build();
        let restored = other.restore_messages(&ran.agent.save_messages());
        assert!(restored.is_ok(), "depth {depth}: the saved conversation is lost: {restored:?}");
        for event in ran.trace.events() {
            let line = serde_json::to_string(&event).unwrap();
            let read = serde_json::from_str::<rheon_types::Event>(&line);
            assert!(read.is_ok(), "depth {depth}: the log cannot be read: {}", event.kind.name());
        }
    }
}

#[test]
fn a_broadcast_without_bound_is_refused_with_an_error() {
    for capacity in [usize::MAX, usize::MAX / 2 + 1] {
        let built = std::panic::catch_unwind(|| {
            let provider = rheon_testkit::ScriptedProvider::new(Scenario::new());
            Agent::builder().provider(provider).enable_broadcast(capacity).build().is_err()
        });
        assert!(matches!(built, Ok(true)), "room for {capacity} events: {built:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn many_calls_with_one_id_are_distinguished() {
    let mut turn = Turn::new();
    for _ in 0..4_000 {
        turn = turn.tool_call_with_id("same", "nothing", json!({}));
    }
    let (agent, trace, _) = scripted(Scenario::new().turn(turn).turn("fine")).build();
    agent.run("go").await.unwrap();
    trace.assert_order();
    let messages = agent.messages();
    let ids: std::collections::HashSet<_> = messages
        .for_model()
        .filter_map(|message| match message {
            Message::ToolResult(result) => Some(&result.tool_call_id),
            Message::User(_) | Message::Assistant(_) => None,
        })
        .collect();
    assert_eq!(ids.len(), 4_000);
}

#[test]
fn calls_answered_last_to_first_are_all_found_answered() {
    let ids: Vec<String> = (0..16_000).map(|n| format!("call_{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut messages = vec![Message::user("go", AT), calls(&ids)];
    messages.extend(ids.iter().map(|id| result(id)).rev());
    assert!(unanswered_calls(&history(messages)).is_empty());
}

#[tokio::test(start_paused = true)]
async fn invalid_arguments_get_typed_errors() {
    let mut turn = Turn::new();
    let odd = [
        "null",
        "[]",
        "7",
        "\"text\"",
        "{\"text\": \"\\ud800\"}",
        "{\"text\": 1e999}",
        "{",
        "{}{}",
        "\u{0}",
        "NaN",
    ];
    for (n, json) in odd.iter().enumerate() {
        turn = turn.raw_tool_call(format!("c{n}"), "echo", *json);
    }
    let ran = scripted(Scenario::new().turn(turn).turn("Done.")).tool(echo()).run("go").await;
    assert_eq!(ran.output().end, RunEnd::Completed);
    let answered = ran
        .sent(1)
        .lines()
        .filter(|line| line.starts_with("toolResult c") && line.contains(" error "))
        .count();
    assert_eq!(answered, odd.len(), "{}", ran.sent(1));
    assert!(!ran.trace.text().contains("tool.start"));
    let kept: Value = serde_json::from_str(&ran.agent.save_messages()).unwrap();
    assert!(kept.is_array());
}
