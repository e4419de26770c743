//! The recorded gate, hooks and filters.

use std::future::pending;
use std::sync::Arc;

use rheon_types::event::{ApprovalRequest, CompactionTrigger, PermissionResponse, Responder};
use rheon_types::{
    AgentEvent, AgentOutput, Amendment, Answer, ApprovalEvent, ApprovalReason, ContextEvent, FilterVerdict,
    Flow, Gate, GateDecision, GateRequest, History, Hook, HookPermission, HookPoint, HookVerdict,
    InputFilter, Message, MessageEvent, PlanEvent, RunEnd, RunEvent, ToolCall, ToolCallId, ToolError,
    ToolEvent, ToolResult, TurnEvent, Usage, Verdict,
};

use super::director::{Director, ScriptPosition};
use super::script::{Entry, HookRecord, StopCause};

/// The prefix of the reason when a hook skipped a call.
const SKIPPED_BY_HOOK: &str = "Skipped: ";

/// Decides as the recorded gate did.
pub(super) struct RecordedGate(pub(super) Arc<Director>);

/// Rejects what the recorded filters rejected. What they added is in the recorded messages.
pub(super) struct RecordedFilter(pub(super) Arc<Director>);

/// Decides as a recorded hook did. The first hook also answers for hooks that no event names.
pub(super) struct RecordedHook {
    pub(super) director: Arc<Director>,
    /// The names of all hooks, in order.
    pub(super) names: Arc<[String]>,
    /// The index of this hook.
    pub(super) index: usize,
}

/// Hook names in an order that fits the recorded decisions on each call, at most `names_max` plus one.
pub(super) fn hook_names<'a>(kinds: impl Iterator<Item = &'a AgentEvent>, names_max: usize) -> Vec<String> {
    let mut names: Vec<String> = vec!["recorded".into()];
    let (mut place, mut about) = (0, None);
    for kind in kinds {
        let AgentEvent::Run(RunEvent::Hook { hook, call_id, .. }) = kind else { continue };
        if names.len() > names_max {
            break;
        }
        if call_id.as_ref() != about || call_id.is_none() {
            (place, about) = (0, call_id.as_ref());
        }
        match names.iter().skip(place).position(|name| name == hook) {
            Some(further) => place += further + 1,
            None => {
                names.insert(place, hook.clone());
                place += 1;
            }
        }
    }
    names
}

impl Director {
    /// The verdict on a call, from the events that follow.
    fn verdict(&self, place: usize, call_id: &ToolCallId) -> Verdict {
        let script = &self.script;
        let records = script.hook_records(place, call_id);
        if records.iter().any(|record| record.arguments.is_some()) {
            // A hook's arguments are checked later.
            return Verdict::Allow;
        }
        match script.kind(place + records.len()) {
            Some(AgentEvent::Tool(ToolEvent::Blocked { call_id: blocked, reason, .. }))
                if records.is_empty() && blocked == call_id && !self.is_skipped_late(place, reason) =>
            {
                Verdict::Deny { reason: reason.clone() }
            }
            Some(AgentEvent::Plan(PlanEvent::Queued { change }))
                if records.is_empty() && change.call_id == *call_id =>
            {
                Verdict::Queue { change: (**change).clone() }
            }
            Some(AgentEvent::Approval(ApprovalEvent::Required { request }))
                if request.call_id == *call_id && !script.is_of_tool(request) =>
            {
                Verdict::Ask {
                    subject: request.subject.clone(),
                    reason: request.reason.clone(),
                    danger: request.danger,
                    suggested_rule: request.suggested_rule.clone(),
                    offers: request.offers.clone(),
                    by: ApprovalReason::Rule,
                }
            }
            Some(_) | None => Verdict::Allow,
        }
    }

    /// Whether a hook skipped a call right before it would have run: no approval was requested after it.
    fn is_skipped_late(&self, place: usize, reason: &str) -> bool {
        let later = self.script.kinds_from(place + 1).take_while(|kind| {
            !matches!(
                kind,
                AgentEvent::Tool(ToolEvent::Start { .. }) | AgentEvent::Message(MessageEvent::Start { .. })
            )
        });
        reason.starts_with(SKIPPED_BY_HOOK)
            && later.into_iter().all(|kind| {
                !matches!(
                    kind,
                    AgentEvent::Approval(ApprovalEvent::Required { .. })
                        | AgentEvent::Plan(PlanEvent::Queued { .. })
                        | AgentEvent::Run(RunEvent::Hook { .. })
                )
            })
    }

    /// Whether the run ends here instead of continuing as expected; stops it as recorded.
    fn ends_here(&self, point: HookPoint, is_expected: impl Fn(&AgentEvent) -> bool) -> Flow {
        let ScriptPosition::At(place) = self.reached() else { return Flow::Continue };
        if self.script.kind(place).is_none_or(is_expected) {
            return Flow::Continue;
        }
        match self.script.recorded.end() {
            Some(RunEnd::Vetoed { point: vetoed, message }) if *vetoed == point => {
                return Flow::Veto(message.clone());
            }
            Some(RunEnd::Stuck { message }) if point == HookPoint::BeforeTurn => {
                return Flow::Stuck(message.clone());
            }
            Some(_) | None => {}
        }
        if let Some(stopped) = self.script.stopped() {
            self.stop_or_panic(stopped);
        }
        Flow::Continue
    }

    /// Returns `value`, unless the replay is finished or about to stop.
    fn unless_over<'a, T: Send + 'a>(&self, value: T) -> Answer<'a, T> {
        if self.is_over() || self.token.is_cancelled() {
            Answer::later(pending())
        } else {
            Answer::Now(value)
        }
    }
}

impl Gate for RecordedGate {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        let ScriptPosition::At(place) = self.0.reached() else { return Answer::later(pending()) };
        let verdict = self.0.verdict(place, &request.call.id);
        // The loop measures hooks only if they are called.
        self.0.state().is_start_due = matches!(verdict, Verdict::Allow | Verdict::Ask { .. });
        let script = &self.0.script;
        let order = script.order_of(place, &request.call.id);
        let grant = script.grant(place, &request.call.id);
        Answer::Now(GateDecision { order, grant, ..verdict.into() })
    }

    fn resolved(&self, _request: &ApprovalRequest, _response: &PermissionResponse) {
        self.0.reached();
    }
}

impl InputFilter for RecordedFilter {
    fn check<'a>(&'a self, _message: &'a Message) -> Answer<'a, FilterVerdict> {
        let ScriptPosition::At(place) = self.0.reached() else { return Answer::later(pending()) };
        Answer::Now(match self.0.script.kind(place) {
            Some(AgentEvent::Run(RunEvent::InputRejected { reason })) => {
                FilterVerdict::Reject(reason.clone())
            }
            Some(_) | None => FilterVerdict::Pass,
        })
    }
}

impl RecordedHook {
    fn is_first(&self) -> bool {
        self.index == 0
    }

    /// This hook's decision on a call, and whether it is the last one.
    fn record(&self, place: usize, call_id: &ToolCallId) -> Option<(HookRecord, bool)> {
        let records = self.director.script.hook_records(place, call_id);
        let count = records.len();
        let mut records = records.into_iter().enumerate().peekable();
        for (index, name) in self.names.iter().enumerate() {
            let record = records.next_if(|(_, record)| record.hook == *name);
            if index == self.index {
                return record.map(|(nth, record)| (record, nth + 1 == count));
            }
        }
        None
    }
}

impl Hook for RecordedHook {
    fn name(&self) -> &str {
        self.names.get(self.index).map_or("recorded", String::as_str)
    }

    fn before_run<'a>(&'a self, _history: &'a History, _run_index: usize) -> Answer<'a, Flow> {
        if !self.is_first() {
            return Answer::Now(Flow::Continue);
        }
        let is_start = |kind: &AgentEvent| matches!(kind, AgentEvent::Run(RunEvent::Start { .. }));
        let flow = self.director.ends_here(HookPoint::BeforeRun, is_start);
        self.director.unless_over(flow)
    }

    fn before_turn<'a>(&'a self, _history: &'a History, _turn_index: u32) -> Answer<'a, Flow> {
        if !self.is_first() {
            return Answer::Now(Flow::Continue);
        }
        let is_turn = |kind: &AgentEvent| matches!(kind, AgentEvent::Turn(TurnEvent::Start { .. }));
        let flow = self.director.ends_here(HookPoint::BeforeTurn, is_turn);
        self.director.unless_over(flow)
    }

    fn after_turn<'a>(&'a self, _history: &'a History, _usage: &'a Usage) -> Answer<'a, ()> {
        self.director.reached();
        Answer::Now(())
    }

    fn permit_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, HookPermission> {
        let ScriptPosition::At(place) = self.director.reached() else { return Answer::later(pending()) };
        let Some((record, is_last)) = self.record(place, &call.id) else {
            return HookPermission::default().into();
        };
        let read = self.director.script.read_by_model(place, &call.id);
        let context = match read.and_then(|read| read.added()).filter(|_| is_last) {
            Some(added) => {
                self.director.state().added.insert(call.id.clone());
                added
            }
            None => Vec::new(),
        };
        let opinion = Some(record.veto.map_or(HookVerdict::Allow, HookVerdict::Deny));
        HookPermission { verdict: opinion, arguments: record.arguments, context }.into()
    }

    fn answer_approval<'a>(
        &'a self,
        _call: &'a ToolCall,
        request: &'a ApprovalRequest,
    ) -> Answer<'a, Option<PermissionResponse>> {
        let ScriptPosition::At(place) = self.director.reached() else { return Answer::later(pending()) };
        Answer::Now(match self.director.script.response(place, request.id.as_str()) {
            Some((response, Responder::Hook)) if self.is_first() => Some(response),
            Some((
                _,
                Responder::Hook | Responder::User | Responder::NonInteractive | Responder::Cancelled,
            ))
            | None => None,
        })
    }

    fn before_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, Flow> {
        let ScriptPosition::At(place) = self.director.reached() else { return Answer::later(pending()) };
        Answer::Now(match self.director.script.kind(place) {
            Some(AgentEvent::Tool(ToolEvent::Blocked { call_id, reason, .. })) if *call_id == call.id => {
                match reason.strip_prefix(SKIPPED_BY_HOOK) {
                    Some(reason) => Flow::Veto(reason.to_owned()),
                    None => Flow::Continue,
                }
            }
            Some(_) | None => Flow::Continue,
        })
    }

    fn after_tool<'a>(
        &'a self,
        call: &'a ToolCall,
        _result: &'a ToolResult,
        _is_error: bool,
    ) -> Answer<'a, Amendment> {
        let ScriptPosition::At(place) = self.director.reached() else { return Answer::later(pending()) };
        let is_added = !self.is_first()
            || !self.director.script.has_hooks()
            || self.director.state().added.contains(&call.id);
        let Some(read) = self.director.script.read_by_model(place, &call.id).filter(|_| !is_added) else {
            return Amendment::default().into();
        };
        let amendment = match read.added() {
            Some(context) => Amendment { content: None, context },
            None => Amendment { content: Some(read.whole), context: Vec::new() },
        };
        amendment.into()
    }

    fn before_stop<'a>(&'a self, _history: &'a History, _vetoes: u32) -> Answer<'a, Flow> {
        let ScriptPosition::At(place) = self.director.reached() else { return Answer::later(pending()) };
        let has_hooks = self.director.script.has_hooks();
        let continues = has_hooks
            && matches!(self.director.script.kind(place), Some(AgentEvent::Turn(TurnEvent::Start { .. })));
        let first = self.director.script.messages_from(place + 1).into_iter().next();
        Answer::Now(match first {
            Some(Entry::Message(message)) if continues && self.is_first() => {
                Flow::Veto(message.as_llm().map(Message::text).unwrap_or_default())
            }
            Some(Entry::Message(_) | Entry::Rejected) | None => Flow::Continue,
        })
    }

    fn before_compaction<'a>(
        &'a self,
        _trigger: CompactionTrigger,
        _instructions: Option<&'a str>,
    ) -> Answer<'a, Flow> {
        let ScriptPosition::At(place) = self.director.reached() else { return Answer::later(pending()) };
        let vetoed = match self.director.script.kind(place) {
            Some(AgentEvent::Run(RunEvent::Hook {
                hook, point: HookPoint::BeforeCompaction, veto, ..
            })) => veto.as_ref().filter(|_| hook == self.name()),
            Some(_) | None => None,
        };
        if let Some(reason) = vetoed {
            return Answer::Now(Flow::Veto(reason.clone()));
        }
        if !self.is_first() {
            return Answer::Now(Flow::Continue);
        }
        let flow = self.director.ends_here(HookPoint::BeforeCompaction, |kind| {
            matches!(
                kind,
                AgentEvent::Context(ContextEvent::CompactionStart { .. })
                    | AgentEvent::Run(RunEvent::Hook { point: HookPoint::BeforeCompaction, .. })
            )
        });
        self.director.unless_over(flow)
    }

    fn after_compaction<'a>(
        &'a self,
        _trigger: CompactionTrigger,
        _summary: Option<&'a str>,
    ) -> Answer<'a, ()> {
        if !self.is_first() {
            return Answer::Now(());
        }
        let ScriptPosition::At(place) = self.director.reached() else { return Answer::later(pending()) };
        let is_end = matches!(
            self.director.script.kind(place),
            Some(AgentEvent::Turn(TurnEvent::End { .. }) | AgentEvent::Run(RunEvent::End { .. }))
        );
        if let Some(stopped) = self.director.script.stopped().filter(|_| is_end) {
            self.director.stop_or_panic(stopped);
        }
        self.director.unless_over(())
    }

    fn after_run<'a>(&'a self, _output: &'a AgentOutput) -> Answer<'a, ()> {
        Answer::Now(())
    }

    fn on_error(&self, _message: &str) {
        // A recorded panic happened in a hook; otherwise the run would have ended with the failure.
        if let Some(stopped @ StopCause::Panicked(_)) = self.director.script.stopped() {
            self.director.stop_or_panic(stopped);
        }
    }

    fn tool_blocked(&self, _call: &ToolCall, _error: &ToolError) {
        self.director.reached();
    }
}
