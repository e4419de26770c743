//! `AgentBuilder`: an agent, setting by setting.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rheon_agent::{
    CheckSettings, CompactionStrategy, ExecutionLimits, LogPosition, QueueMode, RetryConfig, RunOptions,
    ToolExecution, WindowSettings,
};
use rheon_providers::{Registry, ResolvedModel};
#[cfg(feature = "store")]
use rheon_store::sessions::{JournalStore, ResumedSession};
#[cfg(feature = "tools")]
use rheon_tools::{Toolkit, loop_guard::LoopGuard, skills::SkillSet};
use rheon_types::event::{ApprovalRequest, Ledger, PermissionResponse};
use rheon_types::{
    AgentId, Amendment, Budget, CacheConfig, Clock, Event, Flow, Gate, History, Hook, InputFilter,
    IntoShared, OutputSchema, Provider, Random, Reminder, RunId, SessionId, Store, SystemPrompt,
    ThinkingLevel, Tool, ToolCall, ToolResult, ToolSource, WindowCut,
};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::agent::Agent;
use super::model;
use crate::error::{Error, Result, no_model};
use crate::schema::schema_of;

/// Builds an [`Agent`]. Only a model is required. Where a method takes a part, such as a tool or a hook, it takes the part itself or
/// an `Arc` of it.
#[derive(Default)]
pub struct AgentBuilder {
    engine: rheon_agent::AgentBuilder,
    model: Option<String>,
    has_provider: bool,
    registry: Option<Registry>,
    keys: Vec<(String, SecretString)>,
}

impl Agent {
    /// An agent for a model, named `vendor/model`. Keys come from the environment.
    pub fn new(model: impl AsRef<str>) -> Result<Self> {
        Self::builder().model(model).build()
    }

    /// Starts building an agent.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }
}

impl AgentBuilder {
    /// The model, named `vendor/model`, with its key from the environment. With [`provider`](Self::provider): the model as that
    /// provider names it.
    pub fn model(mut self, model: impl AsRef<str>) -> Self {
        self.model = Some(model.as_ref().to_owned());
        self
    }

    /// A model service of your own, instead of the ones that come with Rheon.
    pub fn provider(mut self, provider: impl IntoShared<dyn Provider>) -> Self {
        self.engine = self.engine.provider(provider);
        self.has_provider = true;
        self
    }

    /// A model that a [`Registry`] has found.
    pub fn resolved(self, model: ResolvedModel) -> Self {
        self.provider(model.provider).model(model.model)
    }

    /// Where models are looked up: other vendors, other variables, other keys than those of the environment.
    pub fn registry(mut self, registry: &Registry) -> Self {
        self.registry = Some(registry.clone());
        self
    }

    /// An API key of a vendor; it goes before the environment's.
    pub fn key(mut self, vendor: impl Into<String>, key: impl Into<String>) -> Self {
        self.keys.push((vendor.into(), SecretString::from(key.into())));
        self
    }

    #[cfg(feature = "tools")]
    /// The standard tools, with the permission policy and the hooks that belong to them; see [`default_tools`](crate::default_tools).
    pub fn toolkit(mut self, toolkit: &Toolkit) -> Self {
        self.engine = self.engine.tools(toolkit.tools()).permission_policy(toolkit.gate());
        self.engine = self.engine.hook(LoopGuard::new());
        self
    }

    #[cfg(feature = "tools")]
    /// Lists `skills` in the system prompt. The model reads the text of a skill with the tool `skill`, which a [`Toolkit`] with these
    /// skills has, or with any tool that reads files.
    pub fn with_skills(self, skills: &SkillSet) -> Self {
        let list = skills.format_for_prompt();
        if list.is_empty() { self } else { self.system_section(list) }
    }

    /// The last answer of each run must be a `T`; [`AgentOutput::parse`](crate::AgentOutput::parse) reads it. For one run alone:
    /// [`Agent::run_as`].
    pub fn output_schema<T: JsonSchema + DeserializeOwned>(self) -> Self {
        self.json_schema(schema_of::<T>())
    }

    /// Answers approval requests. Without it, and without a reader of the run's stream, tool calls that need approval are denied.
    pub fn on_approval<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(ApprovalRequest) -> A + Send + Sync + 'static,
        A: Future<Output: Into<PermissionResponse>> + Send + 'static,
    {
        self.engine = self.engine.on_approval(move |request| {
            let answer = answer(request);
            async move { answer.await.into() }
        });
        self
    }

    /// Calls an async function before each tool call, after all approvals. A veto, or `false`, skips the call.
    pub fn before_tool<F, A>(self, function: F) -> Self
    where
        F: Fn(ToolCall) -> A + Send + Sync + 'static,
        A: Future<Output: Into<Flow>> + Send + 'static,
    {
        self.hook(rheon_agent::before_tool(function))
    }

    /// Calls an async function after each tool call, with its result and whether it failed. It may change what the model reads.
    pub fn after_tool<F, A>(self, function: F) -> Self
    where
        F: Fn(ToolCall, ToolResult, bool) -> A + Send + Sync + 'static,
        A: Future<Output: Into<Amendment>> + Send + 'static,
    {
        self.hook(rheon_agent::after_tool(function))
    }

    #[cfg(feature = "store")]
    /// Saves the agent's sessions in `journals`.
    pub fn journals(self, journals: &Arc<JournalStore>) -> Self {
        self.store(Arc::clone(journals))
    }

    #[cfg(feature = "store")]
    /// Resumes a session that [`JournalStore::resume`] or [`JournalStore::fork`] has opened.
    pub fn resumed(self, journals: &Arc<JournalStore>, resumed: &ResumedSession) -> Self {
        let state = &resumed.state;
        let run_counts = state.run_counts().iter().map(|(name, n)| (name.clone(), *n)).collect();
        let builder = match &state.session_id {
            Some(session_id) => self.session(session_id.clone()),
            None => self,
        };
        builder
            .journals(journals)
            .history(state.messages().into_iter().collect())
            .cuts(state.cuts().to_vec())
            .spent(state.ledger())
            .position(LogPosition { seq: state.seq, run_counts, tasks: state.tasks.clone() })
    }

    /// Calls `callback` for every event, in order. It runs inside the loop, so it should return soon.
    pub fn on_event(mut self, callback: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.engine = self.engine.on_event(callback);
        self
    }

    /// The agent.
    pub fn build(self) -> Result<Agent> {
        Ok(self.into_engine()?.build()?.into())
    }

    /// The same as a builder of the engine, for [`AgentWorker`](crate::agent::AgentWorker) and others that build agents themselves.
    pub fn into_engine(self) -> Result<rheon_agent::AgentBuilder> {
        let Self { engine, model, has_provider, registry, keys } = self;
        if has_provider {
            return match (registry, keys.is_empty(), model) {
                (Some(_), ..) => Err(Error::conflict(".provider(..)", ".registry(..)")),
                (None, false, _) => Err(Error::conflict(".provider(..)", ".key(..)")),
                (None, true, Some(model)) => Ok(engine.model(model)),
                (None, true, None) => Ok(engine),
            };
        }
        let registry = match registry {
            Some(_) if !keys.is_empty() => return Err(Error::conflict(".registry(..)", ".key(..)")),
            Some(registry) => registry,
            None => model::registry(keys)?,
        };
        let resolved = model::resolve(&registry, &model.ok_or_else(no_model)?)?;
        Ok(engine.provider(resolved.provider).model(resolved.model))
    }
}

impl From<rheon_agent::AgentBuilder> for AgentBuilder {
    /// A builder of the engine, which has its provider.
    fn from(engine: rheon_agent::AgentBuilder) -> Self {
        Self { engine, has_provider: true, ..Self::default() }
    }
}

/// RunOptions of the engine that need nothing of this crate.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*);)*) => {
        impl AgentBuilder {$(
            $(#[$doc])*
            pub fn $name(mut self, $($argument: $type),*) -> Self {
                self.engine = self.engine.$name($($argument),*);
                self
            }
        )*}
    };
}

settings! {
    /// The start of the system prompt.
    system_prompt(prompt: impl Into<SystemPrompt>);
    /// Adds a section at the end of the system prompt.
    system_section(text: impl Into<Arc<str>>);
    /// Adds a tool.
    tool(tool: impl IntoShared<dyn Tool>);
    /// Adds several tools.
    tools(tools: impl IntoIterator<Item = Arc<dyn Tool>>);
    /// Adds a source of tools that may change between turns.
    tool_source(source: impl IntoShared<dyn ToolSource>);
    /// Decides which tool calls may run. Without it, read-only tools run and all others need approval.
    permission_policy(gate: impl IntoShared<dyn Gate>);
    /// Adds a hook: a type that implements [`Hook`], or an async function such as [`hooks::before_run`](crate::hooks::before_run).
    hook(hook: impl IntoShared<dyn Hook>);
    /// Adds a filter that sees prompts before the model does.
    input_filter(filter: impl IntoShared<dyn InputFilter>);
    /// Lets any number of subscribers watch, each up to `capacity` events behind.
    enable_broadcast(capacity: usize);
    /// How much the model thinks.
    thinking(level: ThinkingLevel);
    /// The most tokens of one answer.
    max_tokens(tokens: u32);
    /// The sampling temperature.
    temperature(temperature: f32);
    /// The JSON Schema that the last answer of each run must match.
    json_schema(schema: OutputSchema);
    /// Which parts of the prompt the service should cache.
    cache(cache: CacheConfig);
    /// When a run has to stop.
    limits(limits: ExecutionLimits);
    /// The most turns of one run.
    max_turns(turns: u32);
    /// When a failed model call is retried.
    retry(retry: RetryConfig);
    /// How the tools of one turn run: in parallel, one after the other, or in batches.
    tool_execution(execution: ToolExecution);
    /// Runs the tools of one turn in batches of `size`.
    batched_tools(size: usize);
    /// The longest one tool may run.
    tool_timeout(limit: Duration);
    /// All plain settings at once; later calls change single ones.
    settings(settings: RunOptions);
    /// How queued messages are handed out: those of `steer` and those of `follow_up`.
    queue_modes(steering: QueueMode, follow_ups: QueueMode);
    /// Where the log is saved.
    store(store: impl IntoShared<dyn Store>);
    /// The id of the session; a new one without this.
    session(session_id: impl Into<SessionId>);
    /// The id of the agent; a new one without this.
    agent_id(agent_id: impl Into<AgentId>);
    /// Names this configuration in run ids.
    config_id(config_id: impl AsRef<str>);
    /// The run that the agent works for.
    parent_run(run_id: impl Into<RunId>);
    /// Saved in the `agent.start` of every run, for your own use.
    metadata(metadata: impl Into<Arc<Value>>);
    /// The conversation to continue.
    history(history: History);
    /// What the model sees of that conversation.
    cuts(cuts: Vec<WindowCut>);
    /// What the session has spent before, for its budget.
    spent(spent: Ledger);
    /// Where in its log the session continues.
    position(position: LogPosition);
    /// The clock; the system's without this.
    clock(clock: impl IntoShared<dyn Clock>);
    /// The source of randomness; the system's without this.
    random(random: impl IntoShared<dyn Random>);
    /// Adds a reminder, sent to the model at the end of each request.
    reminder(reminder: impl IntoShared<dyn Reminder>);
    /// How the context window is compacted.
    compaction(strategy: impl CompactionStrategy + 'static);
    /// How full the context window may be.
    window(window: WindowSettings);
    /// What an answer must be before the run ends.
    checks(checks: CheckSettings);
    /// What may be spent, together with others that draw on it.
    budget(budget: impl IntoShared<dyn Budget>);
}
