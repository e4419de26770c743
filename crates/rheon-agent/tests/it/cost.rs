//! What runs cost: known where every call has a price, at the price of the model that answered.

use std::sync::Arc;

use futures::StreamExt;
use rheon_testkit::{Scenario, ScriptedProvider, Turn, echo, scripted};
use rheon_types::{
    AgentEvent, AgentOutput, Chunk, ChunkStream, MicroUsd, ModelEvent, ModelInfo, Prices, Provider,
    ProviderError, ProviderErrorKind, Rates, Request, Usage,
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
async fn another_providers_answer_does_not_cost_what_the_asked_one_takes() {
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
