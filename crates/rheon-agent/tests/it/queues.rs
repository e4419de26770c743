//! Steering and follow-ups, and the filters they pass.

use std::sync::Arc;

use expect_test::expect;
use rheon_agent::{Agent, QueueMode, ToolExecution};
use rheon_testkit::{FnTool, Scenario, Turn, request_text, scripted};
use rheon_types::{FilterVerdict, Message, Tool, ToolResult};
use serde_json::json;
use std::sync::OnceLock;

/// A tool during which the user says something.
fn interrupted(agent: &Arc<OnceLock<Agent>>, words: &'static [&'static str]) -> impl Tool + use<> {
    let agent = Arc::clone(agent);
    FnTool::new("work", move |_, _| {
        let agent = Arc::clone(&agent);
        async move {
            for word in words {
                agent.get().unwrap().steer(*word);
            }
            Ok(ToolResult::text("worked"))
        }
    })
}

fn three_calls() -> Scenario {
    let call = |turn: Turn| turn.tool_call("work", json!({}));
    Scenario::new().turn(call(call(call(Turn::new())))).turn("Two.").turn("Three.").turn("Four.")
}

async fn run(execution: ToolExecution, mode: QueueMode, words: &'static [&'static str]) -> (String, String) {
    let slot = Arc::new(OnceLock::new());
    let (agent, trace, provider) = scripted(three_calls())
        .tool(interrupted(&slot, words))
        .with(|builder| builder.tool_execution(execution).queue_modes(mode, QueueMode::OneAtATime))
        .build();
    slot.set(agent.clone()).ok().unwrap();
    agent.run("go").await.unwrap();
    trace.assert_order();
    let sent: Vec<String> = provider.requests().iter().map(request_text).collect();
    (trace.only(&["tool.", "turn.start"]), sent.last().unwrap().clone())
}

#[tokio::test(start_paused = true)]
async fn steering_skips_what_has_not_run_and_reaches_the_model_next() {
    let (events, sent) = run(ToolExecution::Sequential, QueueMode::OneAtATime, &["stop that"]).await;
    expect![[r#"
        turn.start 0 User
        tool.start work call_1_0 {}
        tool.end work call_1_0 ok "worked"
        tool.blocked work call_1_1 "Skipped due to queued user message."
        tool.blocked work call_1_2 "Skipped due to queued user message."
        turn.start 1 Continuation"#]]
    .assert_eq(&events);
    expect![[r#"
        user "go"
        assistant "" [work call_1_0] [work call_1_1] [work call_1_2]
        toolResult call_1_0 "worked"
        toolResult call_1_1 error "Skipped due to queued user message."
        toolResult call_1_2 error "Skipped due to queued user message."
        user "stop that""#]]
    .assert_eq(&sent);
}

#[tokio::test(start_paused = true)]
async fn steering_lets_tools_that_run_together_finish() {
    let (events, _) = run(ToolExecution::Parallel, QueueMode::All, &["stop that"]).await;
    expect![[r#"
        turn.start 0 User
        tool.start work call_1_0 {}
        tool.start work call_1_1 {}
        tool.start work call_1_2 {}
        tool.end work call_1_0 ok "worked"
        tool.end work call_1_1 ok "worked"
        tool.end work call_1_2 ok "worked"
        turn.start 1 Continuation"#]]
    .assert_eq(&events);
}

#[tokio::test(start_paused = true)]
async fn batches_are_skipped_from_the_next_on() {
    let two = ToolExecution::Batched(2.try_into().unwrap());
    let (events, _) = run(two, QueueMode::All, &["stop that"]).await;
    expect![[r#"
        turn.start 0 User
        tool.start work call_1_0 {}
        tool.start work call_1_1 {}
        tool.end work call_1_0 ok "worked"
        tool.end work call_1_1 ok "worked"
        tool.blocked work call_1_2 "Skipped due to queued user message."
        turn.start 1 Continuation"#]]
    .assert_eq(&events);
}

#[tokio::test(start_paused = true)]
async fn one_at_a_time_takes_a_turn_each() {
    let (_, sent) = run(ToolExecution::Sequential, QueueMode::OneAtATime, &["first", "second"]).await;
    expect![[r#"
        user "go"
        assistant "" [work call_1_0] [work call_1_1] [work call_1_2]
        toolResult call_1_0 "worked"
        toolResult call_1_1 error "Skipped due to queued user message."
        toolResult call_1_2 error "Skipped due to queued user message."
        user "first"
        assistant "Two."
        user "second""#]]
    .assert_eq(&sent);
}

#[tokio::test(start_paused = true)]
async fn all_at_once_shares_a_turn() {
    let (_, sent) = run(ToolExecution::Sequential, QueueMode::All, &["first", "second"]).await;
    expect![[r#"
        user "go"
        assistant "" [work call_1_0] [work call_1_1] [work call_1_2]
        toolResult call_1_0 "worked"
        toolResult call_1_1 error "Skipped due to queued user message."
        toolResult call_1_2 error "Skipped due to queued user message."
        user "first"
        user "second""#]]
    .assert_eq(&sent);
}

#[tokio::test(start_paused = true)]
async fn follow_ups_wait_for_the_end() {
    let scenario = Scenario::new().turn("One.").turn("Two.").turn("Three.");
    let (agent, trace, _) = scripted(scenario).build();
    agent.follow_up("second");
    agent.follow_up("third");
    let output = agent.run("first").await.unwrap();
    trace.assert_order();
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        message.end user "first"
        message.end assistant Stop "One."
        turn.start 1 Continuation
        message.end user "second"
        message.end assistant Stop "Two."
        turn.start 2 Continuation
        message.end user "third"
        message.end assistant Stop "Three."
        agent.end completed "Three.""#]]
    .assert_eq(&trace.only(&["turn.start", "message.end", "agent."]));
    assert_eq!(output.turns, 3);
}

#[tokio::test(start_paused = true)]
async fn the_second_prompt_includes_the_first() {
    let (agent, trace, provider) = scripted(Scenario::new().turn("One.").turn("Two.")).build();
    agent.run("first").await.unwrap();
    agent.run("second").await.unwrap();
    trace.assert_order();
    expect![[r#"
        user "first"
        assistant "One."
        user "second""#]]
    .assert_eq(&request_text(&provider.requests()[1]));
}

fn strict(message: &Message) -> FilterVerdict {
    let text = message.text();
    match () {
        () if text.contains("secret") => FilterVerdict::Reject("it holds a secret".into()),
        () if text.contains("sudo") => FilterVerdict::Warn("be careful".into()),
        () => FilterVerdict::Pass,
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejected_prompt_ends_the_run_before_it_costs_anything() {
    let ran = scripted(Scenario::new().turn("never"))
        .with(|builder| builder.input_filter(strict))
        .run("my secret")
        .await;
    expect![[r#"
        agent.start scripted
        input.rejected "it holds a secret"
        agent.end rejected(it holds a secret) """#]]
    .assert_eq(&ran.trace.text());
    assert_eq!((ran.provider.request_count(), ran.agent.messages().len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_warning_goes_to_the_model() {
    let ran = scripted(Scenario::new().turn("Ok."))
        .with(|builder| builder.input_filter(strict))
        .run("sudo rm")
        .await;
    expect![[r#"user "sudo rm\n[Warning: be careful]""#]].assert_eq(&ran.sent(0));
}

#[tokio::test(start_paused = true)]
async fn rejected_follow_ups_are_reported_and_cause_no_model_call() {
    let scenario = Scenario::new().turn("One.").turn("never");
    let (agent, trace, provider) = scripted(scenario).with(|builder| builder.input_filter(strict)).build();
    agent.follow_up("another secret");
    agent.run("first").await.unwrap();
    trace.assert_order();
    expect![[r#"
        turn.start 0 User
        turn.end 0 results=0 tokens=0
        turn.start 1 Continuation
        input.rejected "it holds a secret"
        turn.end 1 results=0 tokens=0
        agent.end completed "One.""#]]
    .assert_eq(&trace.only(&["turn.", "input.", "agent.end"]));
    assert_eq!(provider.request_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn app_messages_stay_with_the_app() {
    use rheon_types::{AgentMessage, ExtensionMessage, Timestamp};
    let (agent, trace, provider) = scripted(Scenario::new().turn("One.")).build();
    let note =
        AgentMessage::Extension(ExtensionMessage { kind: "bookmark".into(), data: json!({ "page": 3 }) });
    agent.run(vec![note, AgentMessage::user("hi", Timestamp::default())]).await.unwrap();
    trace.assert_order();
    assert_eq!(agent.messages().len(), 3);
    assert_eq!(request_text(&provider.requests()[0]), "user \"hi\"");
}
