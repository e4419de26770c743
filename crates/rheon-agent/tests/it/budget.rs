//! The budget is a wall: asked for before a call, settled after, and shared by a tree of agents.

use std::sync::Arc;

use expect_test::expect;
use rheon_agent::{BudgetPool, Caps, TokenCounter};
use rheon_testkit::{Scenario, ScriptedRun, TestClock, Turn, echo, scripted};
use rheon_types::event::Meter;
use rheon_types::{AgentEvent, LimitKind, ModelEvent, RunEnd, ToolChoice, Usage};
use serde_json::json;

fn pool(tokens: u64) -> BudgetPool {
    let caps = Caps { tokens: Some(tokens), ..Caps::default() };
    BudgetPool::new(caps, Arc::new(TestClock::default()))
}

fn endless(input: u64, output: u64) -> Scenario {
    let usage = Usage { input, output, ..Usage::default() };
    Scenario::new().turn(Turn::call("echo", json!({ "text": "again" })).usage(usage).repeat())
}

async fn run(scenario: Scenario, budget: &BudgetPool) -> ScriptedRun {
    let budget = budget.clone();
    let with = move |builder: rheon_agent::AgentBuilder| builder.budget(budget).max_tokens(4_000);
    scripted(scenario).tool(echo()).with(with).run("go").await
}

fn names(ran: &ScriptedRun, prefix: &str) -> Vec<String> {
    let names = ran.trace.events().into_iter().map(|event| event.kind.name().to_owned());
    names.filter(|name| name.starts_with(prefix)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_warns_then_wraps_up_then_stops_and_never_spends_more_than_its_cap() {
    let budget = pool(20_000);
    let ran = run(endless(0, 1_500), &budget).await;
    assert_eq!(names(&ran, "budget."), ["budget.warning"]);
    assert!(matches!(ran.output().end, RunEnd::Limit { limit: LimitKind::Budget, .. }));
    let Meter { spent, reserved, cap } = budget.ledger().tokens;
    assert_eq!((reserved, cap), (0, Some(20_000)));
    assert!(spent <= 20_000, "{spent}");
}

#[tokio::test(start_paused = true)]
async fn the_last_affordable_call_may_not_use_tools() {
    let ran = run(endless(100, 900), &pool(1_500)).await;
    let requests = ran.provider.requests();
    let last = requests.last().unwrap();
    assert_eq!(last.tool_choice, ToolChoice::None);
    assert!(last.reminder.as_deref().unwrap().starts_with("The budget of this session is nearly spent"));
    expect![[r#"
        tool.start echo call_1_0 {"text":"again"}
        tool.end echo call_1_0 ok "again"
        tool.blocked echo call_2_0 "not run: the budget is spent""#]]
    .assert_eq(&ran.trace.only(&["tool."]));
}

#[tokio::test(start_paused = true)]
async fn without_anything_left_no_call_is_made() {
    let ran = run(endless(1, 1), &pool(100)).await;
    assert_eq!(ran.provider.requests().len(), 0);
    assert_eq!(names(&ran, "budget."), ["budget.exceeded"]);
}

#[tokio::test(start_paused = true)]
async fn the_reservation_is_logged_before_the_call() {
    let ran = run(Scenario::new().turn("done"), &pool(100_000)).await;
    let reserved = ran.trace.events().into_iter().find_map(|event| match event.kind {
        AgentEvent::Model(ModelEvent::Start { reserved, .. }) => reserved,
        _ => None,
    });
    assert!(reserved.is_some_and(|reserved| reserved.tokens >= 4_000 && reserved.cost.is_none()));
}

#[tokio::test(start_paused = true)]
async fn failed_attempts_count_and_each_is_reserved_separately() {
    let usage = Usage { input: 500, output: 100, ..Usage::default() };
    // The first is cut before it reports anything, so what it took is estimated.
    let cut = Turn::say("half").cut();
    let budget = pool(50_000);
    let ran = run(Scenario::new().turn(cut).turn(Turn::say("whole").usage(usage)), &budget).await;
    assert_eq!(ran.output().end, RunEnd::Completed);
    // The tool, the prompt and half an answer.
    let tools = TokenCounter::default().tools(&ran.provider.requests()[0].tools);
    assert_eq!(budget.ledger().tokens, Meter { spent: 608 + tools, reserved: 0, cap: Some(50_000) });
}

#[tokio::test(start_paused = true)]
async fn a_resumed_session_counts_what_it_has_spent() {
    use rheon_types::Budget as _;
    use rheon_types::event::{Ledger, Meter};
    let spent = Ledger { tokens: Meter { spent: 900, ..Meter::default() }, ..Ledger::default() };
    for known in [0, 900, 950] {
        let pool =
            BudgetPool::new(Caps { tokens: Some(1_000), ..Caps::default() }, Arc::new(TestClock::default()));
        pool.spend(rheon_types::event::BudgetAmount { tokens: known, cost: None });
        let budget = pool.clone();
        let (agent, _, _) = scripted(Scenario::new().turn("Done."))
            .with(|builder| builder.budget(budget).spent(spent))
            .build();
        drop(agent);
        assert_eq!(pool.ledger().tokens.spent, known.max(900));
    }
}
