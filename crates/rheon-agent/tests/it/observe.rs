//! Three ways to watch: callback, broadcast, two-way stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use rheon_agent::AgentError;
use rheon_testkit::{FnTool, Scenario, Turn, event_text, scripted};
use rheon_types::{AgentEvent, Event, MessageEvent, RunEvent, ToolResult};
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

#[tokio::test(start_paused = true)]
async fn all_observers_see_the_same_events_in_the_same_order() {
    let (agent, trace, _) = scripted(Scenario::new().turn("One two three."))
        .with(|builder| builder.enable_broadcast(256))
        .build();
    let mut left = agent.subscribe().unwrap();
    let mut right = agent.subscribe().unwrap();
    let mut stream = agent.run_stream("go").unwrap();
    let mut streamed = Vec::new();
    while let Some(event) = stream.next().await {
        streamed.push(event);
    }
    trace.assert_order();
    let drain = |receiver: &mut rheon_agent::EventSubscription| {
        let mut seen = Vec::new();
        while let Ok(event) = receiver.try_recv() {
            seen.push(event);
        }
        seen
    };
    let recorded: Vec<Arc<Event>> = trace.events().into_iter().map(Arc::new).collect();
    assert_eq!(streamed, recorded);
    assert_eq!(drain(&mut left), recorded);
    assert_eq!(drain(&mut right), recorded);
}

#[tokio::test(start_paused = true)]
async fn a_lagging_subscriber_learns_what_it_missed_and_blocks_nothing() {
    let mut text = String::new();
    for n in 0..2_000 {
        text.push_str(&format!("{n} "));
    }
    let (agent, trace, _) =
        scripted(Scenario::new().turn(text)).with(|builder| builder.enable_broadcast(16)).build();
    let mut lagging = agent.subscribe().unwrap();
    agent.run("go").await.unwrap();
    trace.assert_order();
    let all = trace.events().len() as u64;
    assert_eq!(lagging.recv().await, Err(RecvError::Lagged(all - 16)));
    let mut rest = Vec::new();
    while let Ok(event) = lagging.try_recv() {
        rest.push(event);
    }
    assert_eq!(rest.len(), 16);
    assert_eq!(rest.last().unwrap().kind.name(), "agent.end");
}

#[tokio::test(start_paused = true)]
async fn without_broadcast_there_is_nothing_to_subscribe_to() {
    let (agent, _, _) = scripted(Scenario::new()).build();
    assert!(agent.subscribe().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_run_does_not_need_readers() {
    let words: Vec<String> = (0..20_000).map(|n| format!("w{n}")).collect();
    let ran = scripted(Scenario::new().turn(words.join(" "))).run("go").await;
    assert_eq!(
        ran.trace.count(|event| matches!(event, AgentEvent::Message(MessageEvent::TextDelta { .. }))),
        20_000
    );
    assert_eq!(ran.result.unwrap().text, words.join(" "));
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_pauses_slows_the_run_and_loses_nothing() {
    let words: Vec<String> = (0..5_000).map(|n| format!("w{n} ")).collect();
    let (agent, trace, _) = scripted(Scenario::new().turn(words.concat())).build();
    let mut stream = agent.run_stream("go").unwrap();
    let first = stream.next().await.unwrap();
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert!(agent.is_running(), "the run waits for its reader");
    let waiting = trace.events().len();
    assert!((1_000..1_100).contains(&waiting), "{waiting}");
    let mut seen = vec![(*first).clone()];
    while let Some(event) = stream.next().await {
        seen.push((*event).clone());
    }
    trace.assert_order();
    assert_eq!(seen, trace.events());
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_talks_without_end_fills_no_memory() {
    let chatty = FnTool::new("chatty", |_, context| async move {
        for _ in 0..50_000 {
            context.progress("still here");
        }
        Ok(ToolResult::text("done"))
    });
    let (agent, _, _) =
        scripted(Scenario::new().turn(Turn::call("chatty", json!({}))).turn("Ok.")).tool(chatty).build();
    let mut stream = agent.run_stream("go").unwrap();
    let mut durable = Vec::new();
    let mut live = 0;
    while let Some(event) = stream.next().await {
        match event.kind.is_durable() {
            true => durable.push((*event).clone()),
            false => live += 1,
        }
    }
    assert!(live <= 2_100, "{live} live events were kept");
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        message.start user
        message.end user "go"
        llm.start scripted
        message.start assistant
        message.end assistant ToolUse [chatty call_1_0 {}]
        llm.end ToolUse
        tool.start chatty call_1_0 {}
        tool.end chatty call_1_0 ok "done"
        message.start toolResult
        message.end toolResult call_1_0 "done"
        turn.end 0 results=1 tokens=0
        turn.start 1 Continuation
        llm.start scripted
        message.start assistant
        message.end assistant Stop "Ok."
        llm.end Stop
        turn.end 1 results=0 tokens=0
        agent.end completed "Ok.""#]]
    .assert_eq(&event_text(&durable));
}

#[tokio::test(start_paused = true)]
async fn dropping_the_stream_cancels_the_run() {
    let (agent, trace, _) = scripted(Scenario::new().turn(Turn::new().text("Hm").hang())).build();
    let mut stream = agent.run_stream("go").unwrap();
    stream.next().await.unwrap();
    drop(stream);
    while agent.is_running() {
        tokio::task::yield_now().await;
    }
    trace.assert_order();
    expect![[r#"agent.end aborted "Hm""#]].assert_eq(&trace.only(&["agent.end"]));
}

#[tokio::test(start_paused = true)]
async fn a_panicking_callback_is_disabled_and_the_run_continues() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let ran = scripted(Scenario::new().turn("Fine."))
        .with(|builder| {
            builder.on_event(move |_| {
                counted.fetch_add(1, Ordering::SeqCst);
                panic!("a bug in the callback");
            })
        })
        .run("go")
        .await;
    assert_eq!(ran.result.unwrap().text, "Fine.");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn prompting_a_running_agent_fails_but_steering_works() {
    let (agent, trace, _) = scripted(Scenario::new().turn("One.").turn("Two.")).build();
    let stream = agent.run_stream("first").unwrap();
    let error = agent.run_stream("second").err().unwrap();
    assert!(matches!(error, AgentError::Busy));
    assert!(matches!(agent.run("third").await, Err(AgentError::Busy)));
    assert!(matches!(agent.reset(), Err(AgentError::Busy)));
    agent.follow_up("fourth");
    assert_eq!(stream.finish().await.unwrap().text, "Two.");
    trace.assert_order();
    expect![
        "the agent is running; wait for the run to end, or call steer() or follow_up() to send it a message"
    ]
    .assert_eq(&error.to_string());
}

#[tokio::test(start_paused = true)]
async fn the_next_run_may_be_asked_for_as_soon_as_the_end_is_seen() {
    let (agent, trace, _) = scripted(Scenario::new().turn("One.").turn("Two.")).build();
    let mut stream = agent.run_stream("first").unwrap();
    while let Some(event) = stream.next().await {
        if let AgentEvent::Run(RunEvent::End { output }) = &event.kind {
            assert_eq!(output.text, "One.");
            break;
        }
    }
    assert_eq!(agent.run("second").await.unwrap().text, "Two.");
    trace.assert_order();
}

#[tokio::test(start_paused = true)]
async fn an_empty_prompt_is_an_error() {
    let (agent, _, _) = scripted(Scenario::new()).build();
    assert!(matches!(agent.run("").await, Err(AgentError::EmptyPrompt)));
    assert!(matches!(agent.prompt_messages(Vec::new()).err(), Some(AgentError::EmptyPrompt)));
}

#[tokio::test(start_paused = true)]
async fn injected_messages_reach_the_run() {
    let slowly = Turn::new().delay(std::time::Duration::from_secs(1)).text("One.");
    let (agent, trace, _) = scripted(Scenario::new().turn(slowly).turn("Two.")).build();
    let mut stream = agent.run_stream("first").unwrap();
    let mut said = false;
    while let Some(event) = stream.next().await {
        if event.kind.name() == "llm.start" && !said {
            stream.inject_message("Actually, explain first");
            said = true;
        }
    }
    trace.assert_order();
    expect![[r#"
        message.end user "first"
        message.end assistant Stop "One."
        message.end user "Actually, explain first"
        message.end assistant Stop "Two."
        agent.end completed "Two.""#]]
    .assert_eq(&trace.only(&["message.end", "agent.end"]));
}
