//! `SessionState`: the current state of a session.

use std::collections::BTreeMap;
use std::sync::Arc;

use rheon_types::event::{
    ApprovalRequest, BudgetAmount, Ledger, Meter, PermissionMode, QueuedChange, RulesChange, SessionNetwork,
    SessionSandbox, TaskItem,
};
use rheon_types::{
    AgentEvent, AgentMessage, ContextEvent, Event, MicroUsd, ModelEvent, PlanEvent, RunEvent, RunId,
    SessionEvent, SessionId, ThinkingLevel, TurnEvent, Usage, WindowCut,
};

use super::conversation::Conversation;
use super::open_run::OpenRun;
use super::unfinished_call::UnfinishedCall;

/// The current state of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionState {
    conversation: Conversation,
    pub(super) runs: BTreeMap<RunId, OpenRun>,
    /// The budget reserved for open model calls.
    reserved: BTreeMap<RunId, BudgetAmount>,
    run_counts: BTreeMap<String, usize>,
    /// The number of the last event.
    pub seq: u64,
    pub session_id: Option<SessionId>,
    /// The model of the latest run.
    pub model: Option<Arc<str>>,
    pub spending: Spending,
    pub tasks: Vec<TaskItem>,
    /// The permission mode, if it was ever changed.
    pub mode: Option<PermissionMode>,
    /// The changes queued in the plan.
    pub plan: Vec<Arc<QueuedChange>>,
    pub chosen: SessionChoices,
}

/// The settings the user chose for a session. Resuming restores them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionChoices {
    /// As `vendor/model`.
    pub model: Option<Arc<str>>,
    pub thinking: Option<ThinkingLevel>,
    pub title: Option<String>,
    /// The changes to its permission rules, oldest first.
    pub rules: Vec<Arc<RulesChange>>,
    /// What commands reach of the network; as configured if absent.
    pub network: Option<SessionNetwork>,
    /// Whether commands run in the sandbox, if that was ever changed.
    pub sandbox: Option<SessionSandbox>,
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
            SessionEvent::Network { network } => self.network.clone_from(network),
            SessionEvent::Sandbox { sandbox } => self.sandbox = Some(*sandbox),
            _ => {}
        }
    }
}

/// The totals of all model calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    pub usage: Usage,
    /// The total cost, if every call has a price.
    pub cost: Cost,
    pub turns: u64,
    /// The cost of the calls that have a price.
    pub cost_known: MicroUsd,
    /// What calls that reported no usage took: estimated, or everything that was reserved for them.
    pub unreported: BudgetAmount,
    /// The tokens that count against a token limit: those read from the cache count at their price.
    pub billed_tokens: u64,
    /// What a token read from the cache counts in the current run, in percent.
    pub(super) cache_read_percent: Option<u8>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cost {
    #[default]
    Nothing,
    Known(MicroUsd),
    /// At least one call has no known price.
    Unknown,
}

impl SessionState {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn from_events<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut state = Self::new();
        events.into_iter().for_each(|event| state.apply(event));
        state
    }

    /// Applies the next event. Live-only events change nothing.
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
            AgentEvent::Run(RunEvent::Start { model, settings, .. }) => {
                self.model = Some(Arc::clone(model));
                self.spending.cache_read_percent =
                    settings.as_ref().and_then(|settings| settings.cache_read_percent);
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
            AgentEvent::Model(ModelEvent::End { usage, cost, estimated, .. }) => {
                let reserved = event.run_id.as_ref().and_then(|run_id| self.reserved.remove(run_id));
                self.spending.add_call(*usage, *cost, reserved.unwrap_or_default(), *estimated);
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

    /// The messages the next run starts with.
    pub fn messages(&self) -> Vec<Arc<AgentMessage>> {
        self.conversation.messages()
    }

    /// The same messages, each with the number of the event that ended it.
    pub fn numbered_messages(&self) -> impl Iterator<Item = (u64, &Arc<AgentMessage>)> {
        self.conversation.numbered()
    }

    /// The cuts of the last compaction: which messages the model sees in a shorter form.
    pub fn cuts(&self) -> &[WindowCut] {
        self.conversation.cuts()
    }

    /// What this session has taken from a budget: the reported usage, and the reservations of calls whose outcome is
    /// unknown.
    pub fn ledger(&self) -> Ledger {
        let spent = |spent| Meter { spent, ..Meter::default() };
        let cost = match self.spending.cost {
            Cost::Nothing | Cost::Unknown => self.spending.cost_known,
            Cost::Known(sum) => sum,
        };
        let BudgetAmount { tokens, cost: held } = self.spending.unreported;
        Ledger {
            tokens: spent(self.spending.billed_tokens.saturating_add(tokens)),
            micro_usd: spent(cost.0.saturating_add(held.unwrap_or_default().0)),
            wall_ms: Meter::default(),
        }
    }

    pub fn pending_approvals(&self) -> Vec<Arc<ApprovalRequest>> {
        self.runs.values().flat_map(|run| run.questions.iter().cloned()).collect()
    }

    pub fn open_runs(&self) -> impl Iterator<Item = &RunId> {
        self.runs.keys()
    }

    /// The tool calls that started and whose outcome is unknown.
    pub fn unfinished_calls(&self) -> Vec<UnfinishedCall> {
        self.runs.iter().flat_map(|(run_id, run)| run.unfinished_calls(run_id)).collect()
    }

    /// How often each configuration ran, by its part of the run id.
    pub fn run_counts(&self) -> &BTreeMap<String, usize> {
        &self.run_counts
    }

    /// Run ids are `{session}.{configuration}.{n}`. Those of a parent session do not count.
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
    fn add_unreported(&mut self, reserved: BudgetAmount) {
        let BudgetAmount { tokens, cost } = &mut self.unreported;
        *tokens = tokens.saturating_add(reserved.tokens);
        let more = reserved.cost.unwrap_or_default().0;
        *cost = Some(MicroUsd(cost.unwrap_or_default().0.saturating_add(more)));
    }

    /// Adds a model call. What reported no usage counts as estimated; without an estimate, as where the program was
    /// killed during the call, everything that was reserved counts.
    fn add_call(
        &mut self,
        usage: Usage,
        cost: Option<MicroUsd>,
        reserved: BudgetAmount,
        estimated: Option<BudgetAmount>,
    ) {
        match estimated {
            Some(BudgetAmount { tokens: 0, .. }) if usage.total() == 0 => return,
            Some(BudgetAmount { tokens, cost }) => {
                self.add_unreported(BudgetAmount { tokens, cost: cost.or(reserved.cost) });
            }
            None if usage.total() == 0 => self.add_unreported(reserved),
            None => {}
        }
        self.add(usage, cost);
    }

    fn add(&mut self, usage: Usage, cost: Option<MicroUsd>) {
        self.usage += usage;
        let billed = usage.billed(self.cache_read_percent.unwrap_or(100));
        self.billed_tokens = self.billed_tokens.saturating_add(billed);
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
