//! Opens a connection: the transport, then the handshake.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, ServerPeerInfo, SubscriptionFilter};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::auth::AuthClient;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use secrecy::ExposeSecret as _;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::challenge::refused_connection;
use super::child::Child;
use super::clean::{causes, clean, short_line};
use super::client::{ConnectionDiagnostics, McpClient, McpServerInfo};
use super::error::McpError;
use super::exchange::ExchangeTransport;
use super::handler::Handler;
use super::http::HttpBackend;
use super::http_client::{address, http_client};
use super::saved_login::saved_login;
use super::spec::{HttpEndpoint, McpConnection, McpProtocol, McpServerSpec, StdioProgram};
use super::sse::SseTransport;
use super::stdio::{MESSAGE_BYTES_MAX, StdioTransport};
use super::watched::Watched;

const INSTRUCTIONS_CHARS_MAX: usize = 4_096;

/// A server that does not know the newest protocol may ignore the question for it for this long.
const PROBE_TIME: Duration = Duration::from_secs(10);

impl McpClient {
    /// Connects to a server as configured, within its startup timeout.
    pub async fn connect(spec: &McpServerSpec) -> Result<Self, McpError> {
        let timeout = spec.timeouts.startup;
        match tokio::time::timeout(timeout, connect(spec)).await {
            Ok(connected) => connected,
            Err(_) => Err(McpError::TimedOut(timeout)),
        }
    }
}

/// Connects to a server. The caller limits the time.
async fn connect(spec: &McpServerSpec) -> Result<McpClient, McpError> {
    let opening = Opening::new(spec);
    match &spec.connection {
        McpConnection::Stdio(program) => match opening.stdio(program, opening.newest_first()).await {
            // Some servers end when the first message is not the one that they expect.
            Err(McpError::Closed(_)) => opening.stdio(program, ClientLifecycleMode::Initialize).await,
            connected => connected,
        },
        McpConnection::Http(endpoint) => opening.http(endpoint).await,
        McpConnection::Exchange(exchange) => {
            let transport = ExchangeTransport::new(Arc::clone(exchange));
            opening.serve(transport, ClientLifecycleMode::Initialize).await
        }
    }
}

/// A connection that is being opened.
struct Opening<'a> {
    spec: &'a McpServerSpec,
    diagnostics: ConnectionDiagnostics,
}

impl<'a> Opening<'a> {
    fn new(spec: &'a McpServerSpec) -> Self {
        Self { spec, diagnostics: ConnectionDiagnostics::default() }
    }

    /// Asks for the newest protocol first, if there is time for a server that does not answer that.
    fn newest_first(&self) -> ClientLifecycleMode {
        if self.spec.protocol == McpProtocol::Initialize || self.spec.timeouts.startup <= PROBE_TIME {
            return ClientLifecycleMode::Initialize;
        }
        ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        }
    }

    async fn stdio(
        &self,
        program: &StdioProgram,
        lifecycle: ClientLifecycleMode,
    ) -> Result<McpClient, McpError> {
        let started = Child::start(program, &self.diagnostics.errors).await?;
        let transport = StdioTransport::new(started, Arc::clone(&self.diagnostics.ignored));
        self.serve(transport, lifecycle).await
    }

    async fn http(&self, endpoint: &HttpEndpoint) -> Result<McpClient, McpError> {
        let url = address(&endpoint.url)?;
        let client = http_client(&url)?;
        let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
            .custom_headers(headers(endpoint)?)
            .max_sse_event_size(MESSAGE_BYTES_MAX)
            .reinit_on_expired_session(true);
        let backend = HttpBackend(client.clone());
        let Some(login) = saved_login(endpoint, &url).await? else {
            let transport = StreamableHttpClientTransport::with_client(backend, config);
            let connected = self.serve(transport, self.newest_first()).await;
            let Err(error @ McpError::Connect(_)) = connected else { return connected };
            // Old servers refuse messages here, and answer with events elsewhere.
            let old =
                tokio::time::timeout(PROBE_TIME, SseTransport::open(client, &url, headers(endpoint)?)).await;
            let Ok(Ok(transport)) = old else { return Err(error) };
            return self.serve(transport, ClientLifecycleMode::Initialize).await;
        };
        let backend = AuthClient::new(backend, login);
        let transport = StreamableHttpClientTransport::with_client(backend, config);
        self.serve(transport, self.newest_first()).await
    }

    async fn serve<T: Transport<RoleClient> + 'static>(
        &self,
        transport: T,
        lifecycle: ClientLifecycleMode,
    ) -> Result<McpClient, McpError> {
        let handler = Handler {
            server: self.spec.name.as_str().into(),
            calls: Arc::default(),
            changed: Arc::default(),
        };
        let end = CancellationToken::new();
        let transport = Watched::new(transport, end.clone());
        let service: RunningService<RoleClient, Handler> =
            match serve_client_with_lifecycle(handler.clone(), transport, lifecycle).await {
                Ok(service) => service,
                Err(error) => return Err(self.failed(&error).await),
            };
        follow(service.peer(), &handler.changed);
        Ok(McpClient {
            server: Arc::clone(&handler.server),
            info: service.peer().peer_info().map(|info| about(&info)).unwrap_or_default(),
            service,
            handler,
            diagnostics: self.diagnostics.clone(),
            end,
            call_timeout: self.spec.timeouts.call,
        })
    }

    async fn failed(&self, error: &ClientInitializeError) -> McpError {
        if let Some(refused) = refused_connection(error) {
            return refused;
        }
        let is_closed = matches!(
            error,
            ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }
        );
        match &self.spec.connection {
            McpConnection::Stdio(_) if is_closed => {
                self.diagnostics.errors.complete().await;
                let hint = self.diagnostics.errors.last_line();
                McpError::Closed(hint.map(|line| format!("; it wrote: {line}")).unwrap_or_default())
            }
            _ => McpError::Connect(causes(error)),
        }
    }
}

/// Servers of the newest protocol tell of changes only on request.
fn follow(peer: &Peer<RoleClient>, changed: &Arc<Notify>) {
    let Some(info) = peer.peer_info() else { return };
    if info.protocol_version.as_str() < ProtocolVersion::V_2026_07_28.as_str() {
        return;
    }
    let tells = |list_changed: Option<bool>| list_changed.filter(|tells| *tells);
    let (tools, prompts) = (&info.capabilities.tools, &info.capabilities.prompts);
    let mut wanted = SubscriptionFilter::new();
    wanted.tools_list_changed = tools.as_ref().and_then(|it| tells(it.list_changed));
    wanted.prompts_list_changed = prompts.as_ref().and_then(|it| tells(it.list_changed));
    if wanted == SubscriptionFilter::new() {
        return;
    }
    let (peer, changed) = (peer.clone(), Arc::clone(changed));
    // Ends with the connection.
    tokio::spawn(async move {
        let Ok(mut news) = peer.listen(wanted).await else { return };
        // What changed before the server listened was not told.
        changed.notify_one();
        while let Ok(Some(_)) = news.next().await {
            changed.notify_one();
        }
    });
}

fn headers(endpoint: &HttpEndpoint) -> Result<HashMap<HeaderName, HeaderValue>, McpError> {
    let mut headers = HashMap::new();
    for (name, value) in &endpoint.headers {
        let wrong = || McpError::Header { name: name.clone() };
        let parsed: HeaderName = name.parse().map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value.expose_secret()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(parsed, value);
    }
    Ok(headers)
}

fn about(info: &ServerPeerInfo) -> McpServerInfo {
    let program = info.server_info.as_ref().map(|it| format!("{} {}", it.name, it.version));
    let instructions = info.instructions.as_deref().map(|text| clean(text, INSTRUCTIONS_CHARS_MAX));
    McpServerInfo {
        program: short_line(&program.unwrap_or_default()),
        protocol: short_line(info.protocol_version.as_str()),
        instructions: instructions.filter(|text| !text.trim().is_empty()),
        has_tools: info.capabilities.tools.is_some(),
        has_resources: info.capabilities.resources.is_some(),
        has_prompts: info.capabilities.prompts.is_some(),
    }
}
