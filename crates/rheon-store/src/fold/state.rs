//! `SessionState`: what a session is now.

use std::collections::BTreeMap;
use std::sync::Arc;

use rheon_types::event::{
    ApprovalRequest, Ledger, Meter, PermissionMode, QueuedChange, Reserved, RulesChange, TaskItem,
};
use rheon_types::{
    AgentEvent, AgentMessage, ContextEvent, Event, MicroUsd, ModelEvent, PlanEvent, RunEvent, RunId,
    SessionEvent, SessionId, ThinkingLevel, TurnEvent, Usage, WindowCut,
};

use super::conversation::Conversation;
use super::open_run::OpenRun;
use super::unfinished_call::UnfinishedCall;

/// What a session is now.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionState {
    conversation: Conversation,
    pub(super) runs: BTreeMap<RunId, OpenRun>,
    /// What was set aside for model calls under way.
    reserved: BTreeMap<RunId, Reserved>,
    /// How often each configuration ran.
    run_counts: BTreeMap<String, usize>,
    /// The number of the last event.
    pub seq: u64,
    /// The session of the last event.
    pub session_id: Option<SessionId>,
    /// The model of the newest run.
    pub model: Option<Arc<str>>,
    /// What model calls have used.
    pub spending: Spending,
    /// The task list.
    pub tasks: Vec<TaskItem>,
    /// The permission mode, if it was ever changed.
    pub mode: Option<PermissionMode>,
    /// The changes that wait in the plan.
    pub plan: Vec<Arc<QueuedChange>>,
    /// What the user chose for this session.
    pub chosen: SessionChoices,
}

/// What the user chose for a session; a resumed one restores it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionChoices {
    /// The model, `vendor/model`.
    pub model: Option<Arc<str>>,
    /// How much it thinks.
    pub thinking: Option<ThinkingLevel>,
    /// The title.
    pub title: Option<String>,
    /// The changes of its permission rules, oldest first.
    pub rules: Vec<Arc<RulesChange>>,
}

impl SessionChoices {
    fn apply(&mut self, fact: &SessionEvent) {
        match fact {
            SessionEvent::Model { model, thinking } => {
                self.model = Some(Arc::clone(model)).filter(|model| !model.is_empty());
                self.thinking = *thinking;
            }
            SessionEvent::Title { title } => {
                self.title = Some(title.clone()).filter(|title| !title.is_empty())
            }
            SessionEvent::Rules { change } => self.rules.push(Arc::clone(change)),
            _ => {}
        }
    }
}

/// What model calls have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    /// Tokens.
    pub usage: Usage,
    /// Money, where all calls have a price.
    pub cost: Cost,
    /// Turns.
    pub turns: u64,
    /// Money for the calls that have a price.
    pub cost_known: MicroUsd,
    /// What was set aside for calls that reported nothing.
    pub in_doubt: Reserved,
}

/// What all model calls cost together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cost {
    /// There was none.
    #[default]
    Nothing,
    /// This much.
    Known(MicroUsd),
    /// One of them has no known price.
    Unknown,
}

impl SessionState {
    /// The state before anything has happened.
    pub fn new() -> Self {
        Self::default()
    }

    /// The state after all of `events`.
    pub fn from_events<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut state = Self::new();
        events.into_iter().for_each(|event| state.apply(event));
        state
    }

    /// Takes in the next event. Live ones change nothing.
    pub fn apply(&mut self, event: &Event) {
        if !event.kind.is_durable() {
            return;
        }
        self.seq = event.seq;
        self.session_id = Some(event.session_id.clone());
        self.conversation.apply(event);
        if let AgentEvent::Session(fact) = &event.kind {
            self.chosen.apply(fact);
        }
        match &event.kind {
            AgentEvent::Run(RunEvent::Start { model, .. }) => {
                self.model = Some(Arc::clone(model));
                if let Some(run_id) = &event.run_id {
                    self.count(run_id, &event.session_id);
                    self.runs.insert(run_id.clone(), OpenRun::default());
                }
            }
            AgentEvent::Model(ModelEvent::Start { reserved: Some(reserved), .. }) => {
                if let Some(run_id) = &event.run_id {
                    self.reserved.insert(run_id.clone(), *reserved);
                }
            }
            AgentEvent::Model(ModelEvent::End { usage, cost, .. }) => {
                // Of a call that reported nothing, the most it can have taken counts.
                let reserved = event.run_id.as_ref().and_then(|run_id| self.reserved.remove(run_id));
                match reserved {
                    Some(reserved) if usage.total() == 0 => self.spending.doubt(reserved),
                    Some(_) | None => {}
                }
                self.spending.add(*usage, *cost);
            }
            AgentEvent::Context(ContextEvent::CompactionEnd { usage, cost, .. }) if usage.total() > 0 => {
                self.spending.add(*usage, *cost);
            }
            AgentEvent::Turn(TurnEvent::Start { .. }) => self.spending.turns += 1,
            AgentEvent::Plan(PlanEvent::Tasks { items }) => self.tasks.clone_from(items),
            AgentEvent::Session(SessionEvent::Mode { mode }) => self.mode = Some(*mode),
            AgentEvent::Plan(PlanEvent::Queued { change }) => self.plan.push(Arc::clone(change)),
            AgentEvent::Plan(PlanEvent::Resolved { call_id, .. }) => {
                self.plan.retain(|change| change.call_id != *call_id)
            }
            _ => {}
        }
        let Some(run_id) = &event.run_id else { return };
        match &event.kind {
            AgentEvent::Run(RunEvent::End { .. }) => drop(self.runs.remove(run_id)),
            kind => {
                if let Some(run) = self.runs.get_mut(run_id) {
                    run.apply(kind);
                }
            }
        }
    }

    /// The conversation, as the next run would go on with it.
    pub fn messages(&self) -> Vec<Arc<AgentMessage>> {
        self.conversation.messages()
    }

    /// The same with the number of the event that ended each.
    pub fn numbered_messages(&self) -> impl Iterator<Item = (u64, &Arc<AgentMessage>)> {
        self.conversation.numbered()
    }

    /// What lies over the conversation: what the model sees otherwise since the window was made shorter.
    pub fn cuts(&self) -> &[WindowCut] {
        self.conversation.cuts()
    }

    /// What a budget has lost to this session: what was reported, and what was set aside for a call whose end is not known.
    pub fn ledger(&self) -> Ledger {
        let spent = |spent| Meter { spent, ..Meter::default() };
        let cost = match self.spending.cost {
            Cost::Nothing | Cost::Unknown => self.spending.cost_known,
            Cost::Known(sum) => sum,
        };
        let Reserved { tokens, cost: held } = self.spending.in_doubt;
        Ledger {
            tokens: spent(self.spending.usage.total().saturating_add(tokens)),
            micro_usd: spent(cost.0.saturating_add(held.unwrap_or_default().0)),
            wall_ms: Meter::default(),
        }
    }

    /// The questions that wait for an answer.
    pub fn pending_approvals(&self) -> Vec<Arc<ApprovalRequest>> {
        self.runs.values().flat_map(|run| run.questions.iter().cloned()).collect()
    }

    /// The runs that have begun and not ended.
    pub fn open_runs(&self) -> impl Iterator<Item = &RunId> {
        self.runs.keys()
    }

    /// The tool calls whose end is not known.
    pub fn unfinished_calls(&self) -> Vec<UnfinishedCall> {
        self.runs.iter().flat_map(|(run_id, run)| run.unfinished_calls(run_id)).collect()
    }

    /// How often each configuration ran, by the part of its run ids that names it.
    pub fn run_counts(&self) -> &BTreeMap<String, usize> {
        &self.run_counts
    }

    /// Run ids are `{session}.{configuration}.{n}`; those of a session that this one goes on from do not count.
    fn count(&mut self, run_id: &RunId, session_id: &SessionId) {
        let own = run_id.as_str().strip_prefix(session_id.as_str());
        let parts = own.and_then(|rest| rest.strip_prefix('.')).and_then(|rest| rest.rsplit_once('.'));
        if let Some((segment, n)) = parts
            && let Ok(n) = n.parse::<usize>()
        {
            let most = self.run_counts.entry(segment.to_owned()).or_default();
            *most = n.max(*most);
        }
    }
}

impl Spending {
    fn doubt(&mut self, reserved: Reserved) {
        let Reserved { tokens, cost } = &mut self.in_doubt;
        *tokens = tokens.saturating_add(reserved.tokens);
        let more = reserved.cost.unwrap_or_default().0;
        *cost = Some(MicroUsd(cost.unwrap_or_default().0.saturating_add(more)));
    }

    fn add(&mut self, usage: Usage, cost: Option<MicroUsd>) {
        self.usage += usage;
        self.cost_known = MicroUsd(self.cost_known.0.saturating_add(cost.unwrap_or_default().0));
        let sum = match self.cost {
            Cost::Nothing => Some(MicroUsd::default()),
            Cost::Known(sum) => Some(sum),
            Cost::Unknown => None,
        };
        let total = sum.zip(cost).and_then(|(sum, cost)| sum.checked_add(cost));
        self.cost = total.map_or(Cost::Unknown, Cost::Known);
    }
}
