//! `Server`: a configured server that is kept connected, and its state.

use std::sync::Arc;
use std::time::Duration;

use rheon_types::event::{Notice, NoticeTopic};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::client::{McpClient, McpServerInfo};
use super::error::McpError;
use super::offers::McpPrompt;
use super::spec::McpServerSpec;
use super::tool::McpTool;

/// A connection that lasted this long counts as a success; an earlier end counts as a failed attempt.
const STABLE_AFTER: Duration = Duration::from_secs(30);

/// The pause between two readings of a server's tools.
const LIST_PAUSE: Duration = Duration::from_millis(500);

/// Where a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpStatus {
    /// The first attempt is being made.
    Connecting,
    Connected,
    /// It was connected or failed before, and is tried again.
    Reconnecting,
    /// It is not tried again by itself.
    Failed,
    /// It wants the user to log in.
    NeedsAuthorization,
}

impl McpStatus {
    /// The word for it in Claude Code's protocol.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connecting | Self::Reconnecting => "pending",
            Self::Connected => "connected",
            Self::Failed => "failed",
            Self::NeedsAuthorization => "needs-auth",
        }
    }
}

/// What a person sees of a server.
#[derive(Debug, Clone)]
pub struct McpServerView {
    pub name: String,
    pub status: McpStatus,
    /// Why it is not connected.
    pub error: Option<String>,
    pub info: Option<McpServerInfo>,
    pub tools: Arc<[McpTool]>,
    pub prompts: Arc<[McpPrompt]>,
}

/// The state of a server.
#[derive(Clone)]
pub(super) struct ServerState {
    /// Increases with every change.
    pub(super) revision: u64,
    pub(super) status: McpStatus,
    pub(super) error: Option<String>,
    pub(super) client: Option<Arc<McpClient>>,
    pub(super) info: Option<McpServerInfo>,
    /// Offered as long as the server is connected or tried again.
    pub(super) tools: Arc<[McpTool]>,
    pub(super) prompts: Arc<[McpPrompt]>,
}

/// Where messages for the user go.
pub(super) type NoticeSink = Arc<dyn Fn(Notice) + Send + Sync>;

/// A configured server.
pub(super) struct Server {
    spec: McpServerSpec,
    state: watch::Sender<ServerState>,
    stop: CancellationToken,
    /// Asks for a new connection now.
    retry: Notify,
    notices: NoticeSink,
}

/// Why a connection is over.
enum End {
    Stopped,
    /// A new one is wanted.
    Retry,
    Lost,
}

impl Server {
    /// Starts to connect in the background.
    pub(super) fn start(spec: McpServerSpec, notices: NoticeSink) -> Arc<Self> {
        let (state, _) = watch::channel(ServerState {
            revision: 0,
            status: McpStatus::Connecting,
            error: None,
            client: None,
            info: None,
            tools: Arc::new([]),
            prompts: Arc::new([]),
        });
        let stop = CancellationToken::new();
        let server = Arc::new(Self { spec, state, stop, retry: Notify::new(), notices });
        tokio::spawn(Arc::clone(&server).run());
        server
    }

    pub(super) fn name(&self) -> &str {
        &self.spec.name
    }

    pub(super) fn state(&self) -> ServerState {
        self.state.borrow().clone()
    }

    pub(super) fn revision(&self) -> u64 {
        self.state.borrow().revision
    }

    pub(super) fn view(&self) -> McpServerView {
        let ServerState { status, error, info, tools, prompts, .. } = self.state();
        McpServerView { name: self.spec.name.clone(), status, error, info, tools, prompts }
    }

    /// Connects again, now.
    pub(super) fn reconnect(&self) {
        self.retry.notify_one();
    }

    /// Waits until the first attempt has ended, one way or the other.
    pub(super) async fn settled(&self) -> McpStatus {
        let mut states = self.state.subscribe();
        // The sender lives as long as `self`.
        let settled = states.wait_for(|state| state.status != McpStatus::Connecting).await;
        settled.map_or(McpStatus::Failed, |state| state.status)
    }

    /// The connection; waits while there is hope for one. The error says why there is none.
    pub(super) async fn connected(&self) -> Result<Arc<McpClient>, String> {
        let mut states = self.state.subscribe();
        let decided = |state: &ServerState| match state.status {
            McpStatus::Connected | McpStatus::Failed | McpStatus::NeedsAuthorization => true,
            McpStatus::Connecting | McpStatus::Reconnecting => false,
        };
        let waiting = tokio::time::timeout(self.spec.timeouts.startup, states.wait_for(decided));
        let state = match waiting.await {
            Ok(Ok(state)) => state.clone(),
            Ok(Err(_)) | Err(_) => self.state(),
        };
        let error = state.error.unwrap_or_else(|| "it does not answer".to_owned());
        state.client.ok_or(error)
    }

    /// Ends the connection in order, and makes no further attempt.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        if let Some(client) = self.state().client {
            client.close().await;
        }
    }

    /// Stops without waiting.
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }

    async fn run(self: Arc<Self>) {
        let mut failures = 0;
        loop {
            let attempt = tokio::select! {
                attempt = self.attempt() => attempt,
                () = self.stop.cancelled() => return,
            };
            let error = match attempt {
                Ok(client) => {
                    let began = Instant::now();
                    match self.stay(&client).await {
                        End::Stopped => return,
                        End::Retry => {
                            failures = 0;
                            self.lose(McpStatus::Reconnecting, None);
                            continue;
                        }
                        End::Lost => {
                            if began.elapsed() >= STABLE_AFTER {
                                failures = 0;
                            }
                            McpError::Closed(String::new())
                        }
                    }
                }
                Err(error) => error,
            };
            failures += 1;
            if self.wait_after(&error, failures).await.is_none() {
                return;
            }
        }
    }

    /// Waits for the next attempt; `None` if there is none.
    async fn wait_after(&self, error: &McpError, failures: u32) -> Option<()> {
        let wait = if error.is_temporary() { pause(failures) } else { None };
        let status = match (wait, error) {
            (Some(_), _) => McpStatus::Reconnecting,
            (None, McpError::AuthorizationRequired { .. }) => McpStatus::NeedsAuthorization,
            (None, _) => McpStatus::Failed,
        };
        self.lose(status, Some(error.to_string()));
        if wait.is_none() {
            let text = format!("MCP server {:?}: {error}", self.spec.name);
            (self.notices)(Notice::warning(NoticeTopic::Tools, text));
        }
        let next = async {
            match wait {
                Some(wait) => sleep(wait).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = next => Some(()),
            () = self.retry.notified() => {
                self.lose(McpStatus::Reconnecting, None);
                Some(())
            }
            () = self.stop.cancelled() => None,
        }
    }

    /// Connects and reads the tools.
    async fn attempt(&self) -> Result<Arc<McpClient>, McpError> {
        let client = Arc::new(McpClient::connect(&self.spec).await?);
        let (tools, prompts) = (self.tools(&client).await?, self.prompts(&client).await);
        self.state.send_modify(|state| {
            state.revision += 1;
            state.status = McpStatus::Connected;
            state.error = None;
            state.info = Some(client.info().clone());
            state.client = Some(Arc::clone(&client));
            state.tools = tools.into();
            state.prompts = prompts.into();
        });
        Ok(client)
    }

    /// The tools that are used, within the startup timeout.
    async fn tools(&self, client: &McpClient) -> Result<Vec<McpTool>, McpError> {
        let timeout = self.spec.timeouts.startup;
        let listed = tokio::time::timeout(timeout, client.tools()).await;
        let mut tools = listed.unwrap_or(Err(McpError::TimedOut(timeout)))?;
        tools.retain(|tool| self.spec.filter.accepts(&tool.remote_name));
        Ok(tools)
    }

    /// The prompts. A server that cannot list them has none.
    async fn prompts(&self, client: &McpClient) -> Vec<McpPrompt> {
        let listed = tokio::time::timeout(self.spec.timeouts.startup, client.prompts()).await;
        listed.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// Follows the changes of a connected server until the connection is over.
    async fn stay(&self, client: &McpClient) -> End {
        loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => {
                    client.close().await;
                    return End::Stopped;
                }
                () = self.retry.notified() => {
                    client.close().await;
                    return End::Retry;
                }
                () = client.closed() => return End::Lost,
                () = client.changed() => {}
            }
            // A list that cannot be read leaves the last one in place.
            if let Ok(tools) = self.tools(client).await {
                let prompts = self.prompts(client).await;
                self.state.send_if_modified(|state| {
                    state.prompts = prompts.into();
                    let is_changed = *state.tools != *tools;
                    if is_changed {
                        state.revision += 1;
                        state.tools = tools.into();
                    }
                    is_changed
                });
            }
            tokio::select! {
                () = sleep(LIST_PAUSE) => {}
                () = client.closed() => {}
                () = self.stop.cancelled() => {}
            }
        }
    }

    /// The connection is closed.
    fn lose(&self, status: McpStatus, error: Option<String>) {
        self.state.send_modify(|state| {
            state.revision += 1;
            state.status = status;
            state.client = None;
            state.error = error;
            match status {
                McpStatus::Failed | McpStatus::NeedsAuthorization => state.tools = Arc::new([]),
                McpStatus::Connecting | McpStatus::Connected | McpStatus::Reconnecting => {}
            }
        });
    }
}

/// How many attempts in a row may fail before a server is left alone.
const ATTEMPTS_MAX: u32 = 5;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);

/// The pause after `failures` attempts in a row have failed. `None` if there is no further attempt.
fn pause(failures: u32) -> Option<Duration> {
    let doubled = || FIRST.saturating_mul(1 << failures.saturating_sub(1).min(16));
    (failures < ATTEMPTS_MAX).then(|| doubled().min(LONGEST))
}
