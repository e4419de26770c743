//! `ScriptedWorker`: plays a script without an agent, as an external program would: it emits events, requests
//! approvals and receives messages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::event::{
    ApprovalRequest, ChildRef, Danger, PermissionDecision, PermissionResponse, Responder, Scope, Subject,
};
use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, ApprovalEvent, AssistantMessage, BoxFuture, ChildApproval,
    Content, Effect, Event, Grant, LimitKind, Message, MessageEvent, ModelEvent, Parent, PlannedCall,
    ProviderError, ProviderErrorKind, RunEnd, RunEvent, RunFailure, RunId, SessionId, StopReason, Task,
    Timestamp, ToolCall, ToolError, ToolEvent, ToolResult, ToolResultMessage, TurnEvent, TurnTrigger, Usage,
    Worker, WorkerError, WorkerOutput,
};
use serde_json::Value;
use tokio::task::JoinSet;

use super::{WorkerScript, WorkerStep};

const NAME: &str = "scripted";

/// A worker named `scripted` that plays a script without an agent.
pub struct ScriptedWorker {
    script: WorkerScript,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    tasks: usize,
    sessions: HashMap<SessionId, Session>,
}

/// The position in the log of a session.
#[derive(Clone, Copy, Default)]
struct Session {
    seq: u64,
    runs: usize,
}

impl ScriptedWorker {
    /// A worker that plays `script`.
    pub fn new(script: WorkerScript) -> Self {
        Self { script, state: Arc::default() }
    }

    fn start_child(
        &self,
        task: Task,
        parent: Arc<dyn Parent>,
    ) -> Result<(Child, Vec<WorkerStep>), WorkerError> {
        let mut state = lock(&self.state);
        let steps = self.script.steps(state.tasks);
        state.tasks += 1;
        let session_id =
            task.resume.clone().unwrap_or_else(|| SessionId::from(format!("child-{}", state.tasks)));
        if task.resume.is_some() && !state.sessions.contains_key(&session_id) {
            return Err(WorkerError::new(NAME, format!("unknown session {session_id}")));
        }
        let session = state.sessions.entry(session_id.clone()).or_default();
        session.runs += 1;
        let run_id = RunId::derive(&session_id, "w", session.runs);
        let child = ChildRef { agent_id: "child".into(), session_id, run_id };
        let state = Arc::clone(&self.state);
        Ok((Child { task, parent, child, state, output: AgentOutput::new(RunEnd::Completed) }, steps))
    }
}

impl Worker for ScriptedWorker {
    fn name(&self) -> &str {
        NAME
    }

    fn run(&self, task: Task, parent: Arc<dyn Parent>) -> BoxFuture<'_, Result<WorkerOutput, WorkerError>> {
        Box::pin(async move {
            let (child, steps) = self.start_child(task, parent)?;
            // A task, so that a panic stays inside; aborted when this future is dropped.
            let mut tasks = JoinSet::new();
            tasks.spawn(child.play(steps));
            match tasks.join_next().await {
                Some(Ok(outcome)) => outcome,
                Some(Err(error)) => Err(WorkerError::new(NAME, error)),
                None => Err(WorkerError::new(NAME, "its task has ended")),
            }
        })
    }
}

/// A running child.
struct Child {
    task: Task,
    parent: Arc<dyn Parent>,
    child: ChildRef,
    state: Arc<Mutex<State>>,
    output: AgentOutput,
}

/// What happens after a step.
type Next = Result<(), RunEnd>;

impl Child {
    async fn play(mut self, steps: Vec<WorkerStep>) -> Result<WorkerOutput, WorkerError> {
        self.emit(RunEvent::Start {
            agent_id: self.child.agent_id.clone(),
            parent_run_id: self.task.parent.as_ref().map(|parent| parent.run_id.clone()),
            continuation: None,
            model: "scripted".into(),
            metadata: self.task.metadata.clone(),
            settings: None,
            history: None,
            cuts: Vec::new(),
        });
        for step in steps {
            if let Err(end) = self.turn(step).await {
                self.output.end = end;
                break;
            }
        }
        if self.task.output_schema.is_some() {
            self.output.structured = serde_json::from_str::<Value>(&self.output.text).ok().map(Arc::new);
        }
        let output = Arc::new(self.output.clone());
        self.emit(RunEvent::End { output: Arc::clone(&output) });
        let left = WorkerOutput { child: self.child.clone(), output };
        match &left.output.end {
            RunEnd::Failed { failure } => Err(WorkerError::from_run(NAME, failure.clone(), left)),
            _ => Ok(left),
        }
    }

    async fn turn(&mut self, step: WorkerStep) -> Next {
        if self.parent.cancel_token().is_cancelled() {
            return Err(RunEnd::Aborted);
        }
        let turn_index = self.output.turns;
        let is_child = turn_index == 0 && self.task.parent.is_some();
        let triggered_by = if is_child { TurnTrigger::SubAgent } else { TurnTrigger::Continuation };
        self.emit(TurnEvent::Start { turn_index, triggered_by });
        self.output.turns += 1;
        if turn_index == 0 {
            let prompt = Message::User(rheon_types::UserMessage {
                content: self.task.prompt.clone(),
                timestamp: Timestamp::default(),
                author: rheon_types::Author::User,
            });
            self.say(prompt);
        }
        let before = self.output.usage;
        let next = self.step(step).await;
        let usage = Usage {
            input: self.output.usage.input - before.input,
            output: self.output.usage.output - before.output,
            ..before
        };
        self.emit(TurnEvent::End { turn_index, message: None, tool_results: Vec::new(), usage });
        next
    }

    async fn step(&mut self, step: WorkerStep) -> Next {
        let planned = PlannedCall { prompt_tokens: 100, answer_tokens_max: 1_000, ..PlannedCall::default() };
        let reservation = match self.task.budget.as_ref().map(|budget| budget.reserve(&planned)) {
            None => None,
            Some(Grant::Call { reservation, .. }) => Some(reservation),
            Some(Grant::Nothing | Grant::NoPrice) => {
                return Err(RunEnd::Limit {
                    limit: LimitKind::Budget,
                    message: "the budget is spent".into(),
                });
            }
        };
        self.emit(ModelEvent::Start { model: "scripted".into(), tokens_estimate: 0, reserved: None });
        let next = self.answer(step).await;
        if let Some(reservation) = reservation {
            reservation.settle(WorkerStep::USAGE.total(), None);
        }
        next
    }

    #[allow(clippy::panic, reason = "this is the purpose of the step")]
    async fn answer(&mut self, step: WorkerStep) -> Next {
        let cancel = self.parent.cancel_token();
        match step {
            WorkerStep::Say(text) => {
                self.end_call(vec![Content::text(text)], StopReason::Stop);
                Ok(())
            }
            WorkerStep::Act(arguments) => self.act(Arc::new(arguments)).await,
            WorkerStep::Listen => {
                let parent = Arc::clone(&self.parent);
                tokio::select! {
                    Some(message) = parent.next_message() => {
                        let text = message.as_llm().map(Message::text).unwrap_or_default();
                        self.end_call(vec![Content::text(format!("heard: {text}"))], StopReason::Stop);
                        Ok(())
                    }
                    () = cancel.cancelled() => self.abort(),
                }
            }
            WorkerStep::Hang => {
                cancel.cancelled().await;
                self.abort()
            }
            WorkerStep::Fail(message) => {
                self.end_call(Vec::new(), StopReason::Error);
                let error = ProviderError::new(ProviderErrorKind::InvalidRequest, message);
                Err(RunEnd::Failed { failure: RunFailure::Provider { error } })
            }
            WorkerStep::Panic => panic!("a bug in the child"),
        }
    }

    fn abort(&mut self) -> Next {
        self.end_call(Vec::new(), StopReason::Aborted);
        Err(RunEnd::Aborted)
    }

    async fn act(&mut self, arguments: Arc<Value>) -> Next {
        let id = format!("call-{}", self.output.turns);
        let call = ToolCall {
            id: id.into(),
            name: "act".into(),
            arguments: Arc::clone(&arguments),
            malformed: None,
            key_order: None,
        };
        self.end_call(vec![Content::ToolCall(call.clone())], StopReason::ToolUse);
        let request = Arc::new(ApprovalRequest {
            id: format!("{}/{}", self.child.run_id, call.id).into(),
            call_id: call.id.clone(),
            tool_name: call.name.clone(),
            subject: Subject::Arguments { arguments: Arc::clone(&arguments) },
            reason: "it changes something".into(),
            danger: Danger::Moderate,
            child: None,
            suggested_rule: None,
            digest: String::new(),
            offers: Vec::new(),
        });
        self.emit(ApprovalEvent::Required { request: Arc::clone(&request) });
        let approval = ChildApproval { agent: self.task.agent.name.clone(), request: Arc::clone(&request) };
        let (parent, cancel) = (Arc::clone(&self.parent), self.parent.cancel_token());
        let (answer, by) = tokio::select! {
            answer = parent.ask(approval).get() => match answer {
                Some(answer) => (answer, Responder::User),
                None => (PermissionResponse::denied("no one answered"), Responder::NonInteractive),
            },
            () = cancel.cancelled() => (PermissionResponse::denied("cancelled"), Responder::Cancelled),
        };
        let (decision, scope) = (answer.decision, Scope::Once);
        self.emit(ApprovalEvent::Resolved {
            request_id: request.id.clone(),
            decision,
            scope,
            by,
            arguments: None,
            offer: None,
        });
        let result = match decision {
            PermissionDecision::Allow => self.run_tool(&call),
            PermissionDecision::Deny => {
                let reason = answer.message.unwrap_or_else(|| "permission denied".into());
                let error = ToolError::Denied(reason.clone());
                self.emit(ToolEvent::Blocked { call_id: call.id.clone(), name: call.name.clone(), reason });
                ToolResult::from(&error)
            }
        };
        self.say(Message::ToolResult(ToolResultMessage {
            tool_call_id: call.id,
            tool_name: call.name,
            content: result.content,
            is_error: decision == PermissionDecision::Deny,
            timestamp: Timestamp::default(),
        }));
        if by == Responder::Cancelled { Err(RunEnd::Aborted) } else { Ok(()) }
    }

    fn run_tool(&self, call: &ToolCall) -> ToolResult {
        let (call_id, name, args) = (call.id.clone(), call.name.clone(), Arc::clone(&call.arguments));
        self.emit(ToolEvent::Start { call_id, name, args, effect: Effect::Unsafe, grant: None });
        let result = ToolResult::text("acted");
        self.emit(ToolEvent::End {
            call_id: call.id.clone(),
            name: call.name.clone(),
            result: Arc::new(result.clone()),
            is_error: false,
            duration_ms: 0,
            child_run_id: None,
        });
        result
    }

    /// Ends the model call with a response.
    fn end_call(&mut self, content: Vec<Content>, stop_reason: StopReason) {
        let usage = match stop_reason {
            StopReason::Stop | StopReason::ToolUse | StopReason::Length => WorkerStep::USAGE,
            StopReason::Error | StopReason::Aborted => Usage::default(),
        };
        self.output.usage += usage;
        let answer = AssistantMessage {
            content,
            stop_reason,
            model: "scripted".into(),
            provider: NAME.into(),
            usage,
            timestamp: Timestamp::default(),
            error_message: None,
        };
        self.output.text = answer.text();
        self.say(Message::Assistant(answer));
        self.emit(ModelEvent::End {
            usage,
            stop_reason,
            cost: None,
            first_token_ms: None,
            duration_ms: 0,
            estimated: None,
        });
    }

    fn say(&mut self, message: Message) {
        let message: Arc<AgentMessage> = Arc::new(message.into());
        self.emit(MessageEvent::Start { message: Arc::clone(&message) });
        self.emit(MessageEvent::End { message: Arc::clone(&message) });
        self.output.messages.push(message);
    }

    fn emit(&self, kind: impl Into<AgentEvent>) {
        let seq = {
            let mut state = lock(&self.state);
            let session = state.sessions.entry(self.child.session_id.clone()).or_default();
            session.seq += 1;
            session.seq
        };
        self.parent.observe(&Event {
            seq,
            at: Timestamp::default(),
            session_id: self.child.session_id.clone(),
            run_id: Some(self.child.run_id.clone()),
            kind: kind.into(),
        });
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
