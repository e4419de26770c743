//! The prompt as services get it: what stands before the dynamic band is the same to the byte, whatever stands in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use rheon_agent::Agent;
use rheon_app::context::{ContextInputs, LoadedContext, Machine};
use rheon_providers::{
    Catalog, ProxyChoice, Registry, RegistryParts, Transport, TransportConfig, Vendor, Vendors,
};
use rheon_testkit::echo;
use rheon_testkit::server::{FakeReply, FakeServer, RecordedRequest, ReplyCount};
use serde_json::Value;

use crate::fixture::{Day, TODAY, rust_crate};

/// One model of this vendor behind the server.
fn provider(vendor: &Vendor, model: &str, server: &FakeServer) -> Arc<dyn rheon_types::Provider> {
    let mut variables = BTreeMap::new();
    for (name, variable) in &vendor.variables {
        if let (Some(env), None) = (variable.env.first(), &variable.default) {
            variables.insert(env.clone(), format!("test-{name}"));
        }
    }
    variables.extend(vendor.base_url_env.first().map(|name| (name.clone(), server.url())));
    variables.extend(vendor.auth.key_env.first().map(|name| (name.clone(), "key".to_owned())));
    let transport =
        Transport::new(TransportConfig { proxy: ProxyChoice::Direct, ..TransportConfig::default() });
    let registry = Registry::new(RegistryParts {
        environment: variables.into_iter().collect(),
        clock: Arc::new(TODAY),
        transport: transport.unwrap(),
        vendors: Vendors::builtin(),
        catalog: Catalog::builtin(),
        keys: BTreeMap::new(),
    });
    registry.resolve(&format!("{}/{model}", vendor.id)).unwrap().provider
}

/// What the service gets for the same project on two days, the second time with more changes in the repository.
async fn two_days(vendor: &str) -> [RecordedRequest; 2] {
    let server = FakeServer::start(FakeReply::text("Done.").times(ReplyCount::Always)).await.unwrap();
    let vendor = Vendors::builtin().iter().find(|one| one.id == vendor).unwrap();
    let model = Catalog::builtin().ids(&vendor.id).next().unwrap().to_owned();
    let provider = provider(&vendor, &model, &server);
    let (fixture, inputs) = rust_crate();
    for day in [TODAY.0, TODAY.0 + 86_400_000] {
        let machine = Machine { clock: Arc::new(Day(day)), ..inputs.machine.clone() };
        let loaded = LoadedContext::load(ContextInputs { machine, ..inputs.clone() }).await;
        let builder = Agent::builder().provider(Arc::clone(&provider)).model(&model).tool(echo());
        loaded.wire(builder).build().unwrap().run("Go.").await.unwrap();
        fixture.write("project/new.txt", "");
    }
    let requests = server.requests();
    [requests[0].clone(), requests[1].clone()]
}

/// Where `text` begins in a body.
fn place(body: &[u8], text: &str) -> usize {
    body.windows(text.len()).position(|window| window == text.as_bytes()).unwrap()
}

#[tokio::test]
async fn requests_that_differ_in_the_dynamic_band_are_the_same_up_to_it_on_every_wire() {
    for vendor in ["anthropic", "openai-chat", "openai", "google", "bedrock"] {
        let [one, other] = two_days(vendor).await;
        // The facts begin alike; the day is the first difference.
        let differs = place(&one.body, "2026-11-15");
        assert_eq!(one.body[..differs], other.body[..differs], "{vendor}");
        for text in ["Working on parcel", "struct Parcel", "<name>release</name>", "# Environment"] {
            assert!(place(&one.body, text) < differs, "{vendor}: {text}");
        }
        assert_ne!(one.body, other.body, "{vendor}");
    }
}

#[tokio::test]
async fn both_borders_of_cached_bands_are_marked_and_the_dynamic_band_is_not() {
    let [one, _] = two_days("anthropic").await;
    let marks: Vec<(bool, &str)> = one.json["system"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| (block["cache_control"].is_object(), block["text"].as_str().unwrap()))
        .map(|(marked, text)| (marked, text.lines().next().unwrap()))
        .collect();
    assert_eq!(
        marks,
        [
            (true, rheon_agent::base_prompt().lines().next().unwrap()),
            (true, "# Code map"),
            (false, "# Environment"),
        ]
    );
    assert_eq!(count(&one.json, "cache_control"), 3);
}

/// How often a key stands in a value.
fn count(value: &Value, key: &str) -> usize {
    match value {
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| usize::from(name == key) + count(value, key)).sum()
        }
        Value::Array(items) => items.iter().map(|item| count(item, key)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
