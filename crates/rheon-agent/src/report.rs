//! `CallReporter`: turns the reports of a running tool into events, until the tool ends.

use std::sync::{Arc, Mutex, PoisonError};

use rheon_types::event::{ApprovalRequest, ChildRef, Danger, PermissionResponse, Responder, Subject};
use rheon_types::{
    AgentEvent, Answer, ApprovalEvent, ApprovalId, ChildApproval, ChildEvent, ChildInbox, Event, Flow,
    PlanEvent, SessionEvent, SessionId, ToolCall, ToolEvent, ToolFact, ToolReporter, ToolResult,
};

use crate::approval::{digest, first_answer, fitting, resolved, withdrawn};
use crate::config::RunConfig;
use crate::hooks::Hooks;
use crate::live::{Run, RunLog};
use crate::person_wait::PersonWait;

/// The reporter of one call. Reports after [`CallReporter::close`] are dropped, so that a task left behind by the tool
/// cannot report after `tool.end`.
pub(crate) struct CallReporter {
    log: RunLog,
    config: Arc<RunConfig>,
    call: ToolCall,
    waits: Arc<PersonWait>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_closed: bool,
    /// The open approval requests.
    questions: Vec<ApprovalId>,
    /// The number of requests so far.
    asked: u32,
    /// The children that the user can reach.
    children: Vec<SessionId>,
}

impl CallReporter {
    pub(crate) fn new(run: &Run, call: ToolCall) -> Arc<Self> {
        let (log, config, waits) = (run.log.clone(), Arc::clone(&run.config), Arc::clone(run.stop.waits()));
        Arc::new(Self { log, config, call, waits, state: Mutex::default() })
    }

    /// Returns once no report is in flight; later ones are dropped. Withdraws the tool's open requests.
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

    /// Requests approval on behalf of this call.
    async fn question(&self, template: ApprovalRequest) -> Option<PermissionResponse> {
        let (request, question) = self.while_open(|state| {
            state.asked += 1;
            let id = format!("{}/{}/{}", self.log.run_id, self.call.id, state.asked);
            let digest = digest(&self.call, &template.subject);
            let request =
                ApprovalRequest { id: id.into(), call_id: self.call.id.clone(), digest, ..template };
            let question = self.config.control.ask(request.id.clone());
            let request = Arc::new(request);
            state.questions.push(request.id.clone());
            self.log.emit(AgentEvent::Approval(ApprovalEvent::Required { request: Arc::clone(&request) }));
            (request, question)
        })?;
        let waiting = self.waits.begin();
        let (answer, by) = first_answer(Hooks(&self.config.hooks), &self.call, &request, question).await;
        drop(waiting);
        self.while_open(|state| {
            state.questions.retain(|open| *open != request.id);
            if by == Responder::NonInteractive {
                self.log.emit(resolved(&request.id, &answer, by));
                return None;
            }
            // The call is already running, so its arguments cannot change.
            let answer = PermissionResponse { arguments: None, ..fitting(&request, answer) };
            self.log.emit(resolved(&request.id, &answer, by));
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

    fn record(&self, news: ToolFact) {
        self.while_open(|state| {
            if let ToolFact::ChildEnded { child, .. } = &news {
                state.children.retain(|running| *running != child.session_id);
                self.config.control.remove_child(&child.session_id);
            }
            self.log.emit(match news {
                ToolFact::Tasks(items) => AgentEvent::Plan(PlanEvent::Tasks { items }),
                ToolFact::Mode(mode) => AgentEvent::Session(SessionEvent::Mode { mode }),
                ToolFact::Notice(notice) => {
                    AgentEvent::Session(SessionEvent::Notice { notice: Arc::new(notice) })
                }
                ToolFact::PlanResolved { call_id, decision } => {
                    AgentEvent::Plan(PlanEvent::Resolved { call_id, decision })
                }
                ToolFact::ChildStarted { child, task } => {
                    AgentEvent::Child(ChildEvent::Start { child, task })
                }
                ToolFact::ChildEnded { child, summary, usage, is_error } => {
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
            offers: Vec::new(),
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
            // The digest belongs to the parent's request, not to the child's own.
            Some(PermissionResponse { digest: None, ..answer })
        })
    }
}
