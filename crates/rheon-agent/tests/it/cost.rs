//! What runs cost: known where every call has a price, at the price of the model that answered.

use std::sync::Arc;

use futures::StreamExt;
use rheon_agent::{AgentError, BudgetPool, Caps, RetryConfig};
use rheon_testkit::{Scenario, ScriptedProvider, TestClock, Turn, echo, scripted};
use rheon_types::{
    AgentEvent, AgentOutput, Chunk, ChunkStream, MicroUsd, ModelEvent, ModelInfo, Prices, Provider,
    ProviderError, ProviderErrorKind, Rates, Request, RunEnd, Usage,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Knows the prices of `asked` (1 and 2 dollars for a million tokens) and of `dear` (10 and 20).
struct Priced(ScriptedProvider);

impl Provider for Priced {
    fn id(&self) -> &str {
        "priced"
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream {
        self.0.stream(request, cancel)
    }

    fn describe(&self, model: &str) -> Option<Arc<ModelInfo>> {
        let factor = match model {
            "asked" => 1,
            "dear" => 10,
            _ => return None,
        };
        let base = Rates { input: factor * 1_000_000, output: factor * 2_000_000, ..Rates::default() };
        let prices = Some(Prices { base, long: None });
        Some(Arc::new(ModelInfo { prices, ..ModelInfo::unknown(model) }))
    }
}

fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, ..Usage::default() }
}

async fn run(scenario: Scenario) -> (Arc<AgentOutput>, Vec<Option<MicroUsd>>) {
    run_on(Arc::new(Priced(ScriptedProvider::new(scenario)))).await
}

async fn run_on(provider: Arc<dyn Provider>) -> (Arc<AgentOutput>, Vec<Option<MicroUsd>>) {
    let (agent, trace, _) = scripted(Scenario::new())
        .with(|builder| builder.provider(provider).model("asked"))
        .tool(echo())
        .build();
    let output = agent.run("go").await.expect("the run ends");
    let calls = trace.events().into_iter().filter_map(|event| match event.kind {
        AgentEvent::Model(ModelEvent::End { cost, .. }) => Some(cost),
        _ => None,
    });
    (output, calls.collect())
}

#[tokio::test(start_paused = true)]
async fn every_call_has_its_cost_and_the_run_their_sum() {
    let scenario = Scenario::new()
        .model("a name without a price")
        .turn(Turn::call("echo", json!({"text": "x"})).usage(usage(100, 10)))
        .turn(Turn::say("done").usage(usage(200, 1)));
    let (output, calls) = run(scenario).await;
    assert_eq!(calls, [Some(MicroUsd(120)), Some(MicroUsd(202))]);
    assert_eq!(output.cost, Some(MicroUsd(322)));
}

#[tokio::test(start_paused = true)]
async fn the_price_is_that_of_the_model_that_answered() {
    let (output, _) = run(Scenario::new().model("dear").turn(Turn::say("done").usage(usage(100, 10)))).await;
    assert_eq!(output.cost, Some(MicroUsd(1_200)));
}

/// Another provider answers, with a model that nobody has a price of.
struct Elsewhere(Priced);

impl Provider for Elsewhere {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream {
        let other = futures::stream::iter([Ok(Chunk::Provider { provider: "other".into() })]);
        Box::pin(other.chain(self.0.stream(request, cancel)))
    }

    fn describe(&self, model: &str) -> Option<Arc<ModelInfo>> {
        self.0.describe(model)
    }
}

#[tokio::test(start_paused = true)]
async fn another_providers_answer_is_not_priced_like_the_requested_one() {
    let turn = || Turn::say("done").usage(usage(100, 10));
    let scenario = Scenario::new().model("a name without a price").turn(turn());
    let unpriced = Elsewhere(Priced(ScriptedProvider::new(scenario)));
    assert_eq!(run_on(Arc::new(unpriced)).await.0.cost, None);
    let priced = Elsewhere(Priced(ScriptedProvider::new(Scenario::new().model("dear").turn(turn()))));
    assert_eq!(run_on(Arc::new(priced)).await.0.cost, Some(MicroUsd(1_200)));
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_report_makes_the_sum_unknown() {
    let scenario = Scenario::new()
        .turn(Turn::call("echo", json!({"text": "x"})).usage(usage(100, 10)))
        .turn(Turn::say("done").usage(usage(0, 0)));
    let (output, calls) = run(scenario).await;
    assert_eq!(calls, [Some(MicroUsd(120)), None]);
    assert_eq!(output.cost, None);
}

#[tokio::test(start_paused = true)]
async fn a_refused_try_costs_nothing() {
    let refused = ProviderError::new(ProviderErrorKind::RateLimited, "slow down");
    let scenario = Scenario::new().turn(Turn::fail(refused)).turn(Turn::say("done").usage(usage(100, 10)));
    let (output, calls) = run(scenario).await;
    assert_eq!((output.cost, calls), (Some(MicroUsd(120)), vec![Some(MicroUsd(120))]));
}

#[tokio::test(start_paused = true)]
async fn a_cut_answer_that_reported_nothing_makes_the_sum_unknown() {
    let scenario =
        Scenario::new().turn(Turn::new().text("half").cut()).turn(Turn::say("done").usage(usage(100, 10)));
    let (output, calls) = run(scenario).await;
    assert_eq!((output.cost, calls), (None, vec![None]));
}

/// A run with a budget of a dollar, and what the budget counts afterwards.
async fn paid(scenario: Scenario) -> (Arc<AgentOutput>, u64) {
    let caps = Caps { cost: Some(MicroUsd(1_000_000)), ..Caps::default() };
    let budget = BudgetPool::new(caps, Arc::new(TestClock::default()));
    let (provider, paying) = (Arc::new(Priced(ScriptedProvider::new(scenario))), budget.clone());
    let (agent, trace, _) = scripted(Scenario::new())
        .with(move |builder| {
            builder
                .provider(provider as Arc<dyn Provider>)
                .model("asked")
                .budget(paying)
                .retry(RetryConfig::none())
        })
        .tool(echo())
        .build();
    let output = match agent.run("go").await {
        Ok(output) | Err(AgentError::Failed { output, .. }) => output,
        Err(error) => panic!("{error}"),
    };
    trace.assert_order();
    assert_eq!(budget.ledger().micro_usd.reserved, 0);
    (output, budget.ledger().micro_usd.spent)
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_service_refused_costs_nothing() {
    for kind in [ProviderErrorKind::Auth, ProviderErrorKind::Network, ProviderErrorKind::InvalidRequest] {
        let scenario = Scenario::new().turn(Turn::fail(ProviderError::new(kind, "no")));
        let (output, spent) = paid(scenario).await;
        assert_eq!((spent, output.cost), (0, None), "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_stopped_before_its_first_byte_costs_nothing() {
    let caps = Caps { cost: Some(MicroUsd(1_000_000)), ..Caps::default() };
    let budget = BudgetPool::new(caps, Arc::new(TestClock::default()));
    let scenario = Scenario::new().turn(Turn::new().hang());
    let (provider, paying) = (Arc::new(Priced(ScriptedProvider::new(scenario))), budget.clone());
    let (agent, trace, _) = scripted(Scenario::new())
        .with(move |builder| builder.provider(provider as Arc<dyn Provider>).model("asked").budget(paying))
        .build();
    let mut stream = agent.run_stream("go").unwrap();
    while let Some(event) = stream.next().await {
        if let AgentEvent::Model(ModelEvent::Start { reserved, .. }) = &event.kind {
            assert!(reserved.is_some());
            agent.abort();
        }
    }
    trace.assert_order();
    assert_eq!(budget.ledger().micro_usd.spent, 0);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_answer_is_estimated_and_only_its_cost_is_uncertain() {
    let cut = || Turn::say("four words and no end").cut();
    let (_, interrupted) = paid(Scenario::new().turn(cut())).await;
    // The prompt and a few words at the price of the model; the reservation was $0.13.
    assert!((1..2_000).contains(&interrupted), "{interrupted}");
    let mut scenario = Scenario::new().turn(Turn::call("echo", json!({"text": "x"})));
    for _ in 0..20 {
        scenario = scenario.turn(Turn::call("echo", json!({"text": "x"})).usage(usage(100, 10)));
    }
    let (output, spent) = paid(scenario.turn(Turn::say("done").usage(usage(100, 10)))).await;
    // The first answer reported nothing; all others count with what they cost.
    assert_eq!((&output.end, output.turns, output.cost), (&RunEnd::Completed, 22, None));
    assert!((21 * 120..21 * 120 + 2_000).contains(&spent), "{spent}");
}
