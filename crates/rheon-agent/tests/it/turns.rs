//! What happens in a turn, event by event.

use expect_test::expect;
use rheon_agent::TokenCounter;
use rheon_testkit::{Scenario, Turn, echo, scripted};
use rheon_types::{AgentEvent, ModelEvent, Usage};
use serde_json::json;

fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, ..Usage::default() }
}

#[tokio::test(start_paused = true)]
async fn a_text_answer() {
    let scenario = Scenario::new().turn(Turn::say("Four.").chunked(3).usage(usage(9, 2)));
    let ran = scripted(scenario).run("What is 2+2?").await;
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        message.start user
        message.end user "What is 2+2?"
        llm.start scripted
        message.start assistant
        text.delta "Fou"
        text.delta "r."
        message.end assistant Stop "Four."
        llm.end Stop
        turn.end 0 results=0 tokens=11
        agent.end completed "Four.""#]]
    .assert_eq(&ran.trace.text());
    assert_eq!(ran.result.unwrap().text, "Four.");
}

#[tokio::test(start_paused = true)]
async fn a_tool_call_and_its_answer() {
    let scenario = Scenario::new()
        .turn(
            Turn::new()
                .thinking("I should echo.")
                .text("Echoing.")
                .tool_call("echo", json!({ "text": "hi" }))
                .usage(usage(10, 5)),
        )
        .turn(Turn::say("It said {{last_tool_result}}.").usage(usage(20, 4)));
    let ran = scripted(scenario).tool(echo()).run("Say hi").await;
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        message.start user
        message.end user "Say hi"
        llm.start scripted
        message.start assistant
        message.end assistant ToolUse ("I should echo.") "Echoing." [echo call_1_0 {"text":"hi"}]
        llm.end ToolUse
        tool.start echo call_1_0 {"text":"hi"}
        tool.end echo call_1_0 ok "hi"
        message.start toolResult
        message.end toolResult call_1_0 "hi"
        turn.end 0 results=1 tokens=15
        turn.start 1 Continuation
        llm.start scripted
        message.start assistant
        message.end assistant Stop "It said hi."
        llm.end Stop
        turn.end 1 results=0 tokens=24
        agent.end completed "It said hi.""#]]
    .assert_eq(&ran.trace.durable_text());
    expect![[r#"
        user "Say hi"
        assistant "Echoing." [echo call_1_0]
        toolResult call_1_0 "hi""#]]
    .assert_eq(&ran.sent(1));
    let output = ran.result.unwrap();
    assert_eq!((output.text.as_str(), output.turns, output.usage.total()), ("It said hi.", 2, 39));
}

#[tokio::test(start_paused = true)]
async fn the_estimate_counts_tool_calls_and_results() {
    let text = "x".repeat(400);
    let scenario =
        Scenario::new().turn(Turn::call("echo", json!({ "text": text }))).turn("Done.").turn("Again.");
    let ran = scripted(scenario).tool(echo()).run("y".repeat(40)).await;
    ran.agent.run("z".repeat(40)).await.unwrap();
    ran.trace.assert_order();
    let estimates: Vec<u64> = ran
        .trace
        .events()
        .iter()
        .filter_map(|event| match &event.kind {
            AgentEvent::Model(ModelEvent::Start { tokens_estimate, .. }) => Some(*tokens_estimate),
            _ => None,
        })
        .collect();
    // The definition of the tool and the prompt; the call and its result; the answer and the second prompt.
    let tool = ran.provider.requests()[0].tools.clone();
    let first = TokenCounter::default().tools(&tool) + 6;
    assert_eq!(estimates, [first, first + 99, first + 99 + 13]);
}
