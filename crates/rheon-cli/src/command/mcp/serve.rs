//! `rheon mcp serve`: other programs run agents through the Model Context Protocol.

use std::collections::HashMap;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt as _;
use rheon_app::session::{HostExtensions, HostParts};
use rheon_types::event::{ApprovalRequest, PermissionDecision, PermissionResponse, Subject};
use rheon_types::protocol::{CloseReason, OpenRequest, SessionChoice};
use rheon_types::{
    AgentEvent, ApprovalEvent, Command, Event, Host, RunEnd, RunEvent, Subscription, ToolEvent,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::super::setup::{config, system};
use super::serve_text::{approval_text, initialized, progress_line, tools};
use crate::connection::Connection;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::host::host;
use crate::runtime::{block_on, start_thread, thread_failure};

/// Let other programs run agents: an MCP server on standard input and output
///
/// The tool `run_agent` answers a prompt in this directory, with your settings and rules. Calls that need approval are
/// asked of the other program's user if it supports that, and denied otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// The model, as vendor/model
    #[arg(long)]
    model: Option<String>,
}

/// The longest message.
const MESSAGE_BYTES_MAX: u64 = 16 << 20;

impl Serve {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let config = config(&system)?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let parts = HostParts { system, config, extras: HostExtensions::default(), trace: None, version };
        block_on(async {
            let (lines, mut written) = mpsc::unbounded_channel::<String>();
            let server =
                Arc::new(Server { host: host(parts), model: self.model, lines, state: Mutex::default() });
            let mut input = input().map_err(thread_failure)?;
            loop {
                tokio::select! {
                    biased;
                    Some(line) = written.recv() => write(&line)?,
                    line = input.recv() => match line {
                        Some(line) => Arc::clone(&server).take(&line),
                        None => break,
                    },
                }
            }
            // What runs is canceled; its answer is not read.
            server.lock().calls.drain().for_each(|(_, cancel)| cancel.cancel());
            Ok(Exit::Done)
        })
    }
}

fn write(line: &str) -> Result<(), Failure> {
    let failed = |error| Failure::error(format_args!("cannot write to standard output: {error}"));
    let mut output = io::stdout().lock();
    writeln!(output, "{line}").and_then(|()| output.flush()).map_err(failed)
}

/// The lines of standard input. One that is too long ends the connection.
fn input() -> io::Result<mpsc::Receiver<String>> {
    let (sender, receiver) = mpsc::channel(16);
    start_thread("rheon-input", move || {
        let mut stdin = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = (&mut stdin).take(MESSAGE_BYTES_MAX).read_until(b'\n', &mut line);
            let is_whole = line.last() == Some(&b'\n');
            if !matches!(read, Ok(1..)) || (!is_whole && line.len() as u64 >= MESSAGE_BYTES_MAX) {
                return;
            }
            let line = String::from_utf8_lossy(&line).into_owned();
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}

/// The server: what other programs ask for, and what it asks them.
struct Server {
    host: Arc<dyn Host>,
    model: Option<String>,
    lines: mpsc::UnboundedSender<String>,
    state: Mutex<ServerState>,
}

#[derive(Default)]
struct ServerState {
    /// Calls that run, by the text of their ids.
    calls: HashMap<String, CancellationToken>,
    /// Our questions without an answer.
    questions: HashMap<String, oneshot::Sender<Value>>,
    asked: u64,
    /// Whether the other program can ask its user.
    can_ask: bool,
}

impl Server {
    fn lock(&self) -> std::sync::MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, message: &Value) {
        // Without a writer there is no reader.
        drop(self.lines.send(message.to_string()));
    }

    fn answer(&self, id: &Value, result: &Value) {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn refuse(&self, id: &Value, code: i32, message: &str) {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
    }

    /// Takes one message.
    fn take(self: Arc<Self>, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            return self.refuse(&Value::Null, -32_700, "this is not JSON");
        };
        let (id, params) = (message.get("id"), message.get("params").unwrap_or(&Value::Null));
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => self.request(method, id, params),
            (Some("notifications/cancelled"), None) => {
                let canceled = params.get("requestId").map(Value::to_string).unwrap_or_default();
                if let Some(cancel) = self.lock().calls.get(&canceled) {
                    cancel.cancel();
                }
            }
            (Some(_), None) | (None, None) => {}
            (None, Some(id)) => {
                let question = self.lock().questions.remove(&id.to_string());
                if let Some(question) = question {
                    // A run that has ended waits no more.
                    drop(question.send(message.get("result").cloned().unwrap_or_default()));
                }
            }
        }
    }

    fn request(self: Arc<Self>, method: &str, id: &Value, params: &Value) {
        match method {
            "initialize" => {
                let can_ask = params.pointer("/capabilities/elicitation").is_some_and(Value::is_object);
                self.lock().can_ask = can_ask;
                self.answer(id, &initialized(params));
            }
            "ping" => self.answer(id, &json!({})),
            "tools/list" => self.answer(id, &tools()),
            "tools/call" => {
                let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
                if name != "run_agent" {
                    return self.refuse(id, -32_602, "unknown tool; the only tool is run_agent");
                }
                let prompt = params.pointer("/arguments/prompt").and_then(Value::as_str);
                let Some(prompt) = prompt.filter(|prompt| !prompt.trim().is_empty()) else {
                    return self.refuse(id, -32_602, "`prompt` is missing");
                };
                let session = params.pointer("/arguments/session_id").and_then(Value::as_str);
                let cancel = CancellationToken::new();
                self.lock().calls.insert(id.to_string(), cancel.clone());
                let call = AgentCall {
                    prompt: prompt.to_owned(),
                    session: session.map(str::to_owned),
                    progress_token: params.pointer("/_meta/progressToken").cloned(),
                    cancel,
                };
                let id = id.clone();
                tokio::spawn(async move {
                    let result = self.run(call).await;
                    let canceled =
                        self.lock().calls.remove(&id.to_string()).is_some_and(|it| it.is_cancelled());
                    if !canceled {
                        self.answer(&id, &result);
                    }
                });
            }
            _ => self.refuse(id, -32_601, "unknown method"),
        }
    }

    /// Runs an agent; the result of the call.
    async fn run(&self, call: AgentCall) -> Value {
        match self.run_to_end(call).await {
            Ok(result) => result,
            Err(problem) => {
                json!({ "content": [{ "type": "text", "text": problem }], "isError": true })
            }
        }
    }

    async fn run_to_end(&self, call: AgentCall) -> Result<Value, String> {
        let session = match call.session {
            Some(id) => SessionChoice::Named { id },
            None => SessionChoice::New { session_id: None },
        };
        let request = OpenRequest {
            session,
            task: Some(call.prompt.clone()),
            model: self.model.clone(),
            ..OpenRequest::default()
        };
        let session = Connection::open(&*self.host, request).await.map_err(|failure| failure.to_string())?;
        let facts = session.facts().await.map_err(|error| error.to_string())?;
        let events = Subscription::after(facts.opened_at);
        let can_ask = self.lock().can_ask;
        let mut events = session.events(if can_ask { events.answering() } else { events });
        let prompt = Command::Prompt { content: vec![rheon_types::Content::text(call.prompt.as_str())] };
        session.send(prompt).await.map_err(|error| error.to_string())?;
        let (mut steps, mut is_canceled) = (0, false);
        let output = loop {
            let event = tokio::select! {
                event = events.next() => event,
                () = call.cancel.cancelled(), if !is_canceled => {
                    is_canceled = true;
                    session.send(Command::Cancel { child: None }).await.map_err(|error| error.to_string())?;
                    continue;
                }
            };
            let event = event.ok_or("the session ended")?.map_err(|error| error.to_string())?;
            if let AgentEvent::Run(RunEvent::End { output }) = &event.kind {
                break Arc::clone(output);
            }
            if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
                let response = self.ask(request).await;
                let answer = Command::RespondPermission { request_id: request.id.clone(), response };
                // Another client may have answered.
                drop(session.send(answer).await);
            }
            self.report(&event, call.progress_token.as_ref(), &mut steps);
        };
        session.close(CloseReason::Other).await.map_err(|failure| failure.to_string())?;
        let is_error = output.end != RunEnd::Completed;
        let text = if output.text.is_empty() {
            format!("the run ended: {:?}", output.end)
        } else {
            output.text.clone()
        };
        Ok(json!({
            "content": [{ "type": "text", "text": text }],
            "structuredContent": { "session_id": facts.session_id, "text": output.text, "turns": output.turns },
            "isError": is_error,
        }))
    }

    fn report(&self, event: &Event, token: Option<&Value>, steps: &mut u64) {
        let (Some(token), AgentEvent::Tool(ToolEvent::Start { name, args, .. })) = (token, &event.kind)
        else {
            return;
        };
        *steps += 1;
        let params = json!({ "progressToken": token, "progress": *steps, "message": progress_line(name.as_str(), args) });
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }));
    }

    /// Asks the other program's user about a call.
    async fn ask(&self, request: &ApprovalRequest) -> PermissionResponse {
        if let Subject::Questions { .. } = request.subject {
            return PermissionResponse::denied("the program that runs this agent cannot answer questions");
        }
        let (sender, answer) = oneshot::channel();
        let id = {
            let mut state = self.lock();
            state.asked += 1;
            let id = json!(format!("rheon-{}", state.asked));
            state.questions.insert(id.to_string(), sender);
            id
        };
        let schema = json!({
            "type": "object",
            "properties": { "allow": { "type": "boolean", "title": "Allow this call" } },
            "required": ["allow"],
        });
        let params = json!({ "message": approval_text(request), "requestedSchema": schema });
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params }));
        let answer = answer.await.unwrap_or_default();
        let is_allowed = answer.get("action").and_then(Value::as_str) == Some("accept")
            && answer.pointer("/content/allow").and_then(Value::as_bool) == Some(true);
        if is_allowed {
            return PermissionResponse {
                digest: Some(request.digest.clone()),
                ..PermissionDecision::Allow.into()
            };
        }
        PermissionResponse::denied("the user of the calling program did not allow it")
    }
}

/// One call of `run_agent`.
struct AgentCall {
    prompt: String,
    /// The session to continue.
    session: Option<String>,
    progress_token: Option<Value>,
    cancel: CancellationToken,
}
