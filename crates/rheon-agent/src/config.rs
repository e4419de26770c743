//! The configuration of a run: the services it uses and its options.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use rheon_types::event::{RunSettings, RunWindow};
use rheon_types::{
    AskFirst, Budget, CacheConfig, Caps, Clock, Gate, Hook, InputFilter, OutputSchema, Prices, Provider,
    Random, Reminder, SystemPrompt, ThinkingLevel, TurnTrigger,
};

use crate::clock::millis;
use crate::context::{CheckSettings, Compaction, CompactionStrategy, TieredCompaction, WindowSettings};
use crate::control::Control;
use crate::retry::RetryConfig;
use crate::system::{SystemClock, SystemRandom};
use crate::tool_sources::ToolSources;
use crate::toolbox::Toolbox;

/// Everything a run needs besides its conversation.
#[derive(Clone)]
pub struct RunConfig {
    /// The model service.
    pub provider: Arc<dyn Provider>,
    /// Decides which tool calls may run.
    pub gate: Arc<dyn Gate>,
    /// The hooks, in order.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// The input filters, in order.
    pub filters: Vec<Arc<dyn InputFilter>>,
    /// The tools offered in every turn.
    pub tools: Toolbox,
    /// The message queues and open approval requests.
    pub control: Control,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The random numbers.
    pub random: Arc<dyn Random>,
    /// Names this configuration in run ids; derived from provider, model and thinking if absent.
    pub config_id: Option<Arc<str>>,
    /// What the model sees besides the conversation.
    pub context: ContextParts,
    /// The budget, possibly shared with other agents; without one only the limits apply.
    pub budget: Option<Arc<dyn Budget>>,
    /// All plain options.
    pub settings: RunOptions,
}

/// What the model sees besides the conversation.
#[derive(Clone)]
pub struct ContextParts {
    /// Add text to the end of each request, in order.
    pub reminders: Vec<Arc<dyn Reminder>>,
    /// Compacts the context window when it is nearly full.
    pub strategy: Arc<dyn CompactionStrategy>,
    /// Sources of tools that can change between turns. Their tools are offered after [`RunConfig::tools`].
    pub tool_sources: ToolSources,
}

impl Default for ContextParts {
    fn default() -> Self {
        Self {
            reminders: Vec::new(),
            strategy: Arc::new(TieredCompaction::default()),
            tool_sources: ToolSources::default(),
        }
    }
}

impl RunConfig {
    /// A configuration for `provider` with defaults: no tools, no hooks, the system's clock and random numbers.
    pub fn new(provider: Arc<dyn Provider>) -> Self {
        Self {
            provider,
            gate: Arc::new(AskFirst),
            hooks: Vec::new(),
            filters: Vec::new(),
            tools: Toolbox::default(),
            control: Control::default(),
            clock: Arc::new(SystemClock::default()),
            random: Arc::new(SystemRandom),
            config_id: None,
            context: ContextParts::default(),
            budget: None,
            settings: RunOptions::default(),
        }
    }

    /// The settings that the log needs to replay the run.
    pub(crate) fn recorded_settings(&self) -> RunSettings {
        let RunOptions { request, limits, retry, tool_execution, tool_calls_max, checks, .. } =
            &self.settings;
        RunSettings {
            turns_max: limits.turns_max,
            tokens_max: limits.tokens_max,
            cache_read_percent: Some(self.cache_read_percent()),
            duration_max_ms: limits.duration_max.map(millis),
            retries_max: retry.retries_max,
            tools_together: tool_execution.batch_size() as u64,
            tool_calls_max: *tool_calls_max as u64,
            hooks: self.hooks.len() as u64,
            nudges_max: checks.nudges_max,
            repairs_max: checks.repairs_max,
            output_schema: request.output_schema.as_ref().map(|output| Arc::new(output.schema.clone())),
            window: Some(self.window_settings()),
        }
    }

    /// What a token read from the cache counts, in percent.
    fn cache_read_percent(&self) -> u8 {
        let info = self.provider.describe(&self.settings.model);
        Prices::cache_read_percent(info.and_then(|info| info.prices).as_ref())
    }

    /// The context window settings.
    fn window_settings(&self) -> RunWindow {
        let RunOptions { model, request, window, .. } = &self.settings;
        let known = self.provider.describe(model);
        let known = known.as_deref();
        RunWindow {
            tokens_max: window.tokens_max.or(known.map(|info| info.context_tokens)),
            tokens_learnt: None,
            answer_tokens_max: request.tokens_max.or(known.map(|info| info.output_tokens_max)),
            warn_percent: window.warn_percent,
            compact_percent: window.compact_percent,
            is_automatic: window.compaction == Compaction::Auto,
        }
    }

    /// The part of a run id that names the configuration.
    pub(crate) fn segment(&self) -> String {
        let plain = |text: &str| -> String {
            text.chars()
                .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
                .collect()
        };
        match &self.config_id {
            Some(config_id) => plain(config_id),
            None => {
                let thinking = self.settings.request.thinking.as_str();
                plain(&format!("{}-{}-{thinking}", self.provider.id(), self.settings.model))
            }
        }
    }
}

/// The plain options of a run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The model, as the provider names it.
    pub model: Arc<str>,
    /// The parts of every request besides the conversation.
    pub request: RequestSettings,
    /// The limits of a run.
    pub limits: ExecutionLimits,
    /// When to try a failed model call again.
    pub retry: RetryConfig,
    /// How the tools of one turn run.
    pub tool_execution: ToolExecution,
    /// The time limit for tools that run in parallel, in addition to the limit of the whole run. After it they are
    /// canceled, and tools that do not stop get an error result.
    pub tool_timeout: Option<Duration>,
    /// The maximum number of tool calls per turn; calls above it get an error.
    pub tool_calls_max: usize,
    /// How long a canceled tool or hook may clean up before it is dropped.
    pub cancel_grace: Duration,
    /// The trigger of the first turn of a run with a prompt.
    pub first_turn_trigger: TurnTrigger,
    /// When the context window is compacted.
    pub window: WindowSettings,
    /// The checks an answer must pass before the run ends.
    pub checks: CheckSettings,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            model: "".into(),
            request: RequestSettings::default(),
            limits: ExecutionLimits::default(),
            retry: RetryConfig::default(),
            tool_execution: ToolExecution::Parallel,
            tool_timeout: None,
            tool_calls_max: 256,
            cancel_grace: Duration::from_millis(250),
            first_turn_trigger: TurnTrigger::User,
            window: WindowSettings::default(),
            checks: CheckSettings::default(),
        }
    }
}

/// The parts of every request besides the conversation.
#[derive(Debug, Clone, Default)]
pub struct RequestSettings {
    /// The system prompt.
    pub system_prompt: SystemPrompt,
    /// How much the model should think.
    pub thinking: ThinkingLevel,
    /// Whether that level is a default. It then goes only to models that are known to take one: others refuse it.
    pub thinking_is_default: bool,
    /// The maximum number of answer tokens.
    pub tokens_max: Option<u32>,
    /// The sampling temperature.
    pub temperature: Option<f32>,
    /// The schema that answers must match; free text if `None`.
    pub output_schema: Option<Arc<OutputSchema>>,
    /// Which parts of the prompt the service should cache.
    pub cache: CacheConfig,
}

/// Hard caps on one run. By default there are none.
///
/// Limits and a [`Budget`] count the same: prompt and answer tokens, including failed attempts and summaries, as
/// reported by the service or estimated; tokens read from the cache count at their price. The limits are checked between turns, so the last turn may exceed them; a
/// budget is a hard limit. [`Caps::from`] turns limits into a budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExecutionLimits {
    /// The maximum number of turns.
    pub turns_max: Option<u32>,
    /// The maximum number of prompt and answer tokens over all turns.
    pub tokens_max: Option<u64>,
    /// The time limit of a run. Waiting for a person does not count.
    pub duration_max: Option<Duration>,
}

impl From<ExecutionLimits> for Caps {
    /// The same caps on tokens and time, for a whole tree of agents. A budget does not limit turns.
    fn from(limits: ExecutionLimits) -> Self {
        Self { tokens: limits.tokens_max, cost: None, wall: limits.duration_max }
    }
}

/// How the tools of one turn run. The model receives results in the order of its calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolExecution {
    /// All at once, except those that the gate wants to run alone ([`CallOrder`](rheon_types::CallOrder)); more than 32 run in batches of 32. A user
    /// message between batches skips the rest.
    #[default]
    Parallel,
    /// One after the other. A user message in between skips the rest.
    Sequential,
    /// In batches of this size. A user message in between skips the rest.
    Batched(NonZeroUsize),
}

/// The maximum number of tools that run in parallel.
pub(crate) const PARALLEL_MAX: usize = 32;

impl ToolExecution {
    /// How many tools run in parallel.
    pub(crate) fn batch_size(self) -> usize {
        match self {
            Self::Parallel => PARALLEL_MAX,
            Self::Sequential => 1,
            Self::Batched(size) => size.get(),
        }
    }
}
