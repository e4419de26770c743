//! How long the prompt is: everything counts, reports correct the estimate, refusals teach the window, and the service is asked
//! only where its answer can change anything.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rheon_agent::{
    AgentBuilder, BudgetPool, Caps, SummarySource, TieredCompaction, TokenCounter, WindowSettings,
};
use rheon_testkit::{
    FnTool, Scenario, ScriptedProvider, ScriptedRun, TestClock, Trace, Turn, echo, scripted,
};
use rheon_types::event::Meter;
use rheon_types::{
    AgentEvent, Answer, ChunkStream, ContextEvent, Effect, Provider, ProviderError, ProviderErrorKind,
    Reminder, ReminderContext, Request, RunEnd, RunFailure, ToolResult, Usage,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// A tool whose results have about a thousand tokens.
fn big() -> FnTool {
    let text: String = (0..370).map(|n| format!("line {n}\n")).collect();
    FnTool::new("big", move |_, _| std::future::ready(Ok(ToolResult::text(text.clone()))))
        .effect(Effect::Pure)
}

fn calls(n: usize) -> Scenario {
    (0..n).fold(Scenario::new(), |scenario, _| scenario.turn(Turn::call("big", json!({}))))
}

fn window(tokens: u64) -> impl Fn(AgentBuilder) -> AgentBuilder {
    move |builder| {
        let window = WindowSettings { tokens_max: Some(tokens), ..WindowSettings::default() };
        builder.window(window).max_tokens(100).max_turns(500)
    }
}

/// What the events say of the prompt: its tokens and the window's.
fn used(trace: &Trace) -> Vec<(u64, u64)> {
    let events = trace.events().into_iter().filter_map(|event| match event.kind {
        AgentEvent::Context(ContextEvent::Usage { tokens_used, tokens_window }) => {
            Some((tokens_used, tokens_window))
        }
        _ => None,
    });
    events.collect()
}

fn count(trace: &Trace, name: &str) -> usize {
    trace.events().iter().filter(|event| event.kind.name() == name).count()
}

fn too_long() -> Turn {
    Turn::fail(ProviderError::new(ProviderErrorKind::ContextOverflow, "exceeds the available context size"))
}

/// The tokens of a request, as a service counts that is by a fifth dearer than our estimate.
fn real(request: &Request) -> u64 {
    TokenCounter::default().request(request) * 12 / 10
}

#[tokio::test(start_paused = true)]
async fn the_system_prompt_tools_and_reminders_count_as_prompt() {
    struct Remark;
    impl Reminder for Remark {
        fn name(&self) -> &str {
            "remark"
        }
        fn remind(&self, _situation: &ReminderContext<'_>) -> Option<String> {
            Some("Mind the gap. ".repeat(30))
        }
    }
    let with = |builder: AgentBuilder| {
        window(100_000)(builder).system_prompt("Be careful. ".repeat(50)).reminder(Arc::new(Remark))
    };
    let ran = scripted(calls(2).turn("done")).tool(big()).with(with).run("go").await;
    let counter = TokenCounter::default();
    let sizes = ran.provider.requests().into_iter().map(|request| {
        let reminder = request.reminder.as_deref().map_or(0, |text| counter.text(text));
        (counter.request(&request) + reminder, 100_000)
    });
    assert_eq!(used(&ran.trace), sizes.collect::<Vec<_>>());
    assert!(used(&ran.trace)[0].0 > 150 + 90);
}

#[tokio::test(start_paused = true)]
async fn what_a_service_reports_corrects_the_estimate() {
    let scenario = Scenario::new().respond(|request| {
        let usage = Usage { input: real(request) - 500, cache_read: 500, output: 10, ..Usage::default() };
        let turn = if request.messages.len() < 12 { Turn::call("big", json!({})) } else { Turn::say("done") };
        Some(turn.usage(usage))
    });
    let ran = scripted(scenario).tool(big()).with(window(100_000)).run("go".repeat(500)).await;
    let requests = ran.provider.requests();
    for ((used, _), request) in used(&ran.trace).into_iter().zip(&requests).skip(1) {
        assert!(used.abs_diff(real(request)) <= 2, "{used} {}", real(request));
    }
    // The next run of the same agent knows it too.
    ran.agent.run("again").await.unwrap();
    let (used, _) = used(&ran.trace).into_iter().last().unwrap();
    assert!(used.abs_diff(real(ran.provider.requests().last().unwrap())) <= 2);
}

/// A server with a window of its own that nobody declared.
fn small(tokens: u64) -> Scenario {
    Scenario::new().respond(move |request| {
        if TokenCounter::default().request(request) > tokens {
            return Some(too_long());
        }
        Some(if request.messages.len() > 90 { Turn::say("done") } else { Turn::call("big", json!({})) })
    })
}

#[tokio::test(start_paused = true)]
async fn a_small_undeclared_window_is_learned() {
    let with = |builder: AgentBuilder| {
        let facts = TieredCompaction { summary: SummarySource::Facts, ..TieredCompaction::default() };
        builder.compaction(facts).max_tokens(500).max_turns(60)
    };
    let ran = scripted(small(8_000)).tool(big()).with(with).run("go").await;
    assert!(matches!(ran.output().end, RunEnd::Limit { .. }), "{:?}", ran.output().end);
    assert_eq!(ran.provider.requests().len(), 60 + 1, "one refusal is enough");
    let learnt: Vec<u64> = used(&ran.trace).into_iter().map(|(_, window)| window).collect();
    assert!(learnt.iter().all(|window| (6_000..9_000).contains(window)), "{learnt:?}");
    assert!(count(&ran.trace, "compaction.end") > 5);
    // What was learnt holds for the next run.
    ran.agent.run("go on").await.unwrap();
    assert_eq!(ran.provider.requests().len(), 60 + 1 + 60);
    ran.trace.assert_order();
}

#[tokio::test(start_paused = true)]
async fn a_service_that_rejects_everything_ends_the_run_with_its_message() {
    let scenario = calls(12).turn(too_long().repeat());
    let ran = scripted(scenario).tool(big()).with(window(100_000)).run("go").await;
    let RunEnd::Failed { failure: RunFailure::Window { message } } = &ran.output().end else {
        panic!("{:?}", ran.output().end)
    };
    assert!(message.contains("exceeds the available context size"), "{message}");
    // Each refusal but the last is followed by a request for a summary, which is refused as well.
    let refused = ran.provider.requests().len() - 12;
    assert!((2..=7).contains(&refused), "{refused}");
    assert!(count(&ran.trace, "compaction.end") <= 3);
}

/// A service that counts prompts, and how often it was asked.
struct Counts {
    inner: ScriptedProvider,
    answer: fn(&Request) -> Answer<'static, Option<u64>>,
    asked: Mutex<Vec<u64>>,
}

impl Counts {
    fn new(scenario: Scenario, answer: fn(&Request) -> Answer<'static, Option<u64>>) -> Arc<Self> {
        Arc::new(Self { inner: ScriptedProvider::new(scenario), answer, asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<u64> {
        self.asked.lock().unwrap().clone()
    }
}

impl Provider for Counts {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream {
        self.inner.stream(request, cancel)
    }

    fn count_tokens<'a>(&'a self, request: &'a Request) -> Answer<'a, Option<u64>> {
        self.asked.lock().unwrap().push(TokenCounter::default().request(request));
        (self.answer)(request)
    }
}

async fn run(provider: &Arc<Counts>, tokens: u64) -> ScriptedRun {
    let shared = Arc::clone(provider) as Arc<dyn Provider>;
    let with = |builder: AgentBuilder| window(tokens)(builder).provider(shared);
    scripted(Scenario::new()).tool(big()).with(with).run("go").await
}

#[tokio::test(start_paused = true)]
async fn the_service_counts_only_near_a_threshold_and_its_count_is_used() {
    let provider = Counts::new(calls(19).turn("done"), |request| Answer::Now(Some(real(request))));
    let ran = run(&provider, 40_000).await;
    let asked = provider.asked();
    assert!((1..=4).contains(&asked.len()), "{asked:?}");
    // Near 75 % and 90 % of the room, as far as an estimate may be off.
    assert!(asked.iter().all(|size| *size > 39_900 * 6 / 10), "{asked:?}");
    let used = used(&ran.trace);
    assert!(asked.iter().all(|size| used.contains(&(size * 12 / 10, 40_000))), "{used:?} {asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_does_not_count_is_asked_once() {
    let provider = Counts::new(calls(30).turn("done"), |_| Answer::Now(None));
    let ran = run(&provider, 40_000).await;
    assert_eq!((provider.asked().len(), &ran.output().end), (1, &RunEnd::Completed));
}

#[tokio::test(start_paused = true)]
async fn nonsense_counts_change_nothing() {
    let plain = run(&Counts::new(calls(30).turn("done"), |_| Answer::Now(None)), 40_000).await;
    for nonsense in [|_: &Request| Answer::Now(Some(0)), |_: &Request| Answer::Now(Some(u64::MAX))] {
        let ran = run(&Counts::new(calls(30).turn("done"), nonsense), 40_000).await;
        assert_eq!(used(&ran.trace), used(&plain.trace));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hanging_count_times_out_and_can_be_canceled() {
    let never = |_: &Request| Answer::later(std::future::pending());
    let provider = Counts::new(calls(30).turn("done"), never);
    let ran = run(&provider, 40_000).await;
    assert_eq!((provider.asked().len(), &ran.output().end), (1, &RunEnd::Completed));

    let provider = Counts::new(calls(30), never);
    let shared = Arc::clone(&provider) as Arc<dyn Provider>;
    let with = |builder: AgentBuilder| window(40_000)(builder).provider(shared);
    let (agent, trace, _) = scripted(Scenario::new()).tool(big()).with(with).build();
    let handle = agent.clone();
    let stopping = async {
        while provider.asked().is_empty() {
            tokio::task::yield_now().await;
        }
        handle.abort();
    };
    let before = tokio::time::Instant::now();
    let (output, ()) = tokio::join!(agent.run("go"), stopping);
    assert_eq!(output.unwrap().end, RunEnd::Aborted);
    assert!(before.elapsed() < Duration::from_secs(1), "time is paused: nothing was waited for");
    trace.assert_order();
}

#[tokio::test(start_paused = true)]
async fn a_budget_and_the_limit_of_a_run_count_the_same_tokens_once() {
    let usage = |input| Usage { input, output: 100, ..Usage::default() };
    let turn = || Turn::call("big", json!({})).usage(usage(1_000));
    // A refusal, the summary that it makes necessary, and the call that then goes through.
    let scenario = (0..5).fold(Scenario::new(), |scenario, _| scenario.turn(turn()));
    let scenario = scenario.turn(too_long()).turn(Turn::say("Summary.").usage(usage(3_000)));
    let scenario = scenario.turn(turn()).turn(Turn::say("done").usage(usage(2_000)));
    let pool =
        BudgetPool::new(Caps { tokens: Some(500_000), ..Caps::default() }, Arc::new(TestClock::default()));
    let budget = pool.clone();
    let with = |builder: AgentBuilder| builder.budget(budget).max_tokens(500);
    let ran = scripted(scenario).tool(big()).with(with).run("go").await;
    assert_eq!((ran.output().text.as_str(), count(&ran.trace, "compaction.end")), ("done", 1));
    let total = 6 * 1_100 + 3_100 + 2_100;
    assert_eq!(ran.output().usage.total(), total);
    assert_eq!(pool.ledger().tokens, Meter { spent: total, reserved: 0, cap: Some(500_000) });
}

#[tokio::test(start_paused = true)]
async fn reminders_are_asked_once_in_a_turn() {
    struct Asked(Arc<AtomicU64>);
    impl Reminder for Asked {
        fn name(&self) -> &str {
            "asked"
        }
        fn remind(&self, _situation: &ReminderContext<'_>) -> Option<String> {
            self.0.fetch_add(1, Ordering::Relaxed);
            None
        }
    }
    let asked = Arc::new(AtomicU64::new(0));
    let reminder = Asked(Arc::clone(&asked));
    let scenario = Scenario::new().turn(Turn::call("echo", json!({ "text": "hi" }))).turn("done");
    scripted(scenario).tool(echo()).with(|builder| builder.reminder(Arc::new(reminder))).run("go").await;
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn a_summary_of_which_nothing_is_reported_is_not_free() {
    let scenario = calls(5).turn(too_long()).turn("Summary.").turn("done");
    let ran = scripted(scenario).tool(big()).run("go").await;
    let taken = ran.trace.events().into_iter().find_map(|event| match event.kind {
        AgentEvent::Context(ContextEvent::CompactionEnd { usage, .. }) => {
            Some((usage.input > 1_000, usage.output))
        }
        _ => None,
    });
    assert_eq!(taken, Some((true, TokenCounter::default().text("Summary."))));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_describes_nothing_has_the_cautious_window() {
    let huge: String = "word ".repeat(40_000);
    let huge = FnTool::new("big", move |_, _| std::future::ready(Ok(ToolResult::text(huge.clone()))));
    let scenario = Scenario::new().respond(|request| {
        let tokens = TokenCounter::default().request(request);
        assert!(tokens < rheon_types::ModelInfo::CONTEXT_TOKENS_UNKNOWN, "{tokens}");
        Some(if request.messages.len() > 12 { Turn::say("done") } else { Turn::call("big", json!({})) })
    });
    let with = |builder: AgentBuilder| {
        let facts = TieredCompaction { summary: SummarySource::Facts, ..TieredCompaction::default() };
        builder.compaction(facts).max_turns(8)
    };
    let ran = scripted(scenario).tool(huge.effect(Effect::Pure)).with(with).run("go").await;
    assert!(count(&ran.trace, "compaction.start") > 0, "{}", ran.trace.text());
    // Nobody declared that window, so it is not shown as a fact.
    assert_eq!(used(&ran.trace), []);
}
