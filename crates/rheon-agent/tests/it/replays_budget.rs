//! Replay of runs with a budget: it warns, pays, refuses and stops as the log says, whoever else drew on it.

use std::sync::Arc;
use std::time::Duration;

use rheon_agent::replay::{ReplayError, ReplayUntil, replay};
use rheon_agent::{AgentBuilder, BudgetPool, Caps};
use rheon_testkit::{
    FnTool, Scenario, ScriptedProvider, ScriptedRun, TestClock, Turn, echo, hangs, scripted,
};
use rheon_types::{
    AgentEvent, ChunkStream, Event, LimitKind, MicroUsd, ModelEvent, ModelInfo, Prices, Provider,
    ProviderError, ProviderErrorKind, Rates, Request, RunEnd, RunEvent, ToolEvent, ToolResult, Usage,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

fn pool(caps: Caps) -> BudgetPool {
    BudgetPool::new(caps, Arc::new(TestClock::default()))
}

fn tokens(cap: u64) -> BudgetPool {
    pool(Caps { tokens: Some(cap), ..Caps::default() })
}

fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, ..Usage::default() }
}

fn endless(output: u64) -> Scenario {
    Scenario::new().turn(Turn::call("echo", json!({ "text": "again" })).usage(usage(0, output)).repeat())
}

fn paid_from(budget: &BudgetPool) -> impl FnOnce(AgentBuilder) -> AgentBuilder + use<> {
    let budget = budget.clone();
    move |builder| builder.budget(budget).max_tokens(4_000).system_prompt("You are thrifty.")
}

/// The durable events, all of which come out of a replay, none taken as it was.
fn replayed(ran: &ScriptedRun) -> Vec<Event> {
    let events: Vec<Event> = ran.trace.events().into_iter().filter(|event| event.kind.is_durable()).collect();
    for event in events.iter().step_by(1 + events.len() / 24) {
        let replayed =
            replay(events.clone(), ReplayUntil::Seq(event.seq)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((replayed.events.last(), replayed.taken), (Some(event), 0));
    }
    // The last events are those that tell why the run ended.
    for length in events.len().saturating_sub(6)..events.len() {
        let cut = replay(events[..length].to_vec(), ReplayUntil::End);
        assert_eq!(cut.unwrap_or_else(|error| panic!("after {length}: {error}")).events, events[..length]);
    }
    assert_eq!(replay(events.clone(), ReplayUntil::End).unwrap().events, events);
    events
}

fn names<'a>(events: &'a [Event], prefix: &str) -> Vec<&'a str> {
    events.iter().map(|event| event.kind.name()).filter(|name| name.starts_with(prefix)).collect()
}

fn difference(events: Vec<Event>) -> String {
    match replay(events, ReplayUntil::End) {
        Err(ReplayError::Differs(difference)) => format!("{} {}", difference.seq, difference.name),
        other => panic!("{other:?}"),
    }
}

fn is_out_of_budget(ran: &ScriptedRun) -> bool {
    matches!(ran.output().end, RunEnd::Limit { limit: LimitKind::Budget, .. })
}

#[tokio::test(start_paused = true)]
async fn a_run_that_warned_wrapped_up_and_stopped_and_one_that_was_refused_are_replayed() {
    let ran = scripted(endless(1_500)).tool(echo()).with(paid_from(&tokens(20_000))).run("go").await;
    assert!(is_out_of_budget(&ran));
    let blocked = ran.trace.only(&["tool.blocked"]);
    assert!(blocked.contains("not run: the budget is spent"), "{blocked}");
    while ran.agent.run("more").await.unwrap().turns > 1 {}
    let events = replayed(&ran);
    assert_eq!(names(&events, "budget."), ["budget.warning", "budget.exceeded"]);

    let ran = scripted(endless(1)).tool(echo()).with(paid_from(&tokens(100))).run("go").await;
    assert_eq!(names(&replayed(&ran), "budget."), ["budget.exceeded"]);
}

#[tokio::test(start_paused = true)]
async fn spending_by_others_need_not_be_in_the_log() {
    let budget = tokens(40_000);
    let other = budget.child(Caps::default());
    let greedy = FnTool::new("echo", move |_, _| {
        let with = paid_from(&other);
        async move {
            let turn = Turn::say("taken").usage(usage(0, 6_000));
            scripted(Scenario::new().turn(turn)).with(with).run("take").await;
            Ok(ToolResult::text("done"))
        }
    });
    let ran = scripted(endless(500)).tool(greedy).with(paid_from(&budget)).run("go").await;
    assert!(is_out_of_budget(&ran));
    let events = replayed(&ran);
    assert_eq!(names(&events, "budget."), ["budget.warning"]);
}

#[tokio::test(start_paused = true)]
async fn retries_with_new_or_refused_reservations_are_replayed() {
    let gone = || Turn::fail(ProviderError::new(ProviderErrorKind::Network, "gone"));
    let scenario = Scenario::new()
        .turn(Turn::say("half").usage(usage(3_000, 100)).cut())
        .turn(gone())
        .turn(Turn::say("half").usage(usage(3_000, 2_000)).cut())
        .turn(Turn::say("whole").usage(usage(10, 10)));
    let ran = scripted(scenario).with(paid_from(&tokens(50_000))).run("go").await;
    assert_eq!(ran.output().end, RunEnd::Completed);
    replayed(&ran);

    let scenario = Scenario::new().turn(Turn::say("word ".repeat(9_000)).cut()).turn("whole");
    let ran = scripted(scenario).with(paid_from(&tokens(10_000))).run("go").await;
    assert!(is_out_of_budget(&ran));
    assert_eq!(names(&replayed(&ran), "budget."), ["budget.warning", "budget.exceeded"]);
}

/// A model of which a dollar pays for a million tokens.
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
        Some(Arc::new(ModelInfo { prices: Some(Prices { base, long: None }), ..ModelInfo::unknown(model) }))
    }
}

#[tokio::test(start_paused = true)]
async fn money_with_and_without_a_price_is_replayed() {
    let money = || pool(Caps { cost: Some(MicroUsd(20_000)), ..Caps::default() });
    let provider = Arc::new(Priced(ScriptedProvider::new(endless(2_500))));
    let priced = |builder: AgentBuilder| paid_from(&money())(builder).provider(provider);
    let ran = scripted(Scenario::new()).tool(echo()).with(priced).run("go").await;
    assert!(is_out_of_budget(&ran));
    assert_eq!(names(&replayed(&ran), "budget."), ["budget.warning"]);

    let ran = scripted(endless(1)).tool(echo()).with(paid_from(&money())).run("go").await;
    assert!(is_out_of_budget(&ran));
    assert_eq!(names(&replayed(&ran), "llm."), Vec::<&str>::new());
}

#[tokio::test(start_paused = true)]
async fn the_time_that_a_budget_had_left_is_replayed() {
    let wall = pool(Caps { wall: Some(Duration::from_millis(5_250)), ..Caps::default() });
    let scenario = Scenario::new().turn(Turn::call("hangs", json!({})));
    let ran = scripted(scenario).tool(hangs()).with(paid_from(&wall)).run("go").await;
    let RunEnd::Limit { message, .. } = &ran.output().end else { panic!("{:?}", ran.output().end) };
    assert_eq!(message, "the time limit of 5.25 s was reached");
    replayed(&ran);
}

#[tokio::test(start_paused = true)]
async fn what_was_changed_is_found() {
    let ran = scripted(endless(1_500)).tool(echo()).with(paid_from(&tokens(20_000))).run("go").await;
    let events = replayed(&ran);
    let at = |name: &str| events.iter().position(|event| event.kind.name() == name).unwrap();

    let mut lost = events.clone();
    lost.remove(at("budget.warning"));
    assert!(matches!(replay(lost, ReplayUntil::End), Err(ReplayError::Differs(_))));

    let mut unpaid = events.clone();
    if let AgentEvent::Model(ModelEvent::Start { reserved, .. }) = &mut unpaid[at("llm.start")].kind {
        *reserved = None;
    }
    assert_eq!(difference(unpaid), format!("{} llm.start", at("llm.start") + 1));

    let mut allowed = events.clone();
    if let AgentEvent::Tool(ToolEvent::Blocked { reason, .. }) = &mut allowed[at("tool.blocked")].kind {
        *reason = "for fun".into();
    }
    assert_eq!(difference(allowed), format!("{} tool.blocked", at("tool.blocked") + 1));

    let mut ended = events.clone();
    let last = ended.len() - 1;
    if let AgentEvent::Run(RunEvent::End { output }) = &mut ended[last].kind {
        Arc::make_mut(output).end = RunEnd::Completed;
    }
    assert!(matches!(replay(ended, ReplayUntil::End), Err(ReplayError::Differs(_))));
}
