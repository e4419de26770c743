//! `McpClient`: one connection to a server.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rheon_types::{Content, ToolContext};
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam, ClientRequest,
    ElicitationAction, InputRequest, InputRequiredResult, InputResponses, PaginatedRequestParams,
    ProgressToken, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RunningService, ServiceError};
use secrecy::SecretString;
use serde_json::{Map, Value};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::active::{ActiveCall, ActiveCalls, CallActivity};
use super::challenge::refused_request;
use super::child::ErrorOutput;
use super::clean::{causes, short_line};
use super::content;
use super::error::McpError;
use super::handler::Handler;
use super::spec::{HttpEndpoint, McpConnection, McpServerSpec, StdioProgram};
use super::tool::McpTool;

/// The most tools of one server, and the most pages they come in.
const TOOLS_MAX: usize = 1_000;
const PAGES_MAX: usize = 100;

/// How often a call may ask for input before it must finish.
const INPUT_ROUNDS_MAX: usize = 10;

/// How long to wait for an orderly end of a connection.
const CLOSE_WAIT: Duration = Duration::from_secs(5);

/// What a server says about itself, cleaned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpServerInfo {
    /// The name and version of the program.
    pub program: String,
    /// The version of the protocol that is spoken.
    pub protocol: String,
    /// How its tools are to be used, for the model.
    pub instructions: Option<String>,
    pub has_tools: bool,
    pub has_resources: bool,
    pub has_prompts: bool,
}

/// One connection to a server. Calls may run at the same time. Dropping it ends the connection, and a child process with
/// everything that it started.
pub struct McpClient {
    pub(super) server: Arc<str>,
    pub(super) service: RunningService<RoleClient, Handler>,
    pub(super) handler: Handler,
    pub(super) info: McpServerInfo,
    pub(super) diagnostics: ConnectionDiagnostics,
    /// Canceled when the connection has ended.
    pub(super) end: CancellationToken,
    pub(super) call_timeout: Duration,
}

/// What is known about a connection besides its messages.
#[derive(Debug, Clone, Default)]
pub(super) struct ConnectionDiagnostics {
    pub(super) errors: ErrorOutput,
    /// Lines that are not messages.
    pub(super) ignored: Arc<AtomicU64>,
}

impl McpClient {
    /// Starts a program and connects to it. It gets the variables of `environment` and no others.
    pub async fn connect_stdio(
        command: impl Into<String>,
        arguments: &[&str],
        environment: BTreeMap<String, String>,
    ) -> Result<Self, McpError> {
        let command = command.into();
        let name = command.rsplit(['/', '\\']).next().unwrap_or(&command).to_owned();
        let program = StdioProgram {
            command,
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            environment: environment
                .into_iter()
                .map(|(key, value)| (key, SecretString::from(value)))
                .collect(),
            directory: None,
            log: None,
        };
        Self::connect(&McpServerSpec::new(name, McpConnection::Stdio(program))).await
    }

    /// Connects to an address with streamable HTTP.
    pub async fn connect_http(url: impl Into<String>) -> Result<Self, McpError> {
        let url = url.into();
        let name = super::http_client::address(&url)?.host_str().unwrap_or("http").to_owned();
        let endpoint = HttpEndpoint { url, headers: BTreeMap::new(), login: None };
        Self::connect(&McpServerSpec::new(name, McpConnection::Http(endpoint))).await
    }

    /// The name of the server in the configuration.
    pub fn server(&self) -> &str {
        &self.server
    }

    pub fn info(&self) -> &McpServerInfo {
        &self.info
    }

    /// The end of what a child process wrote to its standard error.
    pub fn error_output(&self) -> String {
        self.diagnostics.errors.text()
    }

    /// How many lines of a child process were not messages.
    pub fn ignored_lines(&self) -> u64 {
        self.diagnostics.ignored.load(Ordering::Relaxed)
    }

    /// All tools of the server. More than 1,000 are not read; invalid ones are left out.
    pub async fn tools(&self) -> Result<Vec<McpTool>, McpError> {
        let (mut tools, mut names) = (Vec::new(), HashSet::new());
        if !self.info.has_tools {
            return Ok(tools);
        }
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let page =
                self.service.peer().list_tools(Some(params)).await.map_err(|error| self.failed(error))?;
            let free = TOOLS_MAX.saturating_sub(tools.len());
            let read = page.tools.iter().take(free);
            tools.extend(read.filter_map(|tool| McpTool::of(&self.server, tool, &mut names)));
            if page.next_cursor.is_none() || page.next_cursor == cursor || tools.len() >= TOOLS_MAX {
                break;
            }
            cursor = page.next_cursor;
        }
        Ok(tools)
    }

    /// Calls a tool by the server's own name for it. Progress and questions go to `context`; if it is canceled, the
    /// server is asked to stop. A result that says it is an error becomes one.
    pub async fn call_tool(
        &self,
        tool: &str,
        arguments: &Value,
        context: Option<&ToolContext>,
    ) -> Result<Vec<Content>, McpError> {
        let answer = self.call(tool, content::arguments(arguments), context).await?;
        let result = content::result(&self.server, answer);
        result.map(|result| result.content).map_err(|error| McpError::Server(error.to_string()))
    }

    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        context: Option<&ToolContext>,
    ) -> Result<CallToolResult, McpError> {
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        for _ in 0..INPUT_ROUNDS_MAX {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
            match self.request(request, context).await? {
                ServerResult::CallToolResult(result) => return Ok(result),
                ServerResult::InputRequiredResult(wanted) => {
                    params.request_state.clone_from(&wanted.request_state);
                    params.input_responses = self.input(wanted, context).await?;
                }
                _ => return Err(McpError::UnexpectedAnswer),
            }
        }
        Err(McpError::InputRounds(INPUT_ROUNDS_MAX))
    }

    /// Asks the user for what a call needs to continue.
    async fn input(
        &self,
        wanted: InputRequiredResult,
        context: Option<&ToolContext>,
    ) -> Result<Option<InputResponses>, McpError> {
        let mut responses = InputResponses::new();
        for (key, request) in wanted.input_requests.unwrap_or_default() {
            let InputRequest::Elicitation(request) = request else {
                return Err(McpError::Server("the server asks for something other than input".into()));
            };
            // It belongs to no open request, so it has no time limit.
            let call = ActiveCall {
                token: ProgressToken(RequestId::Number(-1)),
                context: context.cloned(),
                activity: Arc::default(),
            };
            let answer = self.handler.elicit(Some(call), request.params).await;
            if answer.action == ElicitationAction::Cancel {
                return Err(McpError::Server(
                    "the server asked for input, and no answer was possible".into(),
                ));
            }
            let answer = serde_json::to_value(answer).map_err(|error| McpError::Server(error.to_string()))?;
            responses.insert(key, answer);
        }
        Ok((!responses.is_empty()).then_some(responses))
    }

    /// Sends a request and waits for its answer, as long as there is progress.
    pub(super) async fn request(
        &self,
        request: ClientRequest,
        context: Option<&ToolContext>,
    ) -> Result<ServerResult, McpError> {
        let peer = self.service.peer();
        let activity = Arc::<CallActivity>::default();
        let mut calls = self.handler.calls.lock().await;
        let sent = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let handle = sent.map_err(|error| self.failed(error))?;
        let token = handle.progress_token.clone();
        calls.push(ActiveCall {
            token: token.clone(),
            context: context.cloned(),
            activity: Arc::clone(&activity),
        });
        drop(calls);
        let mut open = OpenRequest {
            peer: peer.clone(),
            calls: Arc::clone(&self.handler.calls),
            token,
            id: Some(handle.id.clone()),
        };
        let cancel = context.map(|context| context.cancel.clone()).unwrap_or_default();
        let answer = handle.await_response();
        tokio::pin!(answer);
        let deadline = tokio::time::sleep(self.call_timeout);
        tokio::pin!(deadline);
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => {
                    open.id = None;
                    return answer.map_err(|error| self.failed(error));
                }
                () = cancel.cancelled() => return Err(McpError::Canceled),
                () = activity.news.notified() => deadline.as_mut().reset(Instant::now() + self.call_timeout),
                () = &mut deadline, if !activity.waits_for_person() => {
                    return Err(McpError::TimedOut(self.call_timeout));
                }
            }
        }
    }

    /// What went wrong, with a hint from the server's error output.
    pub(super) fn failed(&self, error: ServiceError) -> McpError {
        match error {
            ServiceError::McpError(error) => McpError::Server(short_line(&error.message)),
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => {
                let hint = self.diagnostics.errors.last_line();
                McpError::Closed(hint.map(|line| format!("; it wrote: {line}")).unwrap_or_default())
            }
            ServiceError::UnexpectedResponse => McpError::UnexpectedAnswer,
            other => refused_request(&other).unwrap_or_else(|| McpError::Server(causes(&other))),
        }
    }

    /// Waits until the server's lists have changed.
    pub(super) async fn changed(&self) {
        self.changes().notified().await;
    }

    fn changes(&self) -> &Notify {
        &self.handler.changed
    }

    /// Waits until the connection has ended.
    pub async fn closed(&self) {
        self.end.cancelled().await;
    }

    /// Ends the connection in order: the input of a child process is closed, and after a moment it is ended.
    pub async fn close(&self) {
        self.service.cancellation_token().cancel();
        // Dropping the client does the rest.
        drop(tokio::time::timeout(CLOSE_WAIT, self.end.cancelled()).await);
    }
}

/// A request without an answer. Dropping it tells the server that no caller waits any more.
struct OpenRequest {
    peer: Peer<RoleClient>,
    calls: Arc<ActiveCalls>,
    token: ProgressToken,
    /// `None` once it is answered.
    id: Option<RequestId>,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (calls, token) = (Arc::clone(&self.calls), self.token.clone());
        let canceled = self.id.take().map(|id| (self.peer.clone(), id));
        runtime.spawn(async move {
            calls.remove(&token).await;
            if let Some((peer, id)) = canceled {
                let params = CancelledNotificationParam::new(Some(id), Some("canceled".to_owned()));
                // A closed connection needs no cancellation.
                drop(peer.notify_cancelled(params).await);
            }
        });
    }
}
