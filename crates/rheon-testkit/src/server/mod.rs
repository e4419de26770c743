//! A fake model server: a real HTTP server on loopback for all five wires, with scripted
//! answers and failures.
//!
//! ```no_run
//! # use rheon_testkit::server::{Fault, FakeServer, FakeReply, Script};
//! # async fn example() -> std::io::Result<()> {
//! let server = FakeServer::start(Script::new([
//!     FakeReply::status(529),
//!     FakeReply::thinking("Hm.", "sig").and_call("read", &serde_json::json!({"path": "a.txt"})),
//!     FakeReply::text("All done.").with(Fault::Pieces(1)),
//! ]))
//! .await?;
//! let address = format!("{}/v1/messages", server.url());
//! # drop(address); Ok(()) }
//! ```
//!
//! Requests are validated by the rules that the service publishes. An invalid request gets the service's own 400 and does
//! not use up a reply.

mod answer;
mod condition;
mod event;
mod extras;
mod fault;
mod flush;
mod incoming;
mod issued;
mod listen;
mod plan;
mod play;
mod record;
mod refusal;
mod reply;
mod request_info;
mod route;
mod rules;
mod script;
mod serve;
mod state;
mod wire;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rheon_providers::wire::WireKind;
use tokio::net::TcpListener;

pub use condition::ReplyCondition;
pub use fault::{Fault, Tick};
pub use record::{RecordedRequest, ReplyEnd, ReplyProgress};
pub use refusal::ServiceError;
pub use reply::{
    BedrockFraming, FakeReply, ReasoningField, ReplyBlock, ReplyCount, ReplyStop, ReplyStyle, SseStyle,
    UsageReport,
};
pub use rules::{ChatIds, RequestRules, RequestStrictness};
pub use script::{Script, ScriptError};

use listen::Certificate;
use state::State;

/// The server. Stops when it is dropped.
#[derive(Debug)]
pub struct FakeServer {
    state: Arc<State>,
    address: SocketAddr,
    certificate: Option<String>,
}

/// The protocol between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerProtocol {
    /// Plain HTTP/1.1, or HTTP/2 with prior knowledge.
    Plain,
    /// TLS with a self-signed certificate; HTTP/1.1 or HTTP/2 as the client prefers.
    Tls,
}

impl FakeServer {
    /// Starts a server on a free port of 127.0.0.1.
    pub async fn start(script: impl Into<Script>) -> io::Result<Self> {
        Self::start_at(0, ServerProtocol::Plain, script).await
    }

    /// Starts a server with TLS; clients must trust its [`certificate`](Self::certificate).
    pub async fn start_tls(script: impl Into<Script>) -> io::Result<Self> {
        Self::start_at(0, ServerProtocol::Tls, script).await
    }

    /// Starts a server on this port of 127.0.0.1; 0 for a free one.
    pub async fn start_at(
        port: u16,
        protocol: ServerProtocol,
        script: impl Into<Script>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let (certificate, acceptor) = match protocol {
            ServerProtocol::Plain => (None, None),
            ServerProtocol::Tls => {
                let Certificate { pem, acceptor } = Certificate::new()?;
                (Some(pem), Some(acceptor))
            }
        };
        let state = Arc::new(State::new(script.into()));
        state.spawn(listen::accept(listener, acceptor, Arc::clone(&state)));
        Ok(Self { state, address, certificate })
    }

    /// The URL, without a trailing slash.
    pub fn url(&self) -> String {
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// The base URL for clients of this wire.
    pub fn base_url(&self, wire: WireKind) -> String {
        match wire {
            WireKind::Chat | WireKind::Responses => format!("{}/v1", self.url()),
            WireKind::Anthropic | WireKind::Gemini | WireKind::Bedrock => self.url(),
        }
    }

    /// The certificate that clients must trust, in PEM format; `None` without TLS.
    pub fn certificate(&self) -> Option<&str> {
        self.certificate.as_deref()
    }

    /// All requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state.records.read(|log| log.requests.clone())
    }

    /// The number of accepted connections.
    pub fn connections(&self) -> usize {
        self.state.records.read(|log| log.connections)
    }

    /// The progress of the response to request `number`, starting at 1.
    pub fn progress(&self, number: usize) -> Option<ReplyProgress> {
        self.state.records.read(|log| log.progress.get(number.checked_sub(1)?).cloned())
    }

    /// Waits for request `number`, starting at 1.
    pub async fn wait_for_request(&self, number: usize) -> RecordedRequest {
        self.state.records.wait(|log| log.requests.get(number.checked_sub(1)?).cloned()).await
    }

    /// Waits until the progress of request `number` satisfies `condition`.
    pub async fn wait_for_progress(
        &self,
        number: usize,
        condition: impl Fn(&ReplyProgress) -> bool,
    ) -> ReplyProgress {
        let find = |progress: &&ReplyProgress| condition(progress);
        self.state.records.wait(|log| log.progress.get(number.checked_sub(1)?).filter(find).cloned()).await
    }

    /// Waits until the response to request `number` stalls until [`release`](Self::release).
    pub async fn wait_for_stall(&self, number: usize) {
        self.wait_for_progress(number, |progress| progress.stalled).await;
    }

    /// Waits until the response to request `number` has ended.
    pub async fn wait_for_end(&self, number: usize) -> ReplyEnd {
        self.state.records.wait(|log| log.progress.get(number.checked_sub(1)?)?.ending).await
    }

    /// Waits until this many connections have been closed.
    pub async fn wait_for_close(&self, connections: usize) {
        self.state.records.wait(|log| (log.closed >= connections).then_some(())).await;
    }

    /// Releases all current and future stalls of requests that have arrived.
    pub fn release(&self) {
        self.state.records.change(|log| log.releases += 1);
    }

    /// Sends this many ticks to responses that wait for them.
    pub fn tick(&self, times: usize) {
        self.state.ticks.add_permits(times);
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.state.stop.cancel();
    }
}
