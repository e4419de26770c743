//! The order of events as code: the grammar drawn in the architecture document, one event at a time.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

use super::{
    AgentEvent, ApprovalEvent, ChildEvent, ContextEvent, Event, MessageEvent, ModelEvent, PlanEvent,
    RunEvent, ToolEvent, TurnEvent,
};
use crate::id::{ApprovalId, RunId, SessionId, ToolCallId};
use crate::message::{AgentMessage, Message};
use crate::stop::StopReason;

/// Watches a log and says where it leaves the order.
///
/// Runs are told apart by `run_id`, so runs that interleave in one log are each checked on their own.
#[derive(Debug, Default)]
pub struct OrderChecker {
    seqs: HashMap<SessionId, u64>,
    runs: HashMap<RunId, RunOrder>,
    ended: HashSet<RunId>,
}

/// An event where it must not be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} ({name}) of run {} is out of order: {problem}", run_id.as_ref().map_or("none", RunId::as_str))]
pub struct OrderViolation {
    /// Its number.
    pub seq: u64,
    /// Its dotted name.
    pub name: String,
    /// Its run, if it has one.
    pub run_id: Option<RunId>,
    /// What is wrong.
    pub problem: String,
}

impl OrderChecker {
    /// A checker that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next event of the log.
    pub fn observe(&mut self, event: &Event) -> Result<(), OrderViolation> {
        let outcome = self.check_seq(event).and_then(|()| self.check_run(event));
        outcome.map_err(|problem| OrderViolation {
            seq: event.seq,
            name: event.kind.name().to_owned(),
            run_id: event.run_id.clone(),
            problem,
        })
    }

    /// The runs that have begun and not ended.
    pub fn open_runs(&self) -> Vec<RunId> {
        self.runs.keys().cloned().collect()
    }

    fn check_run(&mut self, event: &Event) -> Result<(), String> {
        let Some(id) = &event.run_id else { return stands_alone(&event.kind) };
        let mut run = match self.runs.remove(id) {
            Some(run) => run,
            None if self.ended.contains(id) => RunOrder { stage: Stage::Ended, ..RunOrder::default() },
            None => RunOrder::default(),
        };
        let outcome = run.observe(&event.kind);
        match run.stage {
            Stage::New => {}
            Stage::Ended => drop(self.ended.insert(id.clone())),
            Stage::Between | Stage::Intake | Stage::Model | Stage::Tools | Stage::Results => {
                self.runs.insert(id.clone(), run);
            }
        }
        outcome
    }

    fn check_seq(&mut self, event: &Event) -> Result<(), String> {
        let last = self.seqs.get(&event.session_id).copied();
        let expected = match last {
            Some(last) if event.kind.is_durable() => last.saturating_add(1),
            Some(last) => last,
            // The log may be watched from any point on.
            None => event.seq,
        };
        self.seqs.insert(event.session_id.clone(), event.seq);
        if event.seq == expected { Ok(()) } else { Err(format!("its number should be {expected}")) }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    New,
    Between,
    Intake,
    Model,
    Tools,
    Results,
    Ended,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::New => "before the run began",
            Self::Between => "between turns",
            Self::Intake => "before the model call",
            Self::Model => "during the model call",
            Self::Tools => "after the model call",
            Self::Results => "among the tool results",
            Self::Ended => "after the run ended",
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
    ToolResult,
    Extension,
}

fn role_of(message: &AgentMessage) -> Role {
    match message.as_llm() {
        None => Role::Extension,
        Some(Message::User(_)) => Role::User,
        Some(Message::Assistant(_)) => Role::Assistant,
        Some(Message::ToolResult(_)) => Role::ToolResult,
    }
}

#[derive(Debug, Default)]
struct RunOrder {
    stage: Stage,
    turns: u32,
    open_message: Option<Role>,
    answered: bool,
    /// The calls of the turn's answer, in order.
    due: Vec<ToolCallId>,
    /// Calls that began or were blocked.
    taken: BTreeSet<ToolCallId>,
    open_tools: BTreeSet<ToolCallId>,
    results: Vec<ToolCallId>,
    approvals: BTreeSet<ApprovalId>,
}

impl RunOrder {
    fn observe(&mut self, event: &AgentEvent) -> Result<(), String> {
        match event {
            AgentEvent::Run(event) => self.run(event),
            AgentEvent::Turn(TurnEvent::Start { turn_index, .. }) => self.turn_start(*turn_index),
            AgentEvent::Turn(TurnEvent::End { .. }) => self.turn_end(),
            AgentEvent::Model(event) => self.model(event),
            AgentEvent::Message(event) => self.message(event),
            AgentEvent::Tool(event) => self.tool(event),
            AgentEvent::Approval(ApprovalEvent::Required { request }) => {
                self.require(&[Stage::Tools])?;
                ensure(self.approvals.insert(request.id.clone()), || format!("{} asked twice", request.id))
            }
            AgentEvent::Approval(ApprovalEvent::Resolved { request_id, .. }) => {
                ensure(self.approvals.remove(request_id), || format!("{request_id} was not asked"))
            }
            AgentEvent::Context(ContextEvent::Tools { .. }) => self.require(&[Stage::Intake]),
            AgentEvent::Plan(PlanEvent::Queued { .. })
            | AgentEvent::Child(
                ChildEvent::Start { .. } | ChildEvent::End { .. } | ChildEvent::Missed { .. },
            )
            | AgentEvent::Context(_)
            | AgentEvent::Budget(_) => {
                let is_open = !matches!(self.stage, Stage::New | Stage::Ended);
                ensure(is_open, || format!("it came {}", self.stage))
            }
            // Facts about the session as much as about a run: they may stand anywhere.
            AgentEvent::Plan(PlanEvent::Resolved { .. } | PlanEvent::Tasks { .. })
            | AgentEvent::Child(ChildEvent::ParallelStart { .. } | ChildEvent::ParallelEnd { .. })
            | AgentEvent::Session(_)
            | AgentEvent::Unknown(_) => Ok(()),
        }
    }

    fn run(&mut self, event: &RunEvent) -> Result<(), String> {
        match event {
            RunEvent::Start { .. } => self.advance(&[Stage::New], Stage::Between),
            RunEvent::End { .. } => self.advance(&[Stage::New, Stage::Between], Stage::Ended),
            RunEvent::InputRejected { .. } => self.require(&[Stage::Between, Stage::Intake]),
            RunEvent::Hook { .. } | RunEvent::Error { .. } => Ok(()),
        }
    }

    fn model(&mut self, event: &ModelEvent) -> Result<(), String> {
        match event {
            ModelEvent::Start { .. } => {
                self.answered = false;
                self.advance(&[Stage::Intake], Stage::Model)
            }
            ModelEvent::End { .. } if !self.answered => Err("the model call has no message".into()),
            ModelEvent::End { .. } => self.advance(&[Stage::Model], Stage::Tools),
            ModelEvent::Retry { .. } | ModelEvent::Recovered { .. } => self.require(&[Stage::Model]),
        }
    }

    fn message(&mut self, event: &MessageEvent) -> Result<(), String> {
        match event {
            MessageEvent::Start { message } => self.message_start(role_of(message)),
            MessageEvent::End { message } => self.message_end(message),
            MessageEvent::TextDelta { .. }
            | MessageEvent::ThinkingDelta { .. }
            | MessageEvent::ToolCallDelta { .. } => match self.open_message {
                Some(Role::Assistant) => Ok(()),
                Some(Role::User | Role::ToolResult | Role::Extension) | None => {
                    Err("no answer is being written".into())
                }
            },
        }
    }

    fn tool(&mut self, event: &ToolEvent) -> Result<(), String> {
        let is_running = |is_open, call_id| ensure(is_open, || format!("tool call {call_id} is not running"));
        match event {
            ToolEvent::Start { call_id, .. } => {
                self.take_call(call_id)?;
                self.open_tools.insert(call_id.clone());
                Ok(())
            }
            ToolEvent::Blocked { call_id, .. } => self.take_call(call_id),
            ToolEvent::Update { call_id, .. } | ToolEvent::Progress { call_id, .. } => {
                is_running(self.open_tools.contains(call_id), call_id)
            }
            ToolEvent::End { call_id, .. } => is_running(self.open_tools.remove(call_id), call_id),
        }
    }

    fn require(&self, stages: &[Stage]) -> Result<(), String> {
        if let Some(role) = self.open_message {
            return Err(format!("a message ({role:?}) is still open"));
        }
        ensure(stages.contains(&self.stage), || format!("it came {}", self.stage))
    }

    fn advance(&mut self, from: &[Stage], to: Stage) -> Result<(), String> {
        self.require(from)?;
        self.stage = to;
        Ok(())
    }

    fn turn_start(&mut self, index: u32) -> Result<(), String> {
        self.advance(&[Stage::Between], Stage::Intake)?;
        ensure(index == self.turns, || format!("the next turn is {}", self.turns))?;
        self.turns += 1;
        self.due.clear();
        self.taken.clear();
        self.results.clear();
        Ok(())
    }

    fn turn_end(&mut self) -> Result<(), String> {
        self.require(&[Stage::Intake, Stage::Tools, Stage::Results])?;
        ensure(self.open_tools.is_empty(), || format!("tools still run: {:?}", self.open_tools))?;
        ensure(self.approvals.is_empty(), || format!("questions are open: {:?}", self.approvals))?;
        ensure(self.results == self.due, || {
            format!("calls {:?} were answered by results {:?}", self.due, self.results)
        })?;
        ensure(self.taken.len() == self.due.len(), || {
            format!("of calls {:?} only {:?} were started or blocked", self.due, self.taken)
        })?;
        self.stage = Stage::Between;
        Ok(())
    }

    fn take_call(&mut self, call_id: &ToolCallId) -> Result<(), String> {
        self.require(&[Stage::Tools])?;
        ensure(self.due.contains(call_id), || format!("the answer has no tool call {call_id}"))?;
        ensure(self.taken.insert(call_id.clone()), || format!("tool call {call_id} was taken already"))
    }

    fn message_start(&mut self, role: Role) -> Result<(), String> {
        let stages: &[Stage] = match role {
            Role::User | Role::Extension => &[Stage::Between, Stage::Intake],
            Role::Assistant => &[Stage::Model],
            Role::ToolResult => &[Stage::Tools, Stage::Results],
        };
        self.require(stages)?;
        if role == Role::ToolResult {
            ensure(self.open_tools.is_empty(), || format!("tools still run: {:?}", self.open_tools))?;
            self.stage = Stage::Results;
        }
        self.open_message = Some(role);
        Ok(())
    }

    fn message_end(&mut self, message: &AgentMessage) -> Result<(), String> {
        let role = role_of(message);
        ensure(self.open_message == Some(role), || "no such message is open".into())?;
        self.open_message = None;
        match message.as_llm() {
            None | Some(Message::User(_)) => {}
            Some(Message::Assistant(answer)) => {
                self.answered = true;
                // The calls of a failed answer never run and are never sent again.
                if answer.stop_reason != StopReason::Error {
                    self.due = answer.tool_calls().map(|call| call.id.clone()).collect();
                }
            }
            Some(Message::ToolResult(result)) => self.results.push(result.tool_call_id.clone()),
        }
        Ok(())
    }
}

fn ensure(condition: bool, problem: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(problem()) }
}

/// Which events may belong to no run: facts of the session.
fn stands_alone(event: &AgentEvent) -> Result<(), String> {
    match event {
        AgentEvent::Session(_)
        | AgentEvent::Plan(PlanEvent::Resolved { .. } | PlanEvent::Tasks { .. })
        | AgentEvent::Child(_)
        | AgentEvent::Budget(_)
        | AgentEvent::Run(RunEvent::Hook { .. } | RunEvent::Error { .. })
        | AgentEvent::Unknown(_) => Ok(()),
        AgentEvent::Run(_)
        | AgentEvent::Turn(_)
        | AgentEvent::Model(_)
        | AgentEvent::Message(_)
        | AgentEvent::Tool(_)
        | AgentEvent::Approval(_)
        | AgentEvent::Plan(PlanEvent::Queued { .. })
        | AgentEvent::Context(_) => Err("it belongs to no run".into()),
    }
}
