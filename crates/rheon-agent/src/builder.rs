//! `AgentBuilder`: builds an agent step by step.

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use rheon_types::event::{ApprovalRequest, BudgetAmount, Ledger, PermissionResponse};
use rheon_types::{
    AgentId, Budget, CacheConfig, Clock, Event, Gate, History, Hook, InputFilter, IntoShared, MicroUsd,
    OutputSchema, Provider, Random, Reminder, RunId, SessionId, Store, SystemPrompt, SystemSection,
    ThinkingLevel, Tool, ToolSource, TurnTrigger, WindowCut,
};
use serde_json::Value;

use crate::agent::{Agent, Origin, Parts};
use crate::closure_hook::OnApproval;
use crate::config::{ContextParts, ExecutionLimits, RunConfig, RunOptions, ToolExecution};
use crate::context::{CheckSettings, CompactionStrategy, WindowSettings};
use crate::control::{Control, QueueMode};
use crate::error::{BROADCAST_EVENTS_MAX, BuildError};
use crate::log::{LogPosition, Observers};
use crate::retry::RetryConfig;
use crate::toolbox::Toolbox;

/// Builds an [`Agent`]. Only a provider is required.
#[derive(Default)]
pub struct AgentBuilder {
    provider: Option<Arc<dyn Provider>>,
    tools: Vec<Arc<dyn Tool>>,
    gate: Option<Arc<dyn Gate>>,
    hooks: Vec<Arc<dyn Hook>>,
    filters: Vec<Arc<dyn InputFilter>>,
    observers: Observers,
    settings: RunOptions,
    session: SessionParts,
    inputs: Inputs,
    modes: (QueueMode, QueueMode),
    batch_size: Option<usize>,
    broadcast_capacity: Option<usize>,
}

#[derive(Default)]
struct SessionParts {
    store: Option<Arc<dyn Store>>,
    agent_id: Option<AgentId>,
    session_id: Option<SessionId>,
    config_id: Option<Arc<str>>,
    history: History,
    cuts: Vec<WindowCut>,
    spent: Ledger,
    position: LogPosition,
    parent_run_id: Option<RunId>,
    metadata: Option<Arc<Value>>,
}

#[derive(Default)]
struct Inputs {
    clock: Option<Arc<dyn Clock>>,
    random: Option<Arc<dyn Random>>,
    context: ContextParts,
    budget: Option<Arc<dyn Budget>>,
    sections: Vec<SystemSection>,
}

impl Agent {
    /// Starts building an agent.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }
}

impl AgentBuilder {
    /// The model service. Required.
    pub fn provider(mut self, provider: impl IntoShared<dyn Provider>) -> Self {
        self.provider = Some(provider.into_shared());
        self
    }

    /// The model, as the provider names it.
    pub fn model(mut self, model: impl AsRef<str>) -> Self {
        self.settings.model = model.as_ref().into();
        self
    }

    /// The system prompt.
    pub fn system_prompt(mut self, prompt: impl Into<SystemPrompt>) -> Self {
        self.settings.request.system_prompt = prompt.into();
        self
    }

    /// Appends a section to the system prompt, regardless of the order of calls. It is the same in every request.
    pub fn system_section(mut self, text: impl Into<Arc<str>>) -> Self {
        self.inputs.sections.push(SystemSection { text: text.into(), stable: true });
        self
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: impl IntoShared<dyn Tool>) -> Self {
        self.tools.push(tool.into_shared());
        self
    }

    /// Adds several tools.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds a source of tools that may change between turns. They are offered behind the agent's own tools, in the order in
    /// which sources were added, those of one source sorted by name. A tool whose name is taken is left out. Two sources of one name
    /// are refused when the agent is built.
    pub fn tool_source(mut self, source: impl IntoShared<dyn ToolSource>) -> Self {
        self.inputs.context.tool_sources.add(source.into_shared());
        self
    }

    /// Decides which tool calls may run. By default, read-only tools may run and all others need approval; calls that
    /// no client can approve are denied.
    pub fn permission_policy(mut self, gate: impl IntoShared<dyn Gate>) -> Self {
        self.gate = Some(gate.into_shared());
        self
    }

    /// Answers approval requests with `answer`, unless the reader of the run's stream answers first.
    pub fn on_approval<F, A>(self, answer: F) -> Self
    where
        F: Fn(ApprovalRequest) -> A + Send + Sync + 'static,
        A: Future<Output = PermissionResponse> + Send + 'static,
    {
        self.hook(OnApproval(answer))
    }

    /// Adds a hook; hooks are asked in the order they were added.
    pub fn hook(mut self, hook: impl IntoShared<dyn Hook>) -> Self {
        self.hooks.push(hook.into_shared());
        self
    }

    /// Adds an input filter; filters look in the order they were added.
    pub fn input_filter(mut self, filter: impl IntoShared<dyn InputFilter>) -> Self {
        self.filters.push(filter.into_shared());
        self
    }

    /// Calls `callback` for every event, in order. A callback that panics is not called again.
    pub fn on_event(mut self, callback: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.observers = self.observers.on_event(callback);
        self
    }

    /// Calls `callback` for every event of every run and for session facts. It can store the event without copying it.
    /// It must return quickly and must not panic.
    pub fn on_shared_event(mut self, callback: impl Fn(&Arc<Event>) + Send + Sync + 'static) -> Self {
        self.observers = self.observers.on_shared_event(callback);
        self
    }

    /// Enables any number of subscribers, each up to `capacity` events behind.
    pub fn enable_broadcast(mut self, capacity: usize) -> Self {
        self.broadcast_capacity = Some(capacity);
        self
    }

    /// How much the model should think.
    pub fn thinking(mut self, level: ThinkingLevel) -> Self {
        self.settings.request.thinking = level;
        self.settings.request.thinking_is_default = false;
        self
    }

    /// How much the model should think unless the user chooses a level. Only models that are known to think get this level.
    pub fn default_thinking(mut self, level: ThinkingLevel) -> Self {
        self.settings.request.thinking = level;
        self.settings.request.thinking_is_default = true;
        self
    }

    /// The most tokens one answer may have.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.settings.request.tokens_max = Some(tokens);
        self
    }

    /// The sampling temperature.
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.settings.request.temperature = Some(temperature);
        self
    }

    /// The JSON Schema that answers must match. The crate `rheon` derives it from a type: `output_schema::<T>()`.
    pub fn json_schema(mut self, schema: OutputSchema) -> Self {
        self.settings.request.output_schema = Some(Arc::new(schema));
        self
    }

    /// Which parts of the prompt the service should cache.
    pub fn cache(mut self, cache: CacheConfig) -> Self {
        self.settings.request.cache = cache;
        self
    }

    /// When a run has to stop.
    pub fn limits(mut self, limits: ExecutionLimits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// The most turns of one run.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.settings.limits.turns_max = Some(turns);
        self
    }

    /// When to retry failed model calls.
    pub fn retry(mut self, retry: RetryConfig) -> Self {
        self.settings.retry = retry;
        self
    }

    /// How the tools of one turn run.
    pub fn tool_execution(mut self, execution: ToolExecution) -> Self {
        self.settings.tool_execution = execution;
        self
    }

    /// Runs the tools of one turn in groups of `size`.
    pub fn batched_tools(mut self, size: usize) -> Self {
        self.batch_size = Some(size);
        self
    }

    /// The longest one tool may run.
    pub fn tool_timeout(mut self, limit: Duration) -> Self {
        self.settings.tool_timeout = Some(limit);
        self
    }

    /// Sets all options at once; later calls override single ones.
    pub fn settings(mut self, settings: RunOptions) -> Self {
        self.settings = settings;
        self
    }

    /// How the steering and follow-up queues deliver their messages.
    pub fn queue_modes(mut self, steering: QueueMode, follow_ups: QueueMode) -> Self {
        self.modes = (steering, follow_ups);
        self
    }

    /// Where the log is kept. Without one it is only shown.
    pub fn store(mut self, store: impl IntoShared<dyn Store>) -> Self {
        self.session.store = Some(store.into_shared());
        self
    }

    /// The session id; a new one by default.
    pub fn session(mut self, session_id: impl Into<SessionId>) -> Self {
        self.session.session_id = Some(session_id.into());
        self
    }

    /// The agent id; a new one by default.
    pub fn agent_id(mut self, agent_id: impl Into<AgentId>) -> Self {
        self.session.agent_id = Some(agent_id.into());
        self
    }

    /// Names this configuration in run ids.
    pub fn config_id(mut self, config_id: impl AsRef<str>) -> Self {
        self.session.config_id = Some(config_id.as_ref().into());
        self
    }

    /// The parent run: the agent's runs name it as their parent, and their first turn is triggered by a sub-agent.
    pub fn parent_run(mut self, run_id: impl Into<RunId>) -> Self {
        self.session.parent_run_id = Some(run_id.into());
        self.settings.first_turn_trigger = TurnTrigger::SubAgent;
        self
    }

    /// Metadata of the app, stored in the `agent.start` of every run.
    pub fn metadata(mut self, metadata: impl Into<Arc<Value>>) -> Self {
        self.session.metadata = Some(metadata.into());
        self
    }

    /// The conversation to continue.
    pub fn history(mut self, history: History) -> Self {
        self.session.history = history;
        self
    }

    /// The cuts of the conversation to continue: what the model sees in another form.
    pub fn cuts(mut self, cuts: Vec<WindowCut>) -> Self {
        self.session.cuts = cuts;
        self
    }

    /// What the session has spent before. A budget that knows less of it counts it.
    pub fn spent(mut self, spent: Ledger) -> Self {
        self.session.spent = spent;
        self
    }

    /// Where the session continues in its log; at the beginning by default.
    pub fn position(mut self, position: LogPosition) -> Self {
        self.session.position = position;
        self
    }

    /// The time; the system's without this.
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.inputs.clock = Some(clock.into_shared());
        self
    }

    /// The dice; the system's without this.
    pub fn random(mut self, random: impl IntoShared<dyn Random>) -> Self {
        self.inputs.random = Some(random.into_shared());
        self
    }

    /// Adds a reminder; reminders are asked in the order they were added.
    pub fn reminder(mut self, reminder: impl IntoShared<dyn Reminder>) -> Self {
        self.inputs.context.reminders.push(reminder.into_shared());
        self
    }

    /// How the context window is compacted.
    pub fn compaction(mut self, strategy: impl CompactionStrategy + 'static) -> Self {
        self.inputs.context.strategy = Arc::new(strategy);
        self
    }

    /// When the context window is compacted.
    pub fn window(mut self, window: WindowSettings) -> Self {
        self.settings.window = window;
        self
    }

    /// The checks an answer must pass before the run ends.
    pub fn checks(mut self, checks: CheckSettings) -> Self {
        self.settings.checks = checks;
        self
    }

    /// What may be spent, with others that draw on it.
    pub fn budget(mut self, budget: impl IntoShared<dyn Budget>) -> Self {
        self.inputs.budget = Some(budget.into_shared());
        self
    }

    /// Builds the agent.
    pub fn build(self) -> Result<Agent, BuildError> {
        let mut settings = self.settings;
        if let Some(size) = self.batch_size {
            let size = NonZeroUsize::new(size).ok_or(BuildError::EmptyBatch)?;
            settings.tool_execution = ToolExecution::Batched(size);
        }
        if let Some(name) = self.inputs.context.tool_sources.duplicate() {
            return Err(BuildError::DuplicateToolSource(name.to_owned()));
        }
        for section in self.inputs.sections {
            settings.request.system_prompt = settings.request.system_prompt.with_section(section);
        }
        let observers = match self.broadcast_capacity {
            Some(capacity @ 1..=BROADCAST_EVENTS_MAX) => self.observers.with_broadcast(capacity),
            Some(capacity) => return Err(BuildError::BroadcastCapacity(capacity)),
            None => self.observers,
        };
        let defaults = RunConfig::new(self.provider.ok_or(BuildError::NoProvider)?);
        let config = RunConfig {
            gate: self.gate.unwrap_or(defaults.gate),
            hooks: self.hooks,
            filters: self.filters,
            tools: Toolbox::new(self.tools)?,
            control: Control::new(self.modes.0, self.modes.1),
            clock: self.inputs.clock.unwrap_or(defaults.clock),
            random: self.inputs.random.unwrap_or(defaults.random),
            config_id: self.session.config_id,
            context: self.inputs.context,
            budget: self.inputs.budget,
            settings,
            ..defaults
        };
        let SessionParts {
            store,
            agent_id,
            session_id,
            history,
            cuts,
            position,
            parent_run_id,
            metadata,
            spent,
            ..
        } = self.session;
        if let Some(budget) = &config.budget {
            let known = budget.ledger();
            let tokens = spent.tokens.spent.saturating_sub(known.tokens.spent);
            let cost = spent.micro_usd.spent.saturating_sub(known.micro_usd.spent);
            if tokens > 0 || cost > 0 {
                budget.spend(BudgetAmount { tokens, cost: Some(MicroUsd(cost)) });
            }
        }
        let origin = Origin { parent_run_id, metadata };
        Ok(Agent::new(Parts {
            config,
            observers,
            store,
            agent_id,
            session_id,
            history,
            cuts,
            position,
            origin,
        }))
    }
}
