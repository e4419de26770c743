//! A run may be dropped or cancelled at any point at which it waits: it ends in order, and the conversation stays whole.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use rheon_agent::{
    AgentContext, ClosureHook, EventLog, Observers, RunConfig, Settings, ToolExecution, Toolbox, agent_loop,
};
use rheon_testkit::{
    CountingRandom, FnTool, Scenario, ScriptedProvider, TestClock, Trace, Turn, echo, scripted,
};
use rheon_types::event::{PermissionDecision, Subject};
use rheon_types::{
    AgentEvent, AgentMessage, AllowAll, Amendment, Answer, ApprovalEvent, Effect, FilterVerdict, Flow,
    History, Hook, InputFilter, Message, Permit, ProviderError, ProviderErrorKind, Timestamp, ToolCall,
    ToolResult, unanswered_calls,
};
use serde_json::json;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Waits everywhere it can: in the stream, between tries, in tools, in turn.
fn scenario() -> Scenario {
    let pause = Duration::from_millis(10);
    Scenario::new()
        .turn(Turn::new().delay(pause).text("one two").delay(pause).cut())
        .turn(Turn::fail(ProviderError::new(ProviderErrorKind::Network, "gone")))
        .turn(
            Turn::new()
                .delay(pause)
                .thinking("hm")
                .tool_call_with_id("a", "slow", json!({}))
                .delay(pause)
                .tool_call_with_id("b", "slow", json!({}))
                .tool_call_with_id("c", "echo", json!({ "text": "hi" }))
                .tool_call_with_id("d", "asks", json!({})),
        )
        .turn(Turn::new().delay(pause).text("done"))
        .turn("really done")
}

fn slow() -> FnTool {
    FnTool::new("slow", |_, context| async move {
        context.progress("begun");
        tokio::time::sleep(Duration::from_millis(10)).await;
        context.update(ToolResult::text("half"));
        tokio::time::sleep(Duration::from_millis(10)).await;
        Ok(ToolResult::text("slowly"))
    })
    .effect(Effect::Unsafe)
}

/// A tool that asks the user.
fn asks() -> FnTool {
    FnTool::new("asks", |_, context| async move {
        let answer = context.ask(Subject::Questions { questions: Vec::new() }, "it wants to know").await;
        Ok(ToolResult::text(if answer.is_some() { "answered" } else { "nobody" }))
    })
}

/// Takes a moment wherever it is asked, and keeps the run from stopping once.
struct Late;

fn late<'a, T: Send + 'a>(value: T) -> Answer<'a, T> {
    Answer::later(async move {
        tokio::time::sleep(Duration::from_millis(1)).await;
        value
    })
}

impl Hook for Late {
    fn permit_tool<'a>(&'a self, _: &'a ToolCall) -> Answer<'a, Permit> {
        late(Permit { context: vec!["mind the gap".into()], ..Permit::default() })
    }

    fn after_tool<'a>(&'a self, _: &'a ToolCall, _: &'a ToolResult, _: bool) -> Answer<'a, Amendment> {
        late(Amendment { context: vec!["and the step".into()], ..Amendment::default() })
    }

    fn before_stop<'a>(&'a self, _: &'a History, vetoes: u32) -> Answer<'a, Flow> {
        late(if vetoes == 0 { Flow::Veto("look again".into()) } else { Flow::Continue })
    }
}

impl InputFilter for Late {
    fn check<'a>(&'a self, _: &'a Message) -> Answer<'a, FilterVerdict> {
        late(FilterVerdict::Add("said late".into()))
    }
}

struct Parts {
    config: Arc<RunConfig>,
    log: EventLog,
    trace: Trace,
}

fn parts(execution: ToolExecution) -> Parts {
    let trace = Trace::new();
    let observer = trace.clone();
    let clock = Arc::new(TestClock::default());
    let hook: Arc<dyn Hook> = Arc::new(ClosureHook::new());
    let config = Arc::new(RunConfig {
        gate: Arc::new(AllowAll),
        hooks: vec![hook, Arc::new(Late)],
        filters: vec![Arc::new(Late)],
        tools: Toolbox::new(vec![Arc::new(slow()), Arc::new(echo()), Arc::new(asks())]).unwrap(),
        clock: Arc::clone(&clock) as Arc<dyn rheon_types::Clock>,
        random: Arc::new(CountingRandom::default()),
        settings: Settings { tool_execution: execution, ..Settings::default() },
        ..RunConfig::new(Arc::new(ScriptedProvider::new(scenario())))
    });
    let observers = Observers::default().on_event(move |event| observer.observe(event));
    Parts { config, log: EventLog::new("s".into(), clock, None, observers), trace }
}

/// Polls a run `polls` times and then drops it. Says whether it was over by then.
async fn drop_after(execution: ToolExecution, polls: usize) -> bool {
    let parts = parts(execution);
    let mut context = AgentContext::new("a".into());
    let cancel = CancellationToken::new();
    let over = {
        let prompts = vec![AgentMessage::user("go", Timestamp::default())];
        let mut run = pin!(agent_loop(prompts, &mut context, &parts.config, &parts.log, &cancel));
        let mut left = polls;
        std::future::poll_fn(|waker| {
            if left == 0 {
                return Poll::Ready(false);
            }
            left -= 1;
            run.as_mut().poll(waker).map(|_| true)
        })
        .await
    };
    parts.trace.assert_order();
    assert!(unanswered_calls(&context.history).is_empty(), "{:#?}", context.history);
    let last = parts.trace.events().last().map(|event| event.kind.name().to_owned());
    assert_eq!(last.as_deref(), (polls > 0).then_some("agent.end"), "polls {polls}");
    over
}

#[tokio::test(start_paused = true)]
async fn a_run_dropped_at_any_point_ends_in_order() {
    for execution in [ToolExecution::Parallel, ToolExecution::Sequential] {
        let mut polls = 0;
        while !drop_after(execution, polls).await {
            polls += 1;
        }
        assert!(polls >= 8, "the run waited only {polls} times");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_cancelled_after_any_event_ends_in_order_and_the_next_one_works() {
    let mut events = 1;
    loop {
        let (agent, trace, _) = scripted(scenario().turn("next").turn("next").turn("next").turn("next"))
            .tool(slow())
            .tool(echo())
            .tool(asks())
            .with(|builder| builder.hook(Late).input_filter(Late))
            .build();
        let mut stream = agent.run_stream("go").unwrap();
        let mut seen = 0;
        while let Some(event) = stream.next().await {
            seen += 1;
            if seen == events {
                stream.cancel();
            } else if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
                // A run that was cancelled just before has withdrawn its question.
                stream.respond_permission(&request.id, PermissionDecision::Allow).ok();
            }
        }
        trace.assert_order();
        assert!(unanswered_calls(&agent.messages()).is_empty());
        if seen < events {
            break;
        }
        agent.run("go on").await.unwrap();
        trace.assert_order();
        events += 1;
    }
    assert!(events > 30, "the run had only {events} events");
}
