//! The real vendor files against a fake server, with test keys.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use rheon_providers::wire::WireKind;
use rheon_providers::{
    AuthScheme, Catalog, Model, ProxyChoice, Registry, RegistryParts, ResolvedModel, ThinkingStyle,
    Transport, TransportConfig, Vendor, Vendors,
};
use rheon_testkit::server::FakeServer;
use rheon_types::{
    AgentMessage, Chunk, Clock, Draft, Finished, History, ProviderError, Request, StopReason, ThinkingLevel,
    Timestamp, ToolDefinition,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// The secret that every vendor gets. It contains characters that URLs and JSON encode.
pub(crate) const CANARY: &str = "canary-81\"c3+f7/0a9e=xyzzy";

/// A fixed clock, so that dates give the same delays in every run.
pub(crate) struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

/// The environment of a user of `vendor`, whose service is the server at `address`.
pub(crate) fn variables(vendor: &Vendor, address: &str) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    for (name, variable) in &vendor.variables {
        if let (Some(env), None) = (variable.env.first(), &variable.default) {
            variables.insert(env.clone(), format!("test-{name}"));
        }
    }
    if let Some(name) = vendor.base_url_env.first() {
        variables.insert(name.clone(), address.to_owned());
    }
    let key = match &vendor.auth.scheme {
        AuthScheme::Google => Some("GOOGLE_ACCESS_TOKEN"),
        AuthScheme::Header { .. }
        | AuthScheme::Bearer
        | AuthScheme::Query { .. }
        | AuthScheme::Aws { .. }
        | AuthScheme::Anthropic
        | AuthScheme::None => vendor.auth.key_env.first().map(String::as_str),
    };
    variables.extend(key.map(|name| (name.to_owned(), CANARY.to_owned())));
    variables
}

/// A registry of the real vendors with this environment.
pub(crate) fn registry(variables: BTreeMap<String, String>, config: TransportConfig) -> Registry {
    thread_local! {
        /// Shared per test thread: creating a client is slow because it reads the system's certificates.
        static USUAL: Transport = transport(TransportConfig::default());
    }
    let environment = variables.into_iter().collect();
    let is_usual = config == TransportConfig::default();
    let transport = if is_usual { USUAL.with(Transport::clone) } else { transport(config) };
    Registry::new(RegistryParts {
        environment,
        clock: Arc::new(FixedClock),
        transport,
        vendors: Vendors::builtin(),
        catalog: Catalog::builtin(),
        keys: BTreeMap::new(),
    })
}

fn transport(config: TransportConfig) -> Transport {
    Transport::new(TransportConfig { proxy: ProxyChoice::Direct, ..config }).unwrap()
}

/// The model of `vendor` with the most known properties: images, tools, thinking and its levels, a price.
pub(crate) fn best_model(vendor: &Vendor) -> String {
    let catalog = Catalog::builtin();
    let worth = |model: &Model| {
        let info = &model.info;
        let known = [info.tools, info.images, info.reasoning, info.prices.is_some()];
        let levels = match &model.thinking {
            ThinkingStyle::Levels(levels) => levels.len(),
            ThinkingStyle::Budget { .. } => 2,
            ThinkingStyle::Toggle => 1,
            ThinkingStyle::None | ThinkingStyle::Always => 0,
        };
        (known.into_iter().filter(|known| *known).count(), levels)
    };
    // `max_by_key` returns the last of equal elements, so reversing gives the first.
    let found = catalog.ids(&vendor.id).rev().max_by_key(|id| worth(&vendor.model(&catalog, id)));
    found.unwrap_or("some-model").to_owned()
}

/// The vendor that represents a wire: the one with the largest catalog.
pub(crate) fn main_vendor(wire: WireKind) -> Arc<Vendor> {
    let of_wire = Vendors::builtin().iter().filter(|vendor| vendor.wire == wire).collect::<Vec<_>>();
    let largest = of_wire.into_iter().max_by_key(|vendor| Catalog::builtin().ids(&vendor.id).count());
    largest.expect("every wire has a vendor")
}

/// One model with a fake server.
pub(crate) struct Fixture {
    pub(crate) server: FakeServer,
    pub(crate) vendor: Arc<Vendor>,
    pub(crate) resolved: ResolvedModel,
}

impl Fixture {
    /// The best model of the vendor that represents `wire`.
    pub(crate) async fn wire(wire: WireKind, script: impl Into<rheon_testkit::server::Script>) -> Self {
        Self::vendor(main_vendor(wire), script, TransportConfig::default()).await
    }

    /// The same with custom limits.
    pub(crate) async fn limited(
        wire: WireKind,
        script: impl Into<rheon_testkit::server::Script>,
        config: TransportConfig,
    ) -> Self {
        Self::vendor(main_vendor(wire), script, config).await
    }

    /// The best model of `vendor`.
    pub(crate) async fn vendor(
        vendor: Arc<Vendor>,
        script: impl Into<rheon_testkit::server::Script>,
        config: TransportConfig,
    ) -> Self {
        let server = FakeServer::start(script).await.unwrap();
        let registry = registry(variables(&vendor, &server.url()), config);
        let resolved = registry.resolve(&format!("{}/{}", vendor.id, best_model(&vendor))).unwrap();
        Self { server, vendor, resolved }
    }

    /// A request with one user message, tools and thinking.
    pub(crate) fn request(&self) -> Request {
        request(&self.resolved.model, [AgentMessage::user("Go.", Timestamp::from_millis(0))])
    }

    /// The whole response to `request`.
    pub(crate) async fn ask(&self, request: Request) -> Answer {
        let stream = self.resolved.provider.stream(request, CancellationToken::new());
        Answer::of(stream.collect().await)
    }
}

/// A request with tools and thinking.
pub(crate) fn request(model: &str, messages: impl IntoIterator<Item = AgentMessage>) -> Request {
    Request {
        messages: messages.into_iter().map(Arc::new).collect::<History>(),
        system: "You are a test.".into(),
        tools: Arc::from([tool("read"), tool("list")]),
        thinking: ThinkingLevel::High,
        ..Request::new(model)
    }
}

fn tool(name: &str) -> ToolDefinition {
    let parameters = json!({
        "type": "object",
        "properties": {"path": {"type": "string", "description": "which file"}},
        "additionalProperties": false,
    });
    ToolDefinition { name: name.into(), description: format!("{name} a file"), parameters }
}

/// The response to a request, or to some bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) error: Option<ProviderError>,
}

impl Answer {
    /// The items of a stream. Nothing may follow an error or the end.
    pub(crate) fn of(items: Vec<Result<Chunk, ProviderError>>) -> Self {
        let mut answer = Self { chunks: Vec::new(), error: None };
        for item in items {
            assert!(!answer.is_done() && answer.error.is_none(), "{item:?} behind the end of {answer:?}");
            match item {
                Ok(chunk) => answer.chunks.push(chunk),
                Err(error) => answer.error = Some(error),
            }
        }
        answer
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self.chunks.last(), Some(Chunk::Done { .. }))
    }

    /// The final message if nothing more arrives.
    pub(crate) fn finished(&self) -> Finished {
        let mut draft = Draft::new();
        for chunk in &self.chunks {
            draft.push(chunk).unwrap_or_else(|error| panic!("{error}: {:?}", self.chunks));
        }
        draft.finish(StopReason::Error)
    }

    /// Its text only.
    pub(crate) fn text(&self) -> String {
        let texts =
            self.chunks.iter().map(|chunk| if let Chunk::Text { delta } = chunk { delta } else { "" });
        texts.collect()
    }

    /// A summary: its stop reason and text, or its error.
    pub(crate) fn summary(&self) -> String {
        match &self.error {
            Some(error) => format!("{:?} {error}", error.kind),
            None if self.is_done() => format!("{:?} {:?}", self.finished().stop_reason, self.text()),
            None => format!("cut {:?}", self.text()),
        }
    }
}
