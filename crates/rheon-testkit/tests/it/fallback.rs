//! A run whose model is overloaded: another vendor answers, and the message and the cost name it.

use std::sync::Arc;

use rheon_providers::{ProxyChoice, Registry, RegistryParts, Transport, TransportConfig};
use rheon_testkit::server::{FakeReply, FakeServer, Script, UsageReport};
use rheon_testkit::{Scenario, TestClock, scripted};
use rheon_types::{MicroUsd, Usage};

#[tokio::test]
async fn other_vendors_answer_is_named_and_priced_as_its_own() {
    let usage = Usage { input: 1_000_000, output: 1_000_000, ..Usage::default() };
    let answer = || FakeReply::text("from the other").usage(UsageReport::counts(usage));
    let busy =
        FakeServer::start(Script::new([FakeReply::status(529), FakeReply::status(529)])).await.unwrap();
    let other = FakeServer::start(Script::new([answer(), answer()])).await.unwrap();
    let (busy_url, other_url) = (busy.url(), other.url());
    let environment = [
        ("ANTHROPIC_API_KEY", "a"),
        ("ANTHROPIC_BASE_URL", busy_url.as_str()),
        ("OPENAI_API_KEY", "o"),
        ("OPENAI_BASE_URL", &other_url),
        ("AWS_BEARER_TOKEN_BEDROCK", "b"),
        ("BEDROCK_BASE_URL", &other_url),
    ];
    let clock = Arc::new(TestClock::default());
    let config = TransportConfig { proxy: ProxyChoice::Direct, ..TransportConfig::default() };
    let registry = Registry::new(RegistryParts {
        transport: Transport::new(config).unwrap(),
        ..RegistryParts::builtin(environment.into_iter().collect(), clock).unwrap()
    });
    // One service that reports its model, and one that does not.
    for (name, provider, micro_usd) in [
        ("openai/gpt-5", "openai", 1_250_000 + 10_000_000),
        ("bedrock/amazon.nova-pro-v1:0", "bedrock", 800_000 + 3_200_000),
    ] {
        let model = registry.resolve_with_fallback("anthropic/claude-opus-5", name).unwrap();
        let (agent, _, _) = scripted(Scenario::new())
            .with(|builder| builder.provider(model.provider).model(&model.model))
            .build();
        let output = agent.run("go").await.unwrap();
        let message = output.messages.last().unwrap().as_assistant().unwrap();
        assert_eq!(format!("{}/{}", message.provider, message.model), name);
        assert_eq!(
            (output.text.as_str(), output.cost),
            ("from the other", Some(MicroUsd(micro_usd))),
            "{provider}"
        );
    }
    assert_eq!((busy.requests().len(), other.requests().len()), (2, 2));
}
