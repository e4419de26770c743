//! `Channel`: control requests in both directions, each matched with its response.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::event::{ApprovalRequest, Subject};
use rheon_types::protocol::{ClientCallOutcome, MCP_FUNCTION};
use rheon_types::{
    AgentEvent, ApprovalEvent, ApprovalId, AssistantMessage, ClientCallId, Command, Content, Event,
    MessageEvent, RunEvent, RunId, SessionEvent, ToolCall, ToolCallId,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::input::{InputLine, UserLine};
use super::permission::{Answered, PermissionUpdate, question};
use super::request::ClientRequest;

/// How many calls are remembered at once.
const CALLS_MAX: usize = 10_000;

/// What a line or an event asks the session to do.
#[derive(Debug, Clone, PartialEq)]
pub enum ChannelInput {
    /// A prompt, or steering during a run.
    Prompt {
        content: Vec<Content>,
        uuid: Option<String>,
    },
    Command(Command),
    /// Answer it with [`Channel::answer`].
    Request {
        request_id: String,
        request: ClientRequest,
    },
    /// Permission changes that came with an answer.
    Permissions(Vec<PermissionUpdate>),
    Warning(String),
}

/// The channel of a session. Copies are the same channel.
#[derive(Clone)]
pub struct Channel {
    shared: Arc<Shared>,
}

struct Shared {
    dir: PathBuf,
    lines: mpsc::UnboundedSender<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    asked: u64,
    open: HashMap<String, Open>,
    calls: HashMap<ToolCallId, (RunId, ToolCall)>,
    is_closed: bool,
}

/// A question that waits for its answer.
enum Open {
    Approval(Box<(Arc<ApprovalRequest>, ToolCall)>),
    Callback(ClientCallId),
}

impl Channel {
    /// A channel of the session that works in `dir`; write its lines in the order in which they arrive.
    pub fn new(dir: impl Into<PathBuf>, lines: mpsc::UnboundedSender<String>) -> Self {
        let shared = Shared { dir: dir.into(), lines, state: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    /// Handles a line from the program.
    pub fn hear(&self, line: InputLine) -> Vec<ChannelInput> {
        match line {
            InputLine::User(UserLine { content, uuid, unread }) => {
                let warning = |kind| {
                    ChannelInput::Warning(format!("a block of type {kind:?} was removed from a prompt"))
                };
                let mut heard: Vec<ChannelInput> = unread.into_iter().map(warning).collect();
                heard.push(ChannelInput::Prompt { content, uuid });
                heard
            }
            InputLine::Request { request_id, request } => self.requested(request_id, request),
            InputLine::Response { request_id, outcome } => self.answered(&request_id, outcome),
            InputLine::Cancel { .. } | InputLine::KeepAlive => Vec::new(),
            InputLine::Unknown { kind } => {
                vec![ChannelInput::Warning(format!("a line of type {kind:?} was ignored: unknown type"))]
            }
        }
    }

    /// Handles an event of the session: sends approval requests to the client.
    pub fn observe(&self, event: &Event) -> Vec<ChannelInput> {
        if let AgentEvent::Message(MessageEvent::End { message }) = &event.kind
            && let (Some(answer), Some(run_id)) = (message.as_assistant(), &event.run_id)
        {
            self.lock().remember(run_id, answer);
        }
        if let AgentEvent::Run(RunEvent::Hook { call_id: Some(id), arguments: Some(arguments), .. }) =
            &event.kind
            && let Some((_, call)) = self.lock().calls.get_mut(id)
        {
            call.arguments = Arc::clone(arguments);
        }
        if let (AgentEvent::Run(RunEvent::End { .. }), Some(run_id)) = (&event.kind, &event.run_id) {
            self.lock().forget(run_id);
        }
        if let AgentEvent::Approval(ApprovalEvent::Resolved { request_id, .. }) = &event.kind {
            self.withdraw_approval(request_id);
        }
        match &event.kind {
            AgentEvent::Approval(ApprovalEvent::Required { request }) => {
                self.ask_approval(request).into_iter().collect()
            }
            AgentEvent::Session(SessionEvent::ClientCall { call_id, callback, input }) => {
                self.ask_callback(call_id, callback, input).into_iter().collect()
            }
            AgentEvent::Session(SessionEvent::ClientCallWithdrawn { call_id }) => {
                self.withdraw(|open| matches!(open, Open::Callback(open) if open == call_id));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Answers a request of the program.
    pub fn answer(&self, request_id: &str, outcome: Result<Value, String>) {
        let response = match outcome {
            Ok(response) => json!({ "subtype": "success", "request_id": request_id, "response": response }),
            Err(error) => json!({ "subtype": "error", "request_id": request_id, "error": error }),
        };
        self.write(&json!({ "type": "control_response", "response": response }));
    }

    /// The client will write no more lines: fails all pending requests and sends no new ones.
    pub fn close(&self) -> Vec<ChannelInput> {
        let open = {
            let mut state = self.lock();
            state.is_closed = true;
            std::mem::take(&mut state.open)
        };
        let mut heard = Vec::new();
        for question in open.into_values() {
            match question {
                Open::Approval(asked) => heard.push(respond(&asked.0, Answered::no(&asked.0, CLOSED))),
                Open::Callback(call_id) => heard.push(call_answered(call_id, Err(CLOSED.to_owned()))),
            }
        }
        heard
    }
}

impl State {
    /// The calls of a new answer replace the earlier ones.
    fn remember(&mut self, run_id: &RunId, answer: &AssistantMessage) {
        self.forget(run_id);
        for call in answer.tool_calls().take(CALLS_MAX.saturating_sub(self.calls.len())) {
            self.calls.insert(call.id.clone(), (run_id.clone(), call.clone()));
        }
    }

    fn forget(&mut self, run_id: &RunId) {
        self.calls.retain(|_, (of, _)| of != run_id);
    }
}

/// Approvals.
impl Channel {
    /// Asks the program. Returns the answer if it is already known.
    fn ask_approval(&self, request: &Arc<ApprovalRequest>) -> Option<ChannelInput> {
        let call = {
            let state = self.lock();
            if state.is_closed {
                return Some(respond(request, Answered::no(request, CLOSED)));
            }
            let call = state.calls.get(&request.call_id).map(|(_, call)| call.clone());
            call.unwrap_or_else(|| unseen(request))
        };
        let question = question(request, &call, &self.shared.dir);
        self.ask(&question, Open::Approval(Box::new((Arc::clone(request), call))));
        None
    }

    /// The approval was answered elsewhere, or is no longer needed.
    fn withdraw_approval(&self, id: &ApprovalId) {
        self.withdraw(|open| matches!(open, Open::Approval(asked) if asked.0.id == *id));
    }

    fn withdraw(&self, is_it: impl Fn(&Open) -> bool) {
        let withdrawn = {
            let mut state = self.lock();
            let id = state.open.iter().find(|(_, open)| is_it(open)).map(|(id, _)| id.clone());
            id.filter(|id| state.open.remove(id).is_some())
        };
        if let Some(request_id) = withdrawn {
            self.cancel(&request_id);
        }
    }

    fn approval_answered(
        &self,
        request: &ApprovalRequest,
        call: &ToolCall,
        outcome: Result<Value, String>,
    ) -> Vec<ChannelInput> {
        let mut answered = match outcome {
            Ok(answer) => Answered::read(request, call, &self.shared.dir, &answer),
            Err(problem) => Answered::no(request, &format!("permission denied: {problem}")),
        };
        let (interrupts, updates) = (answered.interrupts, std::mem::take(&mut answered.updates));
        let unread = |problem| ChannelInput::Warning(format!("a permission update was ignored: {problem}"));
        let mut heard: Vec<ChannelInput> =
            std::mem::take(&mut answered.unread).into_iter().map(unread).collect();
        // Permission changes of the answer also apply to the allowed call.
        if !updates.is_empty() {
            heard.push(ChannelInput::Permissions(updates));
        }
        heard.push(respond(request, answered));
        if interrupts {
            heard.push(ChannelInput::Command(Command::Cancel { child: None }));
        }
        heard
    }
}

/// Requests and answers.
impl Channel {
    fn requested(&self, request_id: String, request: ClientRequest) -> Vec<ChannelInput> {
        match request {
            ClientRequest::Interrupt => {
                self.answer(&request_id, Ok(json!({})));
                vec![ChannelInput::Command(Command::Cancel { child: None })]
            }
            ClientRequest::Refused { problem, .. } => {
                self.answer(&request_id, Err(problem));
                Vec::new()
            }
            ClientRequest::Initialize(_)
            | ClientRequest::SetPermissionMode { .. }
            | ClientRequest::SetModel { .. }
            | ClientRequest::SetMaxThinkingTokens { .. }
            | ClientRequest::RewindFiles { .. }
            | ClientRequest::McpStatus
            | ClientRequest::McpReconnect { .. }
            | ClientRequest::ContextUsage => vec![ChannelInput::Request { request_id, request }],
        }
    }

    fn answered(&self, request_id: &str, outcome: Result<Value, String>) -> Vec<ChannelInput> {
        let open = self.lock().open.remove(request_id);
        match open {
            Some(Open::Approval(asked)) => self.approval_answered(&asked.0, &asked.1, outcome),
            Some(Open::Callback(call_id)) => vec![call_answered(call_id, outcome)],
            None => {
                let shown: String = request_id.chars().take(60).collect();
                vec![ChannelInput::Warning(format!(
                    "an answer to {shown:?} was ignored: no such request is pending"
                ))]
            }
        }
    }

    /// Sends a request to the program.
    fn ask(&self, request: &Value, open: Open) {
        let request_id = {
            let mut state = self.lock();
            state.asked = state.asked.saturating_add(1);
            let request_id = format!("rheon_{}", state.asked);
            // The question is open before it is seen, so that an answer cannot come too early.
            state.open.insert(request_id.clone(), open);
            request_id
        };
        self.write(&json!({ "type": "control_request", "request_id": request_id, "request": request }));
    }

    fn cancel(&self, request_id: &str) {
        self.write(&json!({ "type": "control_cancel_request", "request_id": request_id }));
    }

    fn write(&self, line: &Value) {
        // If the writer is gone, so is the reader.
        drop(self.shared.lines.send(line.to_string()));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Functions of the program.
impl Channel {
    /// Calls a function of the program. Returns the answer if it is already known.
    fn ask_callback(&self, call_id: &ClientCallId, callback: &str, input: &Value) -> Option<ChannelInput> {
        if self.lock().is_closed {
            return Some(call_answered(call_id.clone(), Err(CLOSED.to_owned())));
        }
        if let Some(server) = callback.strip_prefix(MCP_FUNCTION) {
            let request = json!({ "subtype": "mcp_message", "server_name": server, "message": input });
            self.ask(&request, Open::Callback(call_id.clone()));
            return None;
        }
        let tool_use_id = input.get("tool_use_id").cloned().unwrap_or_default();
        let request = json!({
            "subtype": "hook_callback", "callback_id": callback, "input": input, "tool_use_id": tool_use_id,
        });
        self.ask(&request, Open::Callback(call_id.clone()));
        None
    }
}

fn call_answered(call_id: ClientCallId, outcome: Result<Value, String>) -> ChannelInput {
    let outcome = match outcome {
        Ok(output) => ClientCallOutcome::Output(Arc::new(output)),
        Err(problem) => ClientCallOutcome::Error(problem),
    };
    ChannelInput::Command(Command::AnswerCall { call_id, outcome })
}

/// The call of a request whose answer was not seen.
fn unseen(request: &ApprovalRequest) -> ToolCall {
    let arguments = match &request.subject {
        Subject::Arguments { arguments } => Arc::clone(arguments),
        Subject::Command { command, .. } => Arc::new(json!({ "command": command })),
        Subject::Diff { path, .. } => Arc::new(json!({ "path": path })),
        Subject::Questions { .. } | Subject::Plan { .. } => Arc::new(json!({})),
    };
    ToolCall {
        id: request.call_id.clone(),
        name: request.tool_name.clone(),
        arguments,
        malformed: None,
        key_order: None,
    }
}

/// The reason for requests that get no answer.
const CLOSED: &str = "the client closed the connection";

fn respond(request: &ApprovalRequest, answered: Answered) -> ChannelInput {
    ChannelInput::Command(Command::RespondPermission {
        request_id: request.id.clone(),
        response: answered.response,
    })
}
