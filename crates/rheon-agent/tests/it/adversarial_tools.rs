//! Tools that misbehave: they leak their context, block, panic in odd places, and speak when they should not.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use rheon_agent::{Agent, ClosureHook, Toolbox};
use rheon_testkit::{FnTool, Scenario, TestClock, Trace, Turn, echo, fatal, scripted};
use rheon_types::{
    AgentEvent, Amendment, Answer, BoxFuture, Clock, Effect, Hook, RunEnd, Tool, ToolCall, ToolContext,
    ToolError, ToolEvent, ToolResult,
};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::adversarial::{ends, or_deadlock};

type Leak = Arc<Mutex<Vec<ToolContext>>>;

/// A tool that gives its context away and never returns.
fn leaks(leak: &Leak) -> FnTool {
    let leak = Arc::clone(leak);
    FnTool::new("leaks", move |_, context| {
        leak.lock().unwrap().push(context);
        std::future::pending()
    })
}

/// Everything a leaked context says now; panics count as speaking.
fn speak(leak: &Leak, trace: &Trace) -> usize {
    let before = trace.events().len();
    let contexts = std::mem::take(&mut *leak.lock().unwrap());
    assert!(!contexts.is_empty(), "no context was leaked");
    for context in contexts {
        let late = AssertUnwindSafe(|| context.progress("too late"));
        assert!(std::panic::catch_unwind(late).is_ok(), "a late report is out of order");
    }
    trace.events().len() - before
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_silences_the_tools_that_still_run() {
    let leak = Leak::default();
    let calls = Turn::new().tool_call("leaks", json!({})).tool_call("echo", json!({ "text": "hi" }));
    let (agent, trace, _) = scripted(Scenario::new().turn(calls))
        .tool(leaks(&leak))
        .tool(echo())
        .with(|builder| builder.hook(ClosureHook::new().after_tool(|_, _, _| panic!("a bug"))))
        .build();
    assert!(agent.run("go").await.is_err());
    assert_eq!(speak(&leak, &trace), 0, "a tool spoke after agent.end");
    trace.assert_order();
}

#[test]
fn a_runtime_that_stops_silences_the_tools_that_still_run() {
    let leak = Leak::default();
    let (agent, trace, _) =
        scripted(Scenario::new().turn(Turn::call("leaks", json!({})))).tool(leaks(&leak)).build();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let stream = runtime.block_on(async {
        let mut stream = agent.run_stream("go").unwrap();
        while leak.lock().unwrap().is_empty() {
            stream.next().await.unwrap();
            tokio::task::yield_now().await;
        }
        stream
    });
    drop(runtime);
    assert_eq!(ends(&trace), 1);
    assert_eq!(speak(&leak, &trace), 0, "a tool spoke after agent.end");
    drop(stream);
    trace.assert_order();
}

/// A tool that hangs, with a task left behind that waits for the tool's token and then notes that it was told.
fn watched(told: &Arc<Notify>) -> FnTool {
    let told = Arc::clone(told);
    FnTool::new("watched", move |_, context| {
        let (told, cancel) = (Arc::clone(&told), context.cancel);
        tokio::spawn(async move {
            cancel.cancelled().await;
            told.notify_one();
        });
        std::future::pending()
    })
}

async fn is_logged(told: &Notify) -> bool {
    tokio::time::timeout(Duration::from_secs(60), told.notified()).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn leftover_tool_tasks_are_canceled_when_a_sibling_ends_the_run() {
    let told = Arc::new(Notify::new());
    let calls = Turn::new().tool_call("watched", json!({})).tool_call("fatal", json!({}));
    let ran = scripted(Scenario::new().turn(calls)).tool(watched(&told)).tool(fatal()).run("go").await;
    assert!(ran.result.is_err());
    assert!(is_logged(&told).await, "the token of a tool that was stopped never fired");
}

#[tokio::test(start_paused = true)]
async fn leftover_tool_tasks_are_canceled_when_a_hook_panics() {
    let told = Arc::new(Notify::new());
    let calls = Turn::new().tool_call("watched", json!({})).tool_call("echo", json!({ "text": "hi" }));
    let ran = scripted(Scenario::new().turn(calls))
        .tool(watched(&told))
        .tool(echo())
        .with(|builder| builder.hook(ClosureHook::new().after_tool(|_, _, _| panic!("a bug"))))
        .run("go")
        .await;
    // Keeps the agent, and so its tokens, alive.
    assert!(ran.result.is_err());
    assert!(is_logged(&told).await, "the token of a tool that was stopped never fired");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_cancels_its_own_token_cancels_only_itself() {
    let rash = FnTool::new("rash", |_, context| async move {
        context.cancel.cancel();
        Ok(ToolResult::text("oops"))
    });
    let calls = Turn::new().tool_call("rash", json!({})).tool_call("echo", json!({ "text": "hi" }));
    let ran = scripted(Scenario::new().turn(calls).turn("Done.")).tool(rash).tool(echo()).run("go").await;
    assert_eq!(ran.output().end, RunEnd::Completed);
    assert_eq!(
        ran.trace.count(|event| matches!(event, AgentEvent::Tool(ToolEvent::End { is_error: false, .. }))),
        2
    );
}

/// Panics when it is dropped, unless a panic is under way.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "in drop");
    }
}

#[tokio::test(start_paused = true)]
async fn unusual_panics_become_tool_errors() {
    let payload = FnTool::new("payload", |_, _| async { std::panic::panic_any(7_u8) });
    let early = FnTool::new("early", |_, _| -> BoxFuture<'static, _> { panic!("before the future") });
    let on_drop = FnTool::new("on_drop", |_, _| async {
        let _bomb = Bomb;
        Ok(ToolResult::text("done"))
    });
    let mut calls = Turn::new();
    for name in ["payload", "early", "on_drop"] {
        calls = calls.tool_call_with_id(name, name, json!({}));
    }
    let calls = calls.tool_call_with_id("echo", "echo", json!({ "text": "fine" }));
    let ran = scripted(Scenario::new().turn(calls).turn("Done."))
        .tool(payload)
        .tool(early)
        .tool(on_drop)
        .tool(echo())
        .run("go")
        .await;
    expect_test::expect![[r#"
        message.end toolResult payload error "the tool panicked: no message"
        message.end toolResult early error "the tool panicked: before the future"
        message.end toolResult on_drop error "the tool panicked: in drop"
        message.end toolResult echo "fine"
        agent.end completed "Done.""#]]
    .assert_eq(&ran.trace.only(&["message.end toolResult", "agent.end"]));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_while_it_is_dropped_does_not_hold_up_a_cancel() {
    let stuck = FnTool::new("stuck", |_, _| async {
        let _bomb = Bomb;
        std::future::pending::<()>().await;
        Ok(ToolResult::default())
    });
    let (agent, trace, _) =
        scripted(Scenario::new().turn(Turn::call("stuck", json!({})))).tool(stuck).build();
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if event.kind.name() == "tool.start" {
            stream.cancel();
        }
    }
    assert_eq!(stream.finish().await.unwrap().end, RunEnd::Aborted);
    trace.assert_order();
}

/// A tool whose describing methods are code too.
struct Moody {
    asked: AtomicUsize,
    effect: fn(usize) -> Effect,
}

impl Tool for Moody {
    fn name(&self) -> &str {
        match self.asked.fetch_add(1, Ordering::SeqCst) {
            0 => "moody",
            _ => "another",
        }
    }

    fn description(&self) -> &str {
        ""
    }

    fn parameters_schema(&self) -> Value {
        json!({ "type": "object" })
    }

    fn effect(&self) -> Effect {
        (self.effect)(self.asked.fetch_add(1, Ordering::SeqCst))
    }

    fn execute<'a>(&'a self, _: Arc<Value>, _: ToolContext) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async { Ok(ToolResult::text("ran")) })
    }
}

async fn run_moody(effect: fn(usize) -> Effect) -> rheon_testkit::ScriptedRun {
    let calls = Turn::new().tool_call("moody", json!({})).tool_call("echo", json!({ "text": "hi" }));
    let moody = Moody { asked: AtomicUsize::new(0), effect };
    scripted(Scenario::new().turn(calls).turn("Done.")).tool(moody).tool(echo()).run("go").await
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_called_by_the_name_it_was_built_with() {
    let ran = run_moody(|_| Effect::Pure).await;
    assert_eq!(ran.output().end, RunEnd::Completed);
    assert_eq!(
        ran.trace.count(|event| matches!(event, AgentEvent::Tool(ToolEvent::End { is_error: false, .. }))),
        2
    );
}

#[test]
fn a_tool_that_blocks_its_thread_meets_its_time_limit() {
    let (release, wait) = mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let blocking = FnTool::new("blocking", move |_, _| {
        let wait = Arc::clone(&wait);
        async move {
            wait.lock().unwrap().recv().ok();
            Ok(ToolResult::text("late"))
        }
    });
    let (ended, trace) = or_deadlock(move || {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        let outcome = runtime.block_on(async {
            let (agent, trace, _) =
                scripted(Scenario::new().turn(Turn::call("blocking", json!({}))).turn("I see."))
                    .tool(blocking)
                    .with(|builder| builder.tool_timeout(Duration::from_millis(20)))
                    .build();
            let ended = tokio::time::timeout(Duration::from_secs(100), agent.run("go")).await.is_ok();
            (ended, trace)
        });
        release.send(()).unwrap();
        outcome
    });
    assert!(ended, "the tool was given 20 ms and held the run for 100 s: {}", trace.only(&["tool."]));
}

/// Is told of every tool that ended, and never returns.
struct Stuck;

impl Hook for Stuck {
    fn after_tool<'a>(&'a self, _: &'a ToolCall, _: &'a ToolResult, _: bool) -> Answer<'a, Amendment> {
        Answer::later(std::future::pending())
    }
}

/// How long a run with twenty of these tools lives on after it is cancelled.
async fn time_to_stop(tool: FnTool, hook: impl Hook + 'static) -> (Duration, Trace) {
    let mut calls = Turn::new();
    for _ in 0..20 {
        calls = calls.tool_call("slow", json!({}));
    }
    let (agent, trace, _) =
        scripted(Scenario::new().turn(calls)).tool(tool).with(|builder| builder.hook(hook)).build();
    let clock = TestClock::default();
    let mut stream = agent.run_stream("go").unwrap();
    let mut started = 0;
    while let Some(event) = stream.next().await {
        started += usize::from(event.kind.name() == "tool.start");
        if started == 20 {
            stream.cancel();
        }
    }
    trace.assert_order();
    (clock.elapsed(), trace)
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_hangs_takes_one_grace_of_a_cancelled_run_and_not_one_per_tool() {
    let slow = FnTool::new("slow", |_, context| async move {
        context.cancel.cancelled().await;
        Ok(ToolResult::text("cleaned up"))
    });
    let (elapsed, _) = time_to_stop(slow, Stuck).await;
    assert!(elapsed <= Duration::from_millis(600), "a cancelled run lived on for {elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn tools_that_end_one_by_one_share_the_grace_of_a_cancelled_run() {
    let nth = Arc::new(AtomicUsize::new(1));
    let slow = FnTool::new("slow", move |_, context| {
        let nth = u32::try_from(nth.fetch_add(1, Ordering::SeqCst)).unwrap();
        async move {
            context.cancel.cancelled().await;
            tokio::time::sleep(Duration::from_millis(200) * nth).await;
            Ok(ToolResult::text("cleaned up"))
        }
    });
    let (elapsed, _) = time_to_stop(slow, ClosureHook::new()).await;
    assert!(elapsed <= Duration::from_millis(600), "a cancelled run lived on for {elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_model_wrote_is_quoted_back_only_in_part() {
    let long = "x".repeat(1_000_000);
    let strict = FnTool::new("strict", |_, _| async { Ok(ToolResult::default()) })
        .schema(json!({ "type": "object", "additionalProperties": { "type": "string" } }));
    let mut wrong = serde_json::Map::new();
    wrong.insert(long.clone(), json!(7));
    let calls = Turn::new().tool_call_with_id("a", "strict", Value::Object(wrong)).tool_call_with_id(
        "b",
        long.clone(),
        json!({}),
    );
    let ran = scripted(Scenario::new().turn(calls).turn("Ok.")).tool(strict).run("go").await;
    let lengths: Vec<usize> =
        ran.sent(1).lines().filter(|line| line.starts_with("toolResult")).map(str::len).collect();
    assert!(lengths.len() == 2 && lengths.iter().all(|len| *len < 3_000), "{lengths:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_tool_returns_is_bounded_before_it_enters_the_conversation() {
    const MEBIBYTE: usize = 1024 * 1024;
    let huge = FnTool::new("huge", |_, _| async { Ok(ToolResult::text("x".repeat(64 * MEBIBYTE))) });
    let calls = Turn::call("huge", json!({}));
    let (agent, ..) = scripted(Scenario::new().turn(calls).turn("Ok.")).tool(huge).build();
    // Not replayed: a debug build takes a minute to write so much JSON so often.
    agent.run("go").await.unwrap();
    let history = agent.messages();
    let longest = history.for_model().map(|message| message.text().len()).max().unwrap();
    assert!(longest <= 32 * MEBIBYTE, "a message of {} MiB", longest / MEBIBYTE);
}

#[test]
fn a_schema_that_points_outside_is_refused_and_read_from_nowhere() {
    for target in ["https://example.invalid/schema.json", "file:///etc/passwd", "other.json"] {
        let tool: Arc<dyn Tool> = Arc::new(echo().schema(json!({ "$ref": target })));
        assert!(Toolbox::new(vec![tool]).is_err(), "{target}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_agent_can_be_reached_from_inside_its_own_tool() {
    let slot: Arc<std::sync::OnceLock<Agent>> = Arc::default();
    let inside = Arc::clone(&slot);
    let tool = FnTool::new("inside", move |_, _| {
        let agent = inside.get().unwrap().clone();
        async move {
            let seen = agent.messages().len();
            let busy = agent.run("me again").await.is_err();
            agent.steer("said from inside");
            Ok(ToolResult::text(format!("{seen} {busy} {}", agent.is_running())))
        }
    });
    let (agent, trace, _) =
        scripted(Scenario::new().turn(Turn::call("inside", json!({}))).turn("Done.")).tool(tool).build();
    slot.set(agent.clone()).ok().unwrap();
    agent.run("go").await.unwrap();
    trace.assert_order();
    expect_test::expect![[r#"
        message.end user "go"
        message.end toolResult call_1_0 "2 true true"
        message.end user "said from inside""#]]
    .assert_eq(&trace.only(&["message.end user", "message.end toolResult"]));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_loop_cancels_leftover_tool_tasks() {
    use rheon_types::{AgentMessage, Timestamp};
    let told = Arc::new(Notify::new());
    let parts = crate::adversarial_drop::Parts::new(
        Scenario::new().turn(Turn::call("watched", json!({}))),
        vec![Arc::new(watched(&told))],
    );
    let cancel = CancellationToken::new();
    let mut context = rheon_agent::AgentContext::new("a".into());
    let prompts = vec![AgentMessage::user("go", Timestamp::default())];
    let run = rheon_agent::agent_loop(prompts, &mut context, &parts.config, &parts.log, &cancel);
    assert!(tokio::time::timeout(Duration::from_secs(1), run).await.is_err());
    parts.trace.assert_order();
    assert!(is_logged(&told).await, "the token of a tool that was dropped never fired");
}
