//! A run dropped, cancelled or left without its runtime at every point at which it waits, with every seam waiting.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rheon_agent::{
    Agent, AgentContext, AgentError, Answerer, Control, EventLog, Observers, QueueMode, RetryConfig,
    RunConfig, Settings, ToolExecution, Toolbox, agent_loop,
};
use rheon_testkit::{
    CountingRandom, FnTool, InMemoryStore, Scenario, ScriptedProvider, TestClock, Trace, Turn, echo, scripted,
};
use rheon_types::event::PermissionDecision;
use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, AllowAll, Amendment, Answer, ApprovalEvent, AskFirst, Clock,
    Effect, Event, Flow, Gate, GateRequest, History, Hook, Judgement, ProviderError, ProviderErrorKind,
    RunEvent, Store, StoreError, Timestamp, Tool, ToolCall, ToolResult, Usage, unanswered_calls,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// What a loop of our own needs.
pub(crate) struct Parts {
    pub(crate) config: Arc<RunConfig>,
    pub(crate) log: EventLog,
    pub(crate) trace: Trace,
}

impl Parts {
    pub(crate) fn new(scenario: Scenario, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self::with(scenario, tools, None, |config| config)
    }

    fn with(
        scenario: Scenario,
        tools: Vec<Arc<dyn Tool>>,
        store: Option<Arc<dyn Store>>,
        change: impl FnOnce(RunConfig) -> RunConfig,
    ) -> Self {
        let trace = Trace::new();
        let observer = trace.clone();
        let clock = Arc::new(TestClock::default());
        let config = RunConfig {
            gate: Arc::new(AllowAll),
            tools: Toolbox::new(tools).unwrap(),
            control: Control::new(QueueMode::OneAtATime, QueueMode::OneAtATime),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            random: Arc::new(CountingRandom::default()),
            ..RunConfig::new(Arc::new(ScriptedProvider::new(scenario)))
        };
        let observers = Observers::default().on_event(move |event| observer.observe(event));
        let log = EventLog::new("s".into(), clock, store, observers);
        Self { config: Arc::new(change(config)), log, trace }
    }
}

async fn twice() {
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
}

/// Waits at every point of a run.
struct SlowHook;

impl Hook for SlowHook {
    fn before_run<'a>(&'a self, _: &'a History, _: usize) -> Answer<'a, Flow> {
        go_on_later()
    }

    fn after_run<'a>(&'a self, _: &'a AgentOutput) -> Answer<'a, ()> {
        Answer::later(twice())
    }

    fn before_turn<'a>(&'a self, _: &'a History, _: u32) -> Answer<'a, Flow> {
        go_on_later()
    }

    fn after_turn<'a>(&'a self, _: &'a History, _: &'a Usage) -> Answer<'a, ()> {
        Answer::later(twice())
    }

    fn before_tool<'a>(&'a self, _: &'a ToolCall) -> Answer<'a, Flow> {
        go_on_later()
    }

    fn after_tool<'a>(&'a self, _: &'a ToolCall, _: &'a ToolResult, _: bool) -> Answer<'a, Amendment> {
        Answer::later(async {
            twice().await;
            Amendment::default()
        })
    }
}

fn go_on_later<'a>() -> Answer<'a, Flow> {
    Answer::later(async {
        twice().await;
        Flow::Continue
    })
}

/// Waits before it asks about whatever changes something.
struct SlowGate;

impl Gate for SlowGate {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, Judgement> {
        Answer::later(async move {
            twice().await;
            AskFirst.check(request).get().await
        })
    }
}

/// Waits in every sync.
#[derive(Default)]
struct SlowStore(InMemoryStore);

impl Store for SlowStore {
    fn append(&self, event: &Event) -> Result<(), StoreError> {
        self.0.append(event)
    }

    fn sync(&self) -> Answer<'_, Result<(), StoreError>> {
        Answer::later(async {
            twice().await;
            self.0.sync().get().await
        })
    }
}

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
                .tool_call_with_id("b", "slow", json!({}))
                .tool_call_with_id("c", "echo", json!({ "text": "hi" })),
        )
        .turn(Turn::new().delay(pause).text("done"))
        .turn(Turn::say("next").repeat())
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

fn soon() -> RetryConfig {
    RetryConfig { initial_delay: Duration::from_millis(5), ..RetryConfig::default() }
}

fn slow_parts(execution: ToolExecution, store: &Arc<SlowStore>) -> Parts {
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(slow()), Arc::new(echo())];
    let store = Some(Arc::clone(store) as Arc<dyn Store>);
    Parts::with(scenario(), tools, store, |config| RunConfig {
        gate: Arc::new(SlowGate),
        hooks: vec![Arc::new(SlowHook), Arc::new(SlowHook)],
        settings: Settings { tool_execution: execution, retry: soon(), ..Settings::default() },
        ..config
    })
}

/// Says yes to the first question and no to the second, a while after they were asked.
async fn answer(trace: Trace, answerer: Answerer) {
    let mut answered = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let asked: Vec<_> = trace
            .events()
            .into_iter()
            .filter_map(|event| match event.kind {
                AgentEvent::Approval(ApprovalEvent::Required { request }) => Some(request.id.clone()),
                _ => None,
            })
            .collect();
        if let Some(id) = asked.get(answered) {
            let decision =
                if answered % 2 == 0 { PermissionDecision::Allow } else { PermissionDecision::Deny };
            answerer.respond(id, decision).ok();
            answered += 1;
        }
    }
}

/// Polls a run `polls` times and then drops it. Says whether it was over by then.
async fn drop_after(execution: ToolExecution, polls: usize) -> bool {
    let store = Arc::new(SlowStore::default());
    let parts = slow_parts(execution, &store);
    let answers = tokio::spawn(answer(parts.trace.clone(), parts.config.control.answerer()));
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
    let more = vec![AgentMessage::user("go on", Timestamp::default())];
    agent_loop(more, &mut context, &parts.config, &parts.log, &cancel).await;
    answers.abort();
    parts.trace.assert_order();
    stored_is_shown(&store, &parts.trace);
    over
}

/// The store holds exactly the durable events that were shown.
fn stored_is_shown(store: &SlowStore, trace: &Trace) {
    let shown: Vec<Event> = trace.events().into_iter().filter(|event| event.kind.is_durable()).collect();
    assert_eq!(store.0.events(), shown);
}

#[tokio::test(start_paused = true)]
async fn a_run_dropped_while_any_seam_waits_ends_in_order_and_the_next_one_works() {
    let two = ToolExecution::Batched(2.try_into().unwrap());
    for execution in [ToolExecution::Parallel, ToolExecution::Sequential, two] {
        let mut polls = 0;
        while !drop_after(execution, polls).await {
            polls += 1;
            assert!(polls < 10_000, "the run never ends by itself");
        }
        assert!(polls >= 40, "the run waited only {polls} times");
    }
}

fn slow_agent(store: &Arc<SlowStore>) -> (Agent, Trace) {
    let store = Arc::clone(store) as Arc<dyn Store>;
    let (agent, trace, _) = scripted(scenario())
        .tool(slow())
        .tool(echo())
        .with(|builder| builder.permission_policy(SlowGate).hook(SlowHook).hook(SlowHook).store(store))
        .with(|builder| builder.retry(soon()))
        .build();
    (agent, trace)
}

#[tokio::test(start_paused = true)]
async fn a_run_cancelled_after_any_event_while_any_seam_waits_ends_in_order() {
    let mut events = 1;
    loop {
        let store = Arc::new(SlowStore::default());
        let (agent, trace) = slow_agent(&store);
        let mut stream = agent.run_stream("go").unwrap();
        let mut seen = 0;
        while let Some(event) = stream.next().await {
            if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
                stream.respond_permission(&request.id, PermissionDecision::Allow).ok();
            }
            seen += 1;
            if seen == events {
                stream.cancel();
            }
        }
        trace.assert_order();
        assert!(unanswered_calls(&agent.messages()).is_empty());
        if seen < events {
            break;
        }
        drop(stream);
        agent.run("go on").await.unwrap();
        trace.assert_order();
        stored_is_shown(&store, &trace);
        events += 1;
    }
    assert!(events > 35, "the run had only {events} events");
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

/// Stops the runtime of a run after its tasks had `ticks` turns. Says whether the run was over by then.
fn stop_runtime_after(ticks: usize) -> bool {
    let store = Arc::new(SlowStore::default());
    let first = runtime();
    let (agent, trace) = first.block_on(async { slow_agent(&store) });
    let stream = first.block_on(async {
        let stream = agent.run_stream("go").unwrap();
        tokio::spawn(answer(trace.clone(), agent.answerer()));
        for _ in 0..ticks {
            tokio::task::yield_now().await;
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        stream
    });
    let over = !agent.is_running();
    drop(first);
    assert!(!agent.is_running(), "{ticks} ticks: the agent is busy for ever");
    trace.assert_order();
    let started = trace.count(|event| matches!(event, AgentEvent::Run(RunEvent::Start { .. })));
    assert!(crate::adversarial::ends(&trace) >= started, "{ticks} ticks: the run did not end");
    let second = runtime();
    second.block_on(async {
        // Whoever still holds the stream sees its end.
        let lost = tokio::time::timeout(Duration::from_secs(5), stream.finish()).await;
        let lost = lost.unwrap_or_else(|_| panic!("{ticks} ticks: the stream never ends"));
        assert!(over || matches!(lost, Err(AgentError::Lost(_))), "{ticks} ticks: {lost:?}");
        agent.run("go on").await.unwrap();
    });
    trace.assert_order();
    assert!(unanswered_calls(&agent.messages()).is_empty());
    over
}

#[test]
fn a_runtime_stopped_at_any_point_leaves_an_agent_that_another_runtime_can_use() {
    let mut ticks = 1;
    while !stop_runtime_after(ticks) {
        ticks += 1;
        assert!(ticks < 10_000, "the run never ends by itself");
    }
    assert!(ticks >= 20, "the run took only {ticks} ticks");
}

#[test]
fn a_runtime_stopped_before_the_first_poll_leaves_an_agent_that_another_runtime_can_use() {
    stop_runtime_after(0);
}
