//! `Script`: one recorded run, and what the events to come say about what the loop is to be told now. Pure.

use std::sync::Arc;
use std::time::Duration;

use rheon_types::event::{
    ApprovalRequest, CompactionTrigger, PermissionDecision, PermissionResponse, Responder, RunSettings,
};
use rheon_types::{
    AgentEvent, AgentMessage, ApprovalEvent, AssistantMessage, Author, Content, ContextEvent, Event,
    LimitKind, Message, MessageEvent, RunEnd, RunEvent, RunFailure, ToolCallId, ToolError, ToolEvent,
    ToolResult, TurnEvent,
};

use super::parts::RecordedRun;
use crate::close::{limit_in_note, not_completed};
use crate::halt::limit_in;

/// One recorded run. Places are indices of its events.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) recorded: RecordedRun,
    /// What the calls are answered with that were open when the run stopped.
    not_completed: String,
    /// Why the run ended, as far as that is known.
    pub(super) end: RunEnd,
}

/// What makes a run stop in the middle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StopCause {
    /// Somebody cancelled it.
    Cancelled,
    /// It took too long.
    OutOfTime,
    /// The log could not be written.
    Unstored(rheon_types::StoreError),
    /// Code inside it panicked.
    Panicked(String),
}

/// What a hook said of a call.
#[derive(Debug, Clone)]
pub(super) struct HookRecord {
    pub(super) hook: String,
    pub(super) veto: Option<String>,
    pub(super) arguments: Option<Arc<serde_json::Value>>,
}

impl Script {
    pub(super) fn new(recorded: RecordedRun) -> Self {
        // A run whose end is not in the log may have been cut off while it was being cancelled.
        let end = recorded.end().cloned().or_else(|| announced_end(&recorded)).unwrap_or(RunEnd::Aborted);
        Self { recorded, not_completed: not_completed(&end), end }
    }

    /// The event at `place`, if the loop said it.
    pub(super) fn event(&self, place: usize) -> Option<&Event> {
        if place < self.recorded.said { self.recorded.own.get(place).map(|(event, _)| event) } else { None }
    }

    /// The events from outside that followed the event at `place`.
    pub(super) fn outside(&self, place: usize) -> &[Event] {
        self.recorded.own.get(place).map_or(&[], |(_, outside)| outside.as_slice())
    }

    pub(super) fn kind(&self, place: usize) -> Option<&AgentEvent> {
        self.event(place).map(|event| &event.kind)
    }

    /// The events from `place` on.
    pub(super) fn kinds_from(&self, place: usize) -> impl Iterator<Item = &AgentEvent> {
        (place..self.recorded.said).filter_map(|place| self.kind(place))
    }

    /// The events from `place` to the end of the turn.
    pub(super) fn turn_from(&self, place: usize) -> impl Iterator<Item = &AgentEvent> {
        self.kinds_from(place).take_while(|kind| !matches!(kind, AgentEvent::Turn(TurnEvent::End { .. })))
    }

    pub(super) fn settings(&self) -> Option<&RunSettings> {
        match self.kind(0)? {
            AgentEvent::Run(RunEvent::Start { settings, .. }) => settings.as_deref(),
            _ => None,
        }
    }

    /// Whether the run may have had hooks. Without any, nobody changed what a tool gave or kept the model from stopping.
    pub(super) fn has_hooks(&self) -> bool {
        self.settings().is_none_or(|settings| settings.hooks > 0)
    }

    /// What stops this run in the middle, if anything does.
    pub(super) fn stopped(&self) -> Option<StopCause> {
        match &self.end {
            RunEnd::Aborted => Some(StopCause::Cancelled),
            RunEnd::Limit { limit: LimitKind::Duration, .. } => Some(StopCause::OutOfTime),
            RunEnd::Failed { failure: RunFailure::Store { error } } => {
                Some(StopCause::Unstored(error.clone()))
            }
            RunEnd::Failed { failure: RunFailure::Panic { message } } => {
                Some(StopCause::Panicked(message.clone()))
            }
            RunEnd::Completed
            | RunEnd::Truncated
            | RunEnd::Rejected { .. }
            | RunEnd::Vetoed { .. }
            | RunEnd::Limit { limit: LimitKind::Turns | LimitKind::Tokens | LimitKind::Budget, .. }
            | RunEnd::Failed {
                failure:
                    RunFailure::Provider { .. }
                    | RunFailure::Tool { .. }
                    | RunFailure::Window { .. }
                    | RunFailure::Output { .. }
                    | RunFailure::NothingToContinue { .. },
            } => None,
        }
    }

    /// What has to stop the run now, because the next event is one that closes it.
    pub(super) fn stops_at(&self, place: usize) -> Option<StopCause> {
        let stopped = self.stopped()?;
        let is_closing = match self.kind(place)? {
            AgentEvent::Run(RunEvent::End { .. }) => true,
            AgentEvent::Tool(ToolEvent::End { result, is_error: true, .. }) => {
                self.is_not_completed(&result.as_text())
            }
            AgentEvent::Tool(ToolEvent::Blocked { reason, .. }) => self.is_not_completed(reason),
            AgentEvent::Approval(ApprovalEvent::Resolved {
                request_id, by: Responder::Cancelled, ..
            }) => match self.asked_by_tool(request_id.as_str()) {
                Some(call_id) => self
                    .tool_end(place, call_id)
                    .is_none_or(|(result, is_error)| is_error && self.is_not_completed(&result.as_text())),
                None => true,
            },
            AgentEvent::Message(MessageEvent::Start { message }) => self.is_last_note(place, message),
            AgentEvent::Turn(TurnEvent::End { message: None, .. }) => self.is_last_turn(place),
            _ => false,
        };
        is_closing.then_some(stopped)
    }

    pub(super) fn is_not_completed(&self, text: &str) -> bool {
        self.not_completed == text
    }

    /// Whether the run ends with this turn.
    fn is_last_turn(&self, turn_end: usize) -> bool {
        self.kinds_from(turn_end).all(|kind| !matches!(kind, AgentEvent::Turn(TurnEvent::Start { .. })))
    }

    /// Whether this is what a run says of the limit that ended it.
    fn is_last_note(&self, place: usize, message: &AgentMessage) -> bool {
        let is_note = match message.as_llm() {
            Some(Message::User(user)) => user.author == Author::Runtime,
            Some(Message::Assistant(_) | Message::ToolResult(_)) | None => false,
        };
        is_note && matches!(self.kind(place + 2), Some(AgentEvent::Run(RunEvent::End { .. })))
    }

    /// The call whose tool asked this question, if it was a tool that asked.
    fn asked_by_tool<'a>(&self, request_id: &'a str) -> Option<&'a str> {
        let rest = request_id.strip_prefix(self.recorded.run_id.as_str())?.strip_prefix('/')?;
        let (call_id, number) = rest.rsplit_once('/')?;
        number.parse::<u32>().ok().map(|_| call_id)
    }

    /// Whether a tool asked this question while it ran; otherwise it was asked before.
    pub(super) fn is_of_tool(&self, request: &ApprovalRequest) -> bool {
        self.asked_by_tool(request.id.as_str()) == Some(request.call_id.as_str())
    }

    /// Whether the tool of `call_id` asked the question.
    pub(super) fn is_question_of(&self, request_id: &str, call_id: &ToolCallId) -> bool {
        self.asked_by_tool(request_id) == Some(call_id.as_str())
    }

    /// How the tool of a call ended.
    pub(super) fn tool_end(&self, place: usize, call_id: &str) -> Option<(&Arc<ToolResult>, bool)> {
        self.turn_from(place).find_map(|kind| match kind {
            AgentEvent::Tool(ToolEvent::End { call_id: ended, result, is_error, .. })
                if ended.as_str() == call_id =>
            {
                Some((result, *is_error))
            }
            _ => None,
        })
    }

    /// What a question was answered with, and by whom.
    pub(super) fn response(&self, place: usize, request_id: &str) -> Option<(PermissionResponse, Responder)> {
        let resolved = |place: usize| match self.kind(place) {
            Some(AgentEvent::Approval(ApprovalEvent::Resolved {
                request_id: id,
                decision,
                scope,
                by,
                arguments,
            })) if id.as_str() == request_id => Some((place, (*decision, *scope, *by), arguments.clone())),
            _ => None,
        };
        let (found, (decision, scope, by), arguments) = (place..self.recorded.said).find_map(resolved)?;
        let message = match (decision, self.kind(found + 1)) {
            (PermissionDecision::Deny, Some(AgentEvent::Tool(ToolEvent::Blocked { reason, .. }))) => {
                Some(reason.clone())
            }
            (PermissionDecision::Deny | PermissionDecision::Allow, _) => None,
        };
        let response = PermissionResponse { message, arguments, ..PermissionResponse::from(decision) };
        Some((response.with_scope(scope), by))
    }

    /// What hooks said of the call before anybody was asked, and how many events that are.
    pub(super) fn hooks_said(&self, place: usize, call_id: &ToolCallId) -> Vec<HookRecord> {
        let said = self.kinds_from(place).map_while(|kind| match kind {
            AgentEvent::Run(RunEvent::Hook { hook, veto, call_id: about, arguments, .. })
                if about.as_ref().is_none_or(|about| about == call_id) =>
            {
                Some(HookRecord { hook: hook.clone(), veto: veto.clone(), arguments: arguments.clone() })
            }
            _ => None,
        });
        said.collect()
    }

    /// What the model reads of a call besides or instead of its result: the whole of it, and how much of that hooks added.
    pub(super) fn read_by_model(&self, place: usize, call_id: &ToolCallId) -> Option<ResultContent> {
        let is_turn = |at: &usize| matches!(self.kind(*at), Some(AgentEvent::Turn(TurnEvent::Start { .. })));
        let turn = (0..place).rev().find(is_turn).unwrap_or(place);
        let mut base: Option<Vec<Content>> = None;
        for kind in self.turn_from(turn) {
            match kind {
                AgentEvent::Tool(ToolEvent::End { call_id: id, result, .. }) if id == call_id => {
                    base = Some(result.content.clone());
                }
                AgentEvent::Tool(ToolEvent::Blocked { call_id: id, reason, .. }) if id == call_id => {
                    base = Some(vec![Content::text(reason)]);
                }
                AgentEvent::Message(MessageEvent::End { message }) => {
                    if let Some(Message::ToolResult(result)) = message.as_llm()
                        && result.tool_call_id == *call_id
                    {
                        return Some(ResultContent {
                            whole: result.content.clone(),
                            base: base.unwrap_or_default(),
                        });
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// What was said to the model at the beginning of a turn, from `place` on.
    pub(super) fn said_from(&self, place: usize) -> Vec<Entry> {
        let mut entries = Vec::new();
        for kind in self.kinds_from(place) {
            match kind {
                AgentEvent::Message(MessageEvent::Start { message }) => match message.as_llm() {
                    Some(Message::User(_)) | None => entries.push(Entry::Message(Arc::clone(message))),
                    Some(Message::Assistant(_) | Message::ToolResult(_)) => break,
                },
                AgentEvent::Run(RunEvent::InputRejected { .. }) => entries.push(Entry::Rejected),
                AgentEvent::Message(MessageEvent::End { .. }) => {}
                _ => break,
            }
        }
        entries
    }

    /// The longest the run may take. Where a budget had less time left than that, only the end of the run tells.
    pub(super) fn duration_max(&self) -> Option<Duration> {
        let obeyed = self.settings()?.duration_max_ms.map(Duration::from_millis);
        match &self.end {
            RunEnd::Limit { limit: LimitKind::Duration, message } => limit_in(message).or(obeyed),
            _ => obeyed,
        }
    }

    /// Whether the run was asked for only to make the window shorter.
    pub(super) fn is_compaction(&self) -> bool {
        matches!(
            self.kind(1),
            Some(AgentEvent::Context(ContextEvent::CompactionStart {
                trigger: CompactionTrigger::Manual,
                ..
            }))
        )
    }

    /// The first answer of the model that begins.
    pub(super) fn first_answer(&self) -> Option<&AssistantMessage> {
        self.kinds_from(0).find_map(|kind| match kind {
            AgentEvent::Message(MessageEvent::Start { message }) => message.as_assistant(),
            _ => None,
        })
    }
}

/// How a run would have ended that was cut off after it had said why.
fn announced_end(recorded: &RecordedRun) -> Option<RunEnd> {
    let (event, _) = recorded.own.get(recorded.said.checked_sub(1)?)?;
    let (AgentEvent::Message(MessageEvent::Start { message })
    | AgentEvent::Message(MessageEvent::End { message })) = &event.kind
    else {
        return None;
    };
    let message = limit_in_note(message)?;
    let limit = if limit_in(&message).is_some() {
        LimitKind::Duration
    } else if message.starts_with("the turn limit") || message.starts_with("the token limit") {
        // Which of them it is, the loop finds out by itself.
        LimitKind::Turns
    } else {
        LimitKind::Budget
    };
    Some(RunEnd::Limit { limit, message })
}

/// Something that was said to the model.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    Message(Arc<AgentMessage>),
    /// What was said is not known, because it was refused.
    Rejected,
}

/// What the model reads of a call.
pub(super) struct ResultContent {
    pub(super) whole: Vec<Content>,
    base: Vec<Content>,
}

impl ResultContent {
    /// What was added to the result, if nothing else was changed.
    pub(super) fn added(&self) -> Option<Vec<String>> {
        let texts = self.whole.strip_prefix(self.base.as_slice())?.iter().map(|block| match block {
            Content::Text { text } => Some(text.clone()),
            Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => None,
        });
        texts.collect()
    }
}

/// What a tool gave that ended so.
pub(super) fn outcome(result: &ToolResult, is_error: bool) -> Result<ToolResult, ToolError> {
    if !is_error {
        return Ok(result.clone());
    }
    let text = result.as_text();
    Err(match error_kind(result) {
        Some("notFound") => ToolError::NotFound(text),
        Some("invalidArgs") => ToolError::InvalidArgs(text),
        Some("denied") => ToolError::Denied(text),
        Some("cancelled") => ToolError::Cancelled(text),
        Some("timedOut") => ToolError::TimedOut(text),
        Some("panicked") => ToolError::Panicked(text),
        Some("fatal") => ToolError::Fatal(text),
        Some(_) | None => ToolError::Failed(text),
    })
}

/// What kind of error a result tells of.
pub(super) fn error_kind(result: &ToolResult) -> Option<&str> {
    result.details.get("error").and_then(serde_json::Value::as_str)
}
