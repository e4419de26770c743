//! Encoders and providers, as the registry builds them.

use std::sync::Arc;

use rheon_providers::wire::{WireKind, WireRequest};
use rheon_providers::{
    Catalog, Model, ProviderEnv, ProxyChoice, Registry, RegistryParts, ResolvedModel, Transport,
    TransportConfig, Vendor, Vendors,
};
use rheon_testkit::TestClock;
use rheon_types::Request;

use super::history;

/// A vendor and a model for each wire.
pub(crate) fn vendor(wire: WireKind) -> (&'static str, &'static str) {
    match wire {
        WireKind::Anthropic => ("anthropic", "claude-sonnet-4-5"),
        WireKind::Chat => ("openai-chat", "gpt-5.2"),
        WireKind::Responses => ("openai", "gpt-5.2"),
        WireKind::Gemini => ("google", "gemini-3-pro-preview"),
        WireKind::Bedrock => ("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
    }
}

/// Requests for one wire.
pub(crate) struct Encoding {
    wire: WireKind,
    vendor: Arc<Vendor>,
    model: Arc<Model>,
    origin: String,
}

impl Encoding {
    pub(crate) fn new(wire: WireKind) -> Self {
        let (id, model) = vendor(wire);
        let vendor = Vendors::builtin().get(id).expect("the vendor comes with the crate");
        let known = Catalog::builtin().model_or(id, model, || Model::unknown(model));
        Self { wire, vendor, model: known, origin: format!("{id}/{model}") }
    }

    pub(crate) fn request(&self, messages: usize) -> Request {
        let (id, model) = vendor(self.wire);
        history::request(id, model, messages)
    }

    pub(crate) fn encode(&self, request: &Request) -> Vec<u8> {
        let call =
            WireRequest { request, model: &self.model, compat: &self.vendor.compat, origin: &self.origin };
        self.wire.encode(&call).expect("the conversation can be sent")
    }
}

/// An Anthropic model at this URL.
pub(crate) fn anthropic(base_url: &str) -> ResolvedModel {
    let variables = [("ANTHROPIC_API_KEY", "sk-ant-benchmark"), ("ANTHROPIC_BASE_URL", base_url)];
    let environment: ProviderEnv = variables.into_iter().collect();
    let parts =
        RegistryParts::builtin(environment, Arc::new(TestClock::default())).expect("a client can be set up");
    let config = TransportConfig { proxy: ProxyChoice::Direct, ..TransportConfig::default() };
    let transport = Transport::new(config).expect("a client can be set up");
    let registry = Registry::new(RegistryParts { transport, ..parts });
    registry.resolve("anthropic/claude-sonnet-4-5").expect("the model is known")
}
