//! A fake model server: a real HTTP server on loopback that speaks all five wires, answers by script and fails by script.
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
//! Each request is held to the rules that the service publishes; one that breaks them gets the service's own 400 and uses
//! up no reply.

mod answer;
mod asked;
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
mod route;
mod rules;
mod script;
mod serve;
mod state;
mod tls;
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

use state::State;
use tls::Certificate;

/// The server. Stops when it is dropped.
#[derive(Debug)]
pub struct FakeServer {
    state: Arc<State>,
    address: SocketAddr,
    certificate: Option<String>,
}

/// What a client speaks with the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Plain HTTP/1.1, or HTTP/2 with prior knowledge.
    Plain,
    /// TLS with a certificate of the server's own; HTTP/1.1 or HTTP/2 as the client likes.
    Tls,
}

impl FakeServer {
    /// Starts a server on a free port of 127.0.0.1.
    pub async fn start(script: impl Into<Script>) -> io::Result<Self> {
        Self::start_at(0, Protection::Plain, script).await
    }

    /// Starts a server that speaks TLS; [`certificate`](Self::certificate) is what clients must trust.
    pub async fn start_tls(script: impl Into<Script>) -> io::Result<Self> {
        Self::start_at(0, Protection::Tls, script).await
    }

    /// Starts a server on this port of 127.0.0.1; 0 for a free one.
    pub async fn start_at(port: u16, protection: Protection, script: impl Into<Script>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let (certificate, acceptor) = match protection {
            Protection::Plain => (None, None),
            Protection::Tls => {
                let Certificate { pem, acceptor } = Certificate::new()?;
                (Some(pem), Some(acceptor))
            }
        };
        let state = Arc::new(State::new(script.into()));
        state.spawn(listen::accept(listener, acceptor, Arc::clone(&state)));
        Ok(Self { state, address, certificate })
    }

    /// Its address, without a slash at the end.
    pub fn url(&self) -> String {
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// The address below which a client of this wire puts the wire's path.
    pub fn base_url(&self, wire: WireKind) -> String {
        match wire {
            WireKind::Chat | WireKind::Responses => format!("{}/v1", self.url()),
            WireKind::Anthropic | WireKind::Gemini | WireKind::Bedrock => self.url(),
        }
    }

    /// The certificate that clients must trust, in PEM; none without TLS.
    pub fn certificate(&self) -> Option<&str> {
        self.certificate.as_deref()
    }

    /// All requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state.records.read(|board| board.requests.clone())
    }

    /// How many connections were accepted so far.
    pub fn connections(&self) -> usize {
        self.state.records.read(|board| board.connections)
    }

    /// How far the answer to request `number` (from 1) is.
    pub fn progress(&self, number: usize) -> Option<ReplyProgress> {
        self.state.records.read(|board| board.progress.get(number.checked_sub(1)?).cloned())
    }

    /// Waits for request `number` (from 1).
    pub async fn arrived(&self, number: usize) -> RecordedRequest {
        self.state.records.wait(|board| board.requests.get(number.checked_sub(1)?).cloned()).await
    }

    /// Waits until the answer to request `number` (from 1) is as `wanted`.
    pub async fn reached(&self, number: usize, wanted: impl Fn(&ReplyProgress) -> bool) -> ReplyProgress {
        let find = |progress: &&ReplyProgress| wanted(progress);
        self.state
            .records
            .wait(|board| board.progress.get(number.checked_sub(1)?).filter(find).cloned())
            .await
    }

    /// Waits until the answer to request `number` (from 1) stands still until [`release`](Self::release).
    pub async fn stalled(&self, number: usize) {
        self.reached(number, |progress| progress.stalled).await;
    }

    /// Waits until the answer to request `number` (from 1) has ended.
    pub async fn ended(&self, number: usize) -> ReplyEnd {
        self.state.records.wait(|board| board.progress.get(number.checked_sub(1)?)?.ending).await
    }

    /// Waits until so many connections have been closed.
    pub async fn closed(&self, connections: usize) {
        self.state.records.wait(|board| (board.closed >= connections).then_some(())).await;
    }

    /// Lets all answers go on that stand still, or will, to requests that have arrived.
    pub fn release(&self) {
        self.state.records.change(|board| board.releases += 1);
    }

    /// Gives so many ticks to answers that wait for them.
    pub fn tick(&self, times: usize) {
        self.state.ticks.add_permits(times);
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.state.stop.cancel();
    }
}
