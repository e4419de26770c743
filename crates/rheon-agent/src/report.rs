//! `CallReporter`: what a running tool says becomes events, until the tool has ended.

use std::sync::{Arc, Mutex, PoisonError};

use rheon_types::event::{ApprovalRequest, ChildRef, Danger, PermissionResponse, Responder, Subject};
use rheon_types::{
    AgentEvent, Answer, ApprovalEvent, ApprovalId, ChildApproval, ChildEvent, ChildInbox, Event, Flow,
    PlanEvent, SessionEvent, SessionId, ToolCall, ToolEvent, ToolNews, ToolReporter, ToolResult,
};

use crate::approval::{digest, fitting, nobody_there, resolved, withdrawn};
use crate::config::RunConfig;
use crate::hooks::Hooks;
use crate::live::RunLog;

/// The reporter of one call. Whatever arrives after [`CallReporter::close`] is dropped, so that a task the tool left
/// behind cannot speak after `tool.end`.
pub(crate) struct CallReporter {
    log: RunLog,
    config: Arc<RunConfig>,
    call: ToolCall,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_closed: bool,
    /// The questions that wait for an answer.
    questions: Vec<ApprovalId>,
    /// How many were asked.
    asked: u32,
    /// The children that the user can reach.
    children: Vec<SessionId>,
}

impl CallReporter {
    pub(crate) fn new(log: &RunLog, config: &Arc<RunConfig>, call: ToolCall) -> Arc<Self> {
        Arc::new(Self { log: log.clone(), config: Arc::clone(config), call, state: Mutex::default() })
    }

    /// Returns once no report is on its way any more; none comes later. What the tool still asks is withdrawn.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_closed = true;
        for child in state.children.drain(..) {
            self.config.control.remove_child(&child);
        }
        for id in state.questions.drain(..) {
            self.log.emit(resolved(&id, &withdrawn(), Responder::Cancelled));
        }
    }

    fn while_open<T>(&self, emit: impl FnOnce(&mut State) -> T) -> Option<T> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_closed { None } else { Some(emit(&mut state)) }
    }

    /// Asks what `wanted` says, in the name of this call.
    async fn question(&self, wanted: ApprovalRequest) -> Option<PermissionResponse> {
        let (request, question) = self.while_open(|state| {
            state.asked += 1;
            let id = format!("{}/{}/{}", self.log.run_id, self.call.id, state.asked);
            let digest = digest(&self.call, &wanted.subject);
            let request = ApprovalRequest { id: id.into(), call_id: self.call.id.clone(), digest, ..wanted };
            let question = self.config.control.ask(request.id.clone());
            let request = Arc::new(request);
            state.questions.push(request.id.clone());
            self.log.emit(AgentEvent::Approval(ApprovalEvent::Required { request: Arc::clone(&request) }));
            (request, question)
        })?;
        let answer = match question {
            Some(mut question) => question.answer().await,
            None => None,
        };
        self.while_open(|state| {
            state.questions.retain(|open| *open != request.id);
            let Some(answer) = answer else {
                self.log.emit(resolved(&request.id, &nobody_there(&request), Responder::Nobody));
                return None;
            };
            // The call is under way: nothing of it can be changed any more.
            let answer = PermissionResponse { arguments: None, ..fitting(&request, answer) };
            self.log.emit(resolved(&request.id, &answer, Responder::User));
            Some(answer)
        })?
    }
}

impl ToolReporter for CallReporter {
    fn update(&self, partial: ToolResult) {
        let hooks = Hooks(&self.config.hooks);
        self.while_open(|_| {
            let text = if self.config.hooks.is_empty() { String::new() } else { partial.as_text() };
            if hooks.before_tool_update(&self.call, &text) != Flow::Continue {
                return;
            }
            let (call_id, name) = (self.call.id.clone(), self.call.name.clone());
            self.log.emit(AgentEvent::Tool(ToolEvent::Update { call_id, name, partial: Arc::new(partial) }));
            hooks.after_tool_update(&self.call, &text);
        });
    }

    fn progress(&self, text: &str) {
        self.while_open(|_| {
            let (call_id, name) = (self.call.id.clone(), self.call.name.clone());
            self.log.emit(AgentEvent::Tool(ToolEvent::Progress { call_id, name, text: text.to_owned() }));
        });
    }

    fn news(&self, news: ToolNews) {
        self.while_open(|state| {
            if let ToolNews::ChildEnded { child, .. } = &news {
                state.children.retain(|running| *running != child.session_id);
                self.config.control.remove_child(&child.session_id);
            }
            self.log.emit(match news {
                ToolNews::Tasks(items) => AgentEvent::Plan(PlanEvent::Tasks { items }),
                ToolNews::Mode(mode) => AgentEvent::Session(SessionEvent::Mode { mode }),
                ToolNews::PlanResolved { call_id, decision } => {
                    AgentEvent::Plan(PlanEvent::Resolved { call_id, decision })
                }
                ToolNews::ChildStarted { child, task } => {
                    AgentEvent::Child(ChildEvent::Start { child, task })
                }
                ToolNews::ChildEnded { child, summary, usage, is_error } => {
                    AgentEvent::Child(ChildEvent::End { child, summary, usage, is_error })
                }
            });
        });
    }

    fn ask<'a>(&'a self, subject: Subject, reason: String) -> Answer<'a, Option<PermissionResponse>> {
        Answer::later(self.question(ApprovalRequest {
            id: ApprovalId::from(""),
            call_id: self.call.id.clone(),
            tool_name: self.call.name.clone(),
            subject,
            reason,
            danger: Danger::Safe,
            child: None,
            suggested_rule: None,
            digest: String::new(),
        }))
    }

    fn child_event(&self, event: &Event) {
        self.while_open(|_| self.log.show_child(event));
    }

    fn reach_child(&self, child: &ChildRef, inbox: ChildInbox) {
        self.while_open(|state| {
            state.children.push(child.session_id.clone());
            self.config.control.add_child(child.session_id.clone(), inbox);
        });
    }

    fn ask_for_child<'a>(&'a self, approval: ChildApproval) -> Answer<'a, Option<PermissionResponse>> {
        let mut request = ApprovalRequest::clone(&approval.request);
        if !approval.agent.is_empty() {
            request.child = Some(match request.child.take() {
                None => approval.agent,
                // A child of the child asks.
                Some(inner) => format!("{} > {inner}", approval.agent),
            });
        }
        Answer::later(async move {
            let answer = self.question(request).await?;
            // It names what was asked here, which is not what the child's own session asked.
            Some(PermissionResponse { digest: None, ..answer })
        })
    }
}
