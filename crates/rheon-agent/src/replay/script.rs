//! `Script`: one recorded run, and what its events say about the loop's next inputs. Pure.

use std::sync::Arc;
use std::time::Duration;

use rheon_types::event::{
    ApprovalRequest, CompactionTrigger, PermissionDecision, PermissionResponse, Responder, RunSettings,
};
use rheon_types::{
    AgentEvent, AgentMessage, ApprovalEvent, AssistantMessage, Author, CallGrant, CallOrder, Content,
    ContextEvent, Event, HookPoint, LimitKind, Message, MessageEvent, RunEnd, RunEvent, RunFailure,
    ToolCallId, ToolError, ToolEvent, ToolResult, TurnEvent,
};

use super::parts::RecordedRun;
use crate::close::{limit_in_note, not_completed};
use crate::halt::limit_in;

/// One recorded run. Places are event indices.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) recorded: RecordedRun,
    /// The result of calls that were open when the run stopped.
    not_completed: String,
    /// Why the run ended, if known.
    pub(super) end: RunEnd,
}

/// Why a run stopped early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StopCause {
    /// It was canceled.
    Cancelled,
    /// It took too long.
    OutOfTime,
    /// The log could not be written.
    Unstored(rheon_types::StoreError),
    /// Code inside it panicked.
    Panicked(String),
}

/// A hook's recorded decision on a call.
#[derive(Debug, Clone)]
pub(super) struct HookRecord {
    pub(super) hook: String,
    pub(super) veto: Option<String>,
    pub(super) arguments: Option<Arc<serde_json::Value>>,
}

impl Script {
    pub(super) fn new(recorded: RecordedRun) -> Self {
        // A run without an end in the log may have been cut off while it was being canceled.
        let end = recorded.end().cloned().or_else(|| announced_end(&recorded)).unwrap_or(RunEnd::Aborted);
        Self { recorded, not_completed: not_completed(&end), end }
    }

    /// The event at `place`, if the loop produced it.
    pub(super) fn event(&self, place: usize) -> Option<&Event> {
        if place < self.recorded.produced {
            self.recorded.own.get(place).map(|(event, _)| event)
        } else {
            None
        }
    }

    /// The copied events that followed the event at `place`.
    pub(super) fn outside(&self, place: usize) -> &[Event] {
        self.recorded.own.get(place).map_or(&[], |(_, outside)| outside.as_slice())
    }

    pub(super) fn kind(&self, place: usize) -> Option<&AgentEvent> {
        self.event(place).map(|event| &event.kind)
    }

    /// The events from `place` on.
    pub(super) fn kinds_from(&self, place: usize) -> impl Iterator<Item = &AgentEvent> {
        (place..self.recorded.produced).filter_map(|place| self.kind(place))
    }

    /// The events from `place` to the end of the turn.
    pub(super) fn turn_from(&self, place: usize) -> impl Iterator<Item = &AgentEvent> {
        self.kinds_from(place).take_while(|kind| !matches!(kind, AgentEvent::Turn(TurnEvent::End { .. })))
    }

    /// Whether a call ran while no other call of its turn did. One without neighbors is the same as one that must run alone.
    pub(super) fn order_of(&self, place: usize, call_id: &ToolCallId) -> CallOrder {
        let mut running: Vec<&ToolCallId> = Vec::new();
        let mut has_started = false;
        for kind in self.turn_from(place) {
            match kind {
                AgentEvent::Tool(ToolEvent::Start { call_id: started, .. }) => {
                    if has_started || started == call_id && !running.is_empty() {
                        return CallOrder::Together;
                    }
                    has_started = started == call_id;
                    running.push(started);
                }
                AgentEvent::Tool(ToolEvent::Blocked { call_id: blocked, .. }) => {
                    if has_started || blocked == call_id && !running.is_empty() {
                        return CallOrder::Together;
                    }
                    if blocked == call_id {
                        return CallOrder::Alone;
                    }
                }
                AgentEvent::Tool(ToolEvent::End { call_id: ended, .. }) => {
                    if ended == call_id {
                        return CallOrder::Alone;
                    }
                    running.retain(|id| *id != ended);
                }
                _ => {}
            }
        }
        CallOrder::Alone
    }

    pub(super) fn settings(&self) -> Option<&RunSettings> {
        match self.kind(0)? {
            AgentEvent::Run(RunEvent::Start { settings, .. }) => settings.as_deref(),
            _ => None,
        }
    }

    /// Whether the run may have had hooks. Without hooks, tool results are unchanged and nothing vetoed a stop.
    pub(super) fn has_hooks(&self) -> bool {
        self.settings().is_none_or(|settings| settings.hooks > 0)
    }

    /// Why this run stopped early, if it did.
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
            | RunEnd::Stuck { .. }
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

    /// The reason to stop the run now, if the next event closes it.
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

    /// Whether this is the note about the limit that ended the run.
    fn is_last_note(&self, place: usize, message: &AgentMessage) -> bool {
        let is_note = match message.as_llm() {
            Some(Message::User(user)) => user.author == Author::Runtime,
            Some(Message::Assistant(_) | Message::ToolResult(_)) | None => false,
        };
        is_note && matches!(self.kind(place + 2), Some(AgentEvent::Run(RunEvent::End { .. })))
    }

    /// The call whose tool made this request, if a tool made it.
    fn asked_by_tool<'a>(&self, request_id: &'a str) -> Option<&'a str> {
        let rest = request_id.strip_prefix(self.recorded.run_id.as_str())?.strip_prefix('/')?;
        let (call_id, number) = rest.rsplit_once('/')?;
        number.parse::<u32>().ok().map(|_| call_id)
    }

    /// Whether a running tool made this request; otherwise it was made before the call.
    pub(super) fn is_of_tool(&self, request: &ApprovalRequest) -> bool {
        self.asked_by_tool(request.id.as_str()) == Some(request.call_id.as_str())
    }

    /// Whether the tool of `call_id` made the request.
    pub(super) fn is_question_of(&self, request_id: &str, call_id: &ToolCallId) -> bool {
        self.asked_by_tool(request_id) == Some(call_id.as_str())
    }

    /// What a call ran with beyond the sandbox's defaults.
    pub(super) fn grant(&self, place: usize, call_id: &ToolCallId) -> CallGrant {
        let granted = self.turn_from(place).find_map(|kind| match kind {
            AgentEvent::Tool(ToolEvent::Start { call_id: started, grant, .. }) if started == call_id => {
                grant.as_deref().cloned()
            }
            _ => None,
        });
        granted.unwrap_or_default()
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

    /// The recorded answer to a request, and who gave it.
    pub(super) fn response(&self, place: usize, request_id: &str) -> Option<(PermissionResponse, Responder)> {
        let resolved = |place: usize| match self.kind(place) {
            Some(AgentEvent::Approval(ApprovalEvent::Resolved {
                request_id: id,
                decision,
                scope,
                by,
                arguments,
                offer,
            })) if id.as_str() == request_id => {
                let (arguments, offer) = (arguments.clone(), offer.clone());
                let response = PermissionResponse { arguments, offer, ..(*decision).into() };
                Some((place, response.with_scope(*scope), *by))
            }
            _ => None,
        };
        let (index, mut response, by) = (place..self.recorded.produced).find_map(resolved)?;
        response.message = match (response.decision, self.kind(index + 1)) {
            (PermissionDecision::Deny, Some(AgentEvent::Tool(ToolEvent::Blocked { reason, .. }))) => {
                Some(reason.clone())
            }
            (PermissionDecision::Deny | PermissionDecision::Allow, _) => None,
        };
        Some((response, by))
    }

    /// The hooks' decisions on the call before approval was requested, one per event.
    pub(super) fn hook_records(&self, place: usize, call_id: &ToolCallId) -> Vec<HookRecord> {
        let records = self.kinds_from(place).map_while(|kind| match kind {
            AgentEvent::Run(RunEvent::Hook { hook, veto, call_id: about, arguments, .. })
                if about.as_ref().is_none_or(|about| about == call_id) =>
            {
                Some(HookRecord { hook: hook.clone(), veto: veto.clone(), arguments: arguments.clone() })
            }
            _ => None,
        });
        records.collect()
    }

    /// What the model reads about a call: its content, and the part added by hooks.
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

    /// The messages added at the start of a turn, from `place` on.
    pub(super) fn messages_from(&self, place: usize) -> Vec<Entry> {
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

    /// The time limit of the run. If a budget had less time left, only the end of the run shows it.
    pub(super) fn duration_max(&self) -> Option<Duration> {
        let obeyed = self.settings()?.duration_max_ms.map(Duration::from_millis);
        match &self.end {
            RunEnd::Limit { limit: LimitKind::Duration, message } => limit_in(message).or(obeyed),
            _ => obeyed,
        }
    }

    /// Whether the run was only a compaction.
    pub(super) fn is_compaction(&self) -> bool {
        match self.kind(1) {
            Some(AgentEvent::Context(ContextEvent::CompactionStart {
                trigger: CompactionTrigger::Manual,
                ..
            })) => true,
            // A hook vetoed it.
            Some(AgentEvent::Run(RunEvent::End { output })) => {
                matches!(output.end, RunEnd::Vetoed { point: HookPoint::BeforeCompaction, .. })
            }
            Some(_) | None => false,
        }
    }

    /// The first answer of the model.
    pub(super) fn first_answer(&self) -> Option<&AssistantMessage> {
        self.kinds_from(0).find_map(|kind| match kind {
            AgentEvent::Message(MessageEvent::Start { message }) => message.as_assistant(),
            _ => None,
        })
    }
}

/// The end of a run that was cut off after it announced why.
fn announced_end(recorded: &RecordedRun) -> Option<RunEnd> {
    let (event, _) = recorded.own.get(recorded.produced.checked_sub(1)?)?;
    let (AgentEvent::Message(MessageEvent::Start { message })
    | AgentEvent::Message(MessageEvent::End { message })) = &event.kind
    else {
        return None;
    };
    let message = limit_in_note(message)?;
    let limit = if limit_in(&message).is_some() {
        LimitKind::Duration
    } else if message.starts_with("the turn limit") || message.starts_with("the token limit") {
        // The loop determines which of the two applies.
        LimitKind::Turns
    } else {
        LimitKind::Budget
    };
    Some(RunEnd::Limit { limit, message })
}

/// An input to the model.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    Message(Arc<AgentMessage>),
    /// Unknown, because it was rejected.
    Rejected,
}

/// What the model reads about a call.
pub(super) struct ResultContent {
    pub(super) whole: Vec<Content>,
    base: Vec<Content>,
}

impl ResultContent {
    /// The text added to the result, if nothing else changed.
    pub(super) fn added(&self) -> Option<Vec<String>> {
        let texts = self.whole.strip_prefix(self.base.as_slice())?.iter().map(|block| match block {
            Content::Text { text } => Some(text.clone()),
            Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => None,
        });
        texts.collect()
    }
}

/// The outcome of a tool call.
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

/// The error kind of a result.
pub(super) fn error_kind(result: &ToolResult) -> Option<&str> {
    result.details.get("error").and_then(serde_json::Value::as_str)
}
