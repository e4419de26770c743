//! Replay of runs whose window was made shorter: before a call, after a refusal, because somebody asked, and what goes on from
//! there.

use std::sync::Arc;

use rheon_agent::replay::{ReplayError, ReplayOutcome, ReplayUntil, replay};
use rheon_agent::{
    AgentBuilder, CompactionStrategy, ExecutionLimits, Summarizer, WindowSettings, WindowView,
};
use rheon_testkit::{FnTool, Scenario, ScriptedProvider, Trace, Turn, scripted};
use rheon_types::event::CompactionTrigger;
use rheon_types::{
    AgentEvent, Answer, ChunkStream, ContextEvent, ContinuationKind, CutKind, Effect, Event, Flow, Hook,
    HookPoint, LimitKind, ModelInfo, Prices, Provider, ProviderError, ProviderErrorKind, Rates, Reminder,
    ReminderContext, Request, RunEnd, RunEvent, RunFailure, ToolResult, Usage, WindowCut,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

fn big(bytes: usize) -> FnTool {
    let text: String = (0..).map(|n| format!("line {n} ")).take(bytes / 8).collect();
    FnTool::new("big", move |_, _| std::future::ready(Ok(ToolResult::text(text.clone()))))
        .effect(Effect::Pure)
}

fn window(tokens: u64) -> impl FnOnce(AgentBuilder) -> AgentBuilder {
    move |builder| {
        let window = WindowSettings { tokens_max: Some(tokens), ..WindowSettings::default() };
        builder.window(window).max_tokens(100).max_turns(500).system_prompt("Be brief. ".repeat(40))
    }
}

fn calls(n: usize) -> Scenario {
    (0..n).fold(Scenario::new(), |scenario, _| scenario.turn(Turn::call("big", json!({}))))
}

fn overflow() -> ProviderError {
    ProviderError::new(ProviderErrorKind::ContextOverflow, "prompt is too long")
}

fn durable(trace: &Trace) -> Vec<Event> {
    trace.events().into_iter().filter(|event| event.kind.is_durable()).collect()
}

fn play(events: &[Event], until: ReplayUntil) -> ReplayOutcome {
    replay(events.to_vec(), until).unwrap_or_else(|error| panic!("{error}"))
}

/// The durable events, all of which come out of a replay, none taken as it was.
fn replayed(trace: &Trace) -> Vec<Event> {
    let events = durable(trace);
    for event in events.iter().step_by(1 + events.len() / 24) {
        assert_eq!(play(&events, ReplayUntil::Seq(event.seq)).events.last(), Some(event));
    }
    let replayed = play(&events, ReplayUntil::End);
    assert_eq!((&replayed.events, replayed.taken), (&events, 0));
    events
}

fn count(events: &[Event], name: &str) -> usize {
    events.iter().filter(|event| event.kind.name() == name).count()
}

fn place(events: &[Event], name: &str) -> usize {
    events.iter().position(|event| event.kind.name() == name).unwrap()
}

fn difference(events: Vec<Event>) -> String {
    match replay(events, ReplayUntil::End) {
        Err(ReplayError::Differs(difference)) => format!("{} {}", difference.seq, difference.name),
        other => panic!("{other:?}"),
    }
}

/// A model of which a dollar pays for a million tokens, with a small window.
struct Priced(ScriptedProvider);

impl Provider for Priced {
    fn id(&self) -> &str {
        "priced"
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream {
        self.0.stream(request, cancel)
    }

    fn describe(&self, model: &str) -> Option<Arc<ModelInfo>> {
        let base = Rates { input: 1_000_000, output: 1_000_000, ..Rates::default() };
        let prices = Some(Prices { base, long: None });
        let sizes = ModelInfo { context_tokens: 10_000, output_tokens_max: 500, ..ModelInfo::unknown(model) };
        Some(Arc::new(ModelInfo { prices, ..sizes }))
    }
}

/// Whether a summary is asked for: behind the conversation, or retold without tools.
fn is_summary(request: &Request) -> bool {
    let last = request.messages.for_model().next_back();
    last.is_some_and(|last| last.text().contains("write a hand-over"))
}

#[tokio::test(start_paused = true)]
async fn a_warning_and_a_paid_compaction_are_replayed() {
    let usage = Usage { input: 700, output: 70, ..Usage::default() };
    let scenario = Scenario::new()
        .respond(move |request| {
            let is_summary = is_summary(request);
            match request.messages.len() {
                _ if is_summary => Some(Turn::say("What happened before.").usage(usage)),
                ..40 => Some(Turn::call("big", json!({})).usage(usage)),
                _ => None,
            }
        })
        .turn("done");
    let provider = Arc::new(Priced(ScriptedProvider::new(scenario)));
    let (agent, trace, _) = scripted(Scenario::new())
        .with(|builder| builder.provider(provider).system_prompt("Be brief. ".repeat(40)).max_turns(30))
        .tool(big(4_000))
        .build();
    agent.run("go").await.unwrap();
    let events = replayed(&trace);
    assert!(count(&events, "compaction.end") > 1 && count(&events, "compaction.warning") > 0);
    let is_paid = |event: &Event| matches!(&event.kind, AgentEvent::Context(ContextEvent::CompactionEnd { usage, cost: Some(_), .. }) if usage.input == 700);
    assert!(events.iter().any(is_paid));
}

#[tokio::test(start_paused = true)]
async fn a_rejected_prompt_is_replayed_with_and_without_output() {
    let usage = Usage { input: 3, output: 2, ..Usage::default() };
    let half = Turn::say("half").usage(usage).error(overflow());
    for refused in [Turn::fail(overflow()), half] {
        let scenario = calls(4)
            .respond(|request| is_summary(request).then(|| Turn::say("Summary.")))
            .turn(refused)
            .turn("done")
            .turn("And again.");
        let (agent, trace, _) = scripted(scenario).tool(big(4_000)).build();
        let output = agent.run("go").await.unwrap();
        assert_eq!(output.text, "done", "what the failed try said is no part of the next");
        // What the refusal showed of the window is known in the next run too.
        agent.run("again").await.unwrap();
        let events = replayed(&trace);
        assert_eq!((count(&events, "compaction.end"), count(&events, "resilience.recovered")), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_learned_window_size_is_replayed() {
    let usage = Usage { input: 90_000, output: 2, ..Usage::default() };
    let refused = || Turn::fail(overflow());
    let broken = Turn::fail(ProviderError::new(ProviderErrorKind::Api, "no"));
    let scenario = calls(6)
        .respond(|request| is_summary(request).then(|| Turn::say("Summary.")))
        .turn(refused())
        .turn(broken)
        .turn(refused())
        .turn(Turn::call("big", json!({})).usage(usage))
        .turn("done")
        .turn("And again.");
    let (agent, trace, _) = scripted(scenario).tool(big(20_000)).build();
    agent.run("go").await.unwrap_err();
    agent.run("again").await.unwrap();
    agent.run("and again").await.unwrap();
    let events = replayed(&trace);
    let learnt = events.iter().filter_map(|event| match &event.kind {
        AgentEvent::Run(RunEvent::Start { settings: Some(settings), .. }) => {
            Some(settings.window?.tokens_learnt.is_some())
        }
        _ => None,
    });
    assert_eq!(learnt.collect::<Vec<_>>(), [false, true, false]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_compaction_is_replayed() {
    let ran = scripted(Scenario::new().turn(Turn::fail(overflow()).repeat())).run("hi").await;
    assert!(matches!(ran.output().end, RunEnd::Failed { .. }), "{:?}", ran.output().end);
    replayed(&ran.trace);
    let with = |builder: AgentBuilder| window(10_000)(builder).compaction(Idle);
    let ran = scripted(calls(50)).tool(big(4_000)).with(with).run("go").await;
    assert!(matches!(&ran.output().end, RunEnd::Failed { failure: RunFailure::Window { .. } }));
    replayed(&ran.trace);
}

/// Cuts nothing.
struct Idle;

impl CompactionStrategy for Idle {
    fn name(&self) -> &str {
        "idle"
    }

    fn compact<'a>(&'a self, view: WindowView<'a>, _model: &'a dyn Summarizer) -> Answer<'a, Vec<WindowCut>> {
        Answer::Now(view.cuts.to_vec())
    }
}

#[tokio::test(start_paused = true)]
async fn a_manual_compaction_and_its_continuation_are_replayed() {
    let scenario = calls(3)
        .turn("done")
        .turn("Kept: the port.")
        .turn("8080")
        .turn("It is 8080.")
        .turn("Yes.")
        .turn("New.");
    let (agent, trace, _) = scripted(scenario).tool(big(4_000)).with(window(1_000_000)).build();
    agent.run("go").await.unwrap();
    // What waits is said as soon as the window is shorter.
    agent.steer("which port?");
    let compacted = agent.compact("the port").unwrap().finish().await.unwrap();
    assert_eq!((compacted.turns, compacted.text.as_str()), (1, "8080"));
    agent.continue_run(ContinuationKind::Branch { tag: "b".into() }).unwrap().finish().await.unwrap();
    // The conversation is the same, but nothing lies over it any more: that has to be told.
    agent.restore_messages(&agent.save_messages()).unwrap();
    agent.run("sure?").await.unwrap();
    let events = replayed(&trace);
    let told = |event: &Event| match &event.kind {
        AgentEvent::Run(RunEvent::Start { history, .. }) => Some(history.is_some()),
        _ => None,
    };
    let told: Vec<bool> = events.iter().filter_map(told).collect();
    assert_eq!(told, [false, false, false, true]);
}

#[tokio::test(start_paused = true)]
async fn a_new_session_records_the_cuts_of_its_conversation() {
    let scenario = calls(3).turn("done").turn("Kept.").turn("Here.");
    let (agent, trace, _) = scripted(scenario).tool(big(4_000)).with(window(1_000_000)).build();
    agent.run("go").await.unwrap();
    agent.compact("").unwrap().finish().await.unwrap();
    agent.new_session().unwrap();
    agent.run("where?").await.unwrap();
    trace.assert_order();
    let begun = durable(&trace).into_iter().filter_map(|event| match event.kind {
        AgentEvent::Run(RunEvent::Start { history: Some(history), cuts, .. }) => {
            Some((history.len(), cuts.len()))
        }
        _ => None,
    });
    assert_eq!(begun.collect::<Vec<_>>(), [(8, 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_was_cancelled_is_replayed() {
    let scenario = || calls(3).turn("done").turn(Turn::new().hang());
    let (agent, trace, provider) = scripted(scenario()).tool(big(4_000)).with(window(1_000_000)).build();
    agent.run("go").await.unwrap();
    let compacting = agent.compact("").unwrap();
    while provider.request_count() < 5 {
        tokio::task::yield_now().await;
    }
    agent.abort();
    assert_eq!(compacting.finish().await.unwrap().end, RunEnd::Aborted);
    assert_eq!(count(&replayed(&trace), "compaction.end"), 0);

    let refused = calls(3).turn(Turn::fail(overflow())).turn(Turn::new().hang());
    let (agent, trace, provider) = scripted(refused).tool(big(4_000)).build();
    let running = agent.run_stream("go").unwrap();
    while provider.request_count() < 5 {
        tokio::task::yield_now().await;
    }
    agent.abort();
    assert_eq!(running.finish().await.unwrap().end, RunEnd::Aborted);
    replayed(&trace);
}

/// Breaks whatever asks it.
struct Broken;

impl CompactionStrategy for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn compact<'a>(&'a self, _: WindowView<'a>, _: &'a dyn Summarizer) -> Answer<'a, Vec<WindowCut>> {
        panic!("no way")
    }
}

impl Reminder for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn remind(&self, _: &ReminderContext<'_>) -> Option<String> {
        panic!("no way")
    }
}

#[tokio::test(start_paused = true)]
async fn a_strategy_and_a_reminder_that_panic_do_so_again() {
    let strategy = |builder: AgentBuilder| window(5_000)(builder).compaction(Broken);
    let reminder = |builder: AgentBuilder| builder.reminder(Arc::new(Broken));
    for ran in [
        scripted(calls(9)).tool(big(4_000)).with(strategy).run("go").await,
        scripted(calls(9)).with(reminder).run("go").await,
    ] {
        let RunEnd::Failed { failure: RunFailure::Panic { message } } = &ran.output().end else {
            panic!("{:?}", ran.output().end)
        };
        assert_eq!(message, "no way");
        replayed(&ran.trace);
    }
}

async fn shortened() -> Vec<Event> {
    let scenario = calls(8).turn("Summary.").turn("done");
    let (agent, trace, _) = scripted(scenario).tool(big(4_000)).with(window(10_000)).build();
    agent.run("go").await.unwrap();
    replayed(&trace)
}

#[tokio::test(start_paused = true)]
async fn what_was_changed_is_found() {
    let events = shortened().await;
    let end = place(&events, "compaction.end");

    let mut cut = events.clone();
    let AgentEvent::Context(ContextEvent::CompactionEnd { cuts, .. }) = &mut cut[end].kind else { panic!() };
    cuts[0].kind = CutKind::Drop;
    assert_eq!(difference(cut), format!("{} compaction.end", end + 1), "there is no summary then");

    let mut dropped = events.clone();
    let AgentEvent::Context(ContextEvent::CompactionEnd { messages_dropped, .. }) = &mut dropped[end].kind
    else {
        panic!()
    };
    *messages_dropped += 1;
    assert_eq!(difference(dropped), format!("{} compaction.end", end + 1));

    let mut full = events.clone();
    let AgentEvent::Context(ContextEvent::Usage { tokens_used, .. }) =
        &mut full[place(&events, "context.usage")].kind
    else {
        panic!()
    };
    // How long the prompt is, is an input. That nothing is done about it is not.
    *tokens_used = 9_999;
    assert_eq!(difference(full), format!("{} llm.start", place(&events, "llm.start") + 1));

    let mut later = events.clone();
    let AgentEvent::Run(RunEvent::Start { settings: Some(settings), .. }) = &mut later[0].kind else {
        panic!()
    };
    let window = Arc::make_mut(settings).window.as_mut().unwrap();
    window.compact_percent = 200;
    assert_eq!(difference(later), format!("{} compaction.start", place(&events, "compaction.start") + 1));
}

#[tokio::test(start_paused = true)]
async fn any_event_may_be_missing_doubled_or_moved_without_harm() {
    let events = shortened().await;
    // Every third, from somewhere else each time that the log changes its length.
    for place in (events.len() % 3..events.len()).step_by(3) {
        let mut lost = events.clone();
        let event = lost.remove(place);
        assert!(
            replay(lost.clone(), ReplayUntil::End).is_err() || place == events.len() - 1,
            "without {place}"
        );
        lost.insert((place + 3).min(lost.len()), event.clone());
        drop(replay(lost, ReplayUntil::End));
        let mut doubled = events.clone();
        doubled.insert(place, event);
        assert!(replay(doubled, ReplayUntil::End).is_err(), "{place} twice");
    }
}

#[tokio::test(start_paused = true)]
async fn an_old_run_without_window_settings_is_copied() {
    let mut events = shortened().await;
    let AgentEvent::Run(RunEvent::Start { settings: Some(settings), .. }) = &mut events[0].kind else {
        panic!()
    };
    Arc::make_mut(settings).window = None;
    let replayed = play(&events, ReplayUntil::End);
    assert_eq!((replayed.runs, replayed.taken, &replayed.events), (0, events.len(), &events));
}

/// Vetoes compactions for one reason.
struct Against(CompactionTrigger);

impl Hook for Against {
    fn name(&self) -> &str {
        "against"
    }

    fn before_compaction<'a>(&'a self, trigger: CompactionTrigger, _: Option<&'a str>) -> Answer<'a, Flow> {
        Answer::Now(if trigger == self.0 { Flow::Veto("not now".into()) } else { Flow::Continue })
    }
}

#[tokio::test(start_paused = true)]
async fn a_veto_leaves_the_window_as_it_is_and_is_replayed() {
    let vetoed = RunEnd::Vetoed { point: HookPoint::BeforeCompaction, message: "not now".into() };
    let with = |builder| window(10_000)(builder).hook(Against(CompactionTrigger::Auto));
    let (agent, trace, _) = scripted(calls(9).turn("done")).tool(big(4_000)).with(with).build();
    assert_eq!(agent.run("go").await.unwrap().text, "done");
    let events = replayed(&trace);
    assert_eq!((count(&events, "compaction.start"), count(&events, "hook.run")), (0, 5));

    let with = |builder| window(1_000_000)(builder).hook(Against(CompactionTrigger::Manual));
    let (agent, trace, _) = scripted(calls(2).turn("done")).tool(big(4_000)).with(with).build();
    agent.run("go").await.unwrap();
    assert_eq!(agent.compact("the port").unwrap().finish().await.unwrap().end, vetoed);
    assert_eq!(count(&replayed(&trace), "compaction.start"), 0);

    let with = |builder| window(1_000_000)(builder).hook(Against(CompactionTrigger::Overflow));
    let scenario = calls(2).turn(Turn::fail(overflow())).turn("done");
    let (agent, trace, _) = scripted(scenario).tool(big(4_000)).with(with).build();
    assert_eq!(agent.run("go").await.unwrap().end, vetoed);
    assert_eq!(count(&replayed(&trace), "compaction.start"), 0);
}

/// Never returns from one of its points.
struct Hanging(HookPoint);

impl Hook for Hanging {
    fn before_compaction<'a>(&'a self, _: CompactionTrigger, _: Option<&'a str>) -> Answer<'a, Flow> {
        match self.0 {
            HookPoint::BeforeCompaction => Answer::later(std::future::pending()),
            _ => Answer::Now(Flow::Continue),
        }
    }

    fn after_compaction<'a>(&'a self, _: CompactionTrigger, _: Option<&'a str>) -> Answer<'a, ()> {
        Answer::later(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ends_while_a_hook_looks_at_a_compaction_is_replayed() {
    for (point, compactions) in [(HookPoint::BeforeCompaction, 0), (HookPoint::AfterCompaction, 1)] {
        let limits = ExecutionLimits {
            duration_max: Some(std::time::Duration::from_secs(60)),
            ..ExecutionLimits::default()
        };
        let with = |builder: AgentBuilder| window(10_000)(builder).limits(limits).hook(Hanging(point));
        let (agent, trace, _) =
            scripted(calls(9).turn("Summary.").turn("done")).tool(big(4_000)).with(with).build();
        let end = agent.run("go").await.unwrap().end.clone();
        assert!(matches!(end, RunEnd::Limit { limit: LimitKind::Duration, .. }), "{end:?}");
        assert_eq!(count(&replayed(&trace), "compaction.end"), compactions);
    }
}
