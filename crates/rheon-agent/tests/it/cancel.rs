//! Cancelling: at once, in order, with everything answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use expect_test::expect;
use rheon_testkit::{FnTool, Scenario, Turn, echo, hangs, request_text, scripted};
use rheon_types::{AgentEvent, MessageEvent, RunEnd, ToolError, ToolEvent, ToolResult};
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn canceling_an_answer_keeps_its_text() {
    let scenario = Scenario::new().turn(Turn::new().text("Once upon a time").hang()).turn("Sure.");
    let (agent, trace, provider) = scripted(scenario).build();
    let mut stream = agent.run_stream("tell me").unwrap();
    while let Some(event) = stream.next().await {
        if matches!(&event.kind, AgentEvent::Message(MessageEvent::TextDelta { delta }) if delta == "time") {
            stream.cancel();
        }
    }
    assert_eq!(stream.finish().await.unwrap().end, RunEnd::Aborted);
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        message.start user
        message.end user "tell me"
        llm.start scripted
        message.start assistant
        message.end assistant Aborted (the run was canceled) "Once upon a time"
        llm.end Aborted
        turn.end 0 results=0 tokens=0
        agent.end aborted "Once upon a time""#]]
    .assert_eq(&trace.durable_text());
    agent.run("go on").await.unwrap();
    trace.assert_order();
    expect![[r#"
        user "tell me"
        assistant "Once upon a time"
        user "go on""#]]
    .assert_eq(&request_text(&provider.requests()[1]));
}

#[tokio::test(start_paused = true)]
async fn canceling_tools_answers_each_call_once() {
    let polite = FnTool::new("polite", |_, context| async move {
        context.cancel.cancelled().await;
        Err(ToolError::Cancelled("cleaned up".into()))
    });
    let calls = Turn::new()
        .tool_call("hangs", json!({}))
        .tool_call("polite", json!({}))
        .tool_call("echo", json!({ "text": "quick" }));
    let (agent, trace, _) =
        scripted(Scenario::new().turn(calls).turn("never")).tool(hangs()).tool(polite).tool(echo()).build();
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if matches!(&event.kind, AgentEvent::Tool(ToolEvent::End { name, .. }) if name.as_str() == "echo") {
            agent.abort();
        }
    }
    trace.assert_order();
    expect![[r#"
        tool.start hangs call_1_0 {}
        tool.start polite call_1_1 {}
        tool.start echo call_1_2 {"text":"quick"}
        tool.end echo call_1_2 ok "quick"
        tool.end polite call_1_1 error "cleaned up"
        tool.end hangs call_1_0 error "Not completed: the run was canceled."
        message.end toolResult call_1_0 error "Not completed: the run was canceled."
        message.end toolResult call_1_1 error "cleaned up"
        message.end toolResult call_1_2 "quick"
        turn.end 0 results=3 tokens=0
        agent.end aborted """#]]
    .assert_eq(&trace.only(&["tool.", "message.end toolResult", "turn.end", "agent.end"]));
}

#[tokio::test(start_paused = true)]
async fn dropping_the_future_ends_the_run_in_order_and_leaves_the_agent_usable() {
    let scenario = Scenario::new().turn(Turn::call("hangs", json!({}))).turn("Fine.");
    let (agent, trace, provider) = scripted(scenario).tool(hangs()).build();
    let gave_up = tokio::time::timeout(Duration::from_secs(1), agent.run("go")).await;
    assert!(gave_up.is_err());
    while agent.is_running() {
        tokio::task::yield_now().await;
        tokio::time::advance(Duration::from_millis(50)).await;
    }
    trace.assert_order();
    assert_eq!(agent.run("still there?").await.unwrap().text, "Fine.");
    trace.assert_order();
    expect![[r#"
        user "go"
        assistant "" [hangs call_1_0]
        toolResult call_1_0 error "Not completed: the run was canceled."
        user "still there?""#]]
    .assert_eq(&request_text(&provider.requests()[1]));
}

#[tokio::test(start_paused = true)]
async fn a_run_can_be_cancelled_before_its_first_event() {
    let (agent, trace, provider) = scripted(Scenario::new().turn("never")).build();
    let stream = agent.run_stream("go").unwrap();
    stream.cancel();
    let output = stream.finish().await.unwrap();
    assert_eq!((&output.end, output.messages.len()), (&RunEnd::Aborted, 0));
    trace.assert_order();
    assert_eq!(provider.request_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_tools_context_is_canceled_with_its_parent() {
    let told = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&told);
    let watcher = FnTool::new("watcher", move |_, context| {
        let seen = Arc::clone(&seen);
        async move {
            let child = context.cancel.child_token();
            child.cancelled().await;
            seen.store(true, Ordering::SeqCst);
            Ok(ToolResult::text("noticed"))
        }
    });
    let (agent, trace, _) =
        scripted(Scenario::new().turn(Turn::call("watcher", json!({})))).tool(watcher).build();
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if event.kind.name() == "tool.start" {
            stream.cancel();
        }
    }
    trace.assert_order();
    assert!(told.load(Ordering::SeqCst));
    expect![[r#"
        tool.start watcher call_1_0 {}
        tool.end watcher call_1_0 ok "noticed"
        agent.end aborted """#]]
    .assert_eq(&trace.only(&["tool.", "agent.end"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_blocks_its_thread_does_not_block_the_cancel() {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let wait = Arc::new(std::sync::Mutex::new(wait));
    let blocking = FnTool::new("blocking", move |_, _| {
        let wait = Arc::clone(&wait);
        async move {
            wait.lock().unwrap().recv().ok();
            Ok(ToolResult::text("late"))
        }
    });
    let (agent, trace, _) =
        scripted(Scenario::new().turn(Turn::call("blocking", json!({})))).tool(blocking).build();
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if event.kind.name() == "tool.start" {
            stream.cancel();
        }
    }
    trace.assert_order();
    assert_eq!(stream.finish().await.unwrap().end, RunEnd::Aborted);
    release.send(()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_kept_even_without_a_first_turn() {
    use rheon_types::{Answer, Flow, History, Hook};
    struct Never;
    impl Hook for Never {
        fn before_turn<'a>(&'a self, _: &'a History, _: u32) -> Answer<'a, Flow> {
            Answer::later(std::future::pending())
        }
    }
    let (agent, trace, _) = scripted(Scenario::new()).with(|builder| builder.hook(Never)).build();
    let mut stream = agent.run_stream("remember this").unwrap();
    stream.next().await.unwrap();
    stream.cancel();
    stream.finish().await.unwrap();
    expect![[r#"
        agent.start scripted
        message.start user
        message.end user "remember this"
        agent.end aborted """#]]
    .assert_eq(&trace.text());
    assert_eq!(agent.messages().len(), 1);
}
