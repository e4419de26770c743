//! What a run is configured with: the seams it uses and the settings it obeys.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use rheon_types::event::{RunSettings, RunWindow};
use rheon_types::{
    AskFirst, Budget, CacheConfig, Caps, Clock, Gate, Hook, InputFilter, OutputSchema, Provider, Random,
    Reminder, SystemPrompt, ThinkingLevel, TurnTrigger,
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
    /// Asked and told at fixed points, in this order.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// Look at user messages before the model does, in this order.
    pub filters: Vec<Arc<dyn InputFilter>>,
    /// What the model may call in every turn.
    pub tools: Toolbox,
    /// The queues and questions through which others reach the run.
    pub control: Control,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The dice.
    pub random: Arc<dyn Random>,
    /// Names this configuration in run ids; derived from provider, model and thinking if absent.
    pub config_id: Option<Arc<str>>,
    /// What shapes what the model sees besides the conversation.
    pub context: ContextParts,
    /// What may be spent, with others that draw on it; without one only the limits count.
    pub budget: Option<Arc<dyn Budget>>,
    /// Everything that is a plain value.
    pub settings: RunOptions,
}

/// What shapes what the model sees besides the conversation.
#[derive(Clone)]
pub struct ContextParts {
    /// Asked before each call what to say at its end, in this order.
    pub reminders: Vec<Arc<dyn Reminder>>,
    /// Makes the window shorter when it is nearly full.
    pub strategy: Arc<dyn CompactionStrategy>,
    /// Where tools come from that may change between turns; they are offered behind [`RunConfig::tools`].
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
    /// A run against `provider` with nothing added: no tools, no hooks, the system's clock and dice, default settings.
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

    /// What of it a log has to say so that the run can be played again.
    pub(crate) fn recorded_settings(&self) -> RunSettings {
        let RunOptions { request, limits, retry, tool_execution, tool_calls_max, checks, .. } =
            &self.settings;
        RunSettings {
            turns_max: limits.turns_max,
            tokens_max: limits.tokens_max,
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

    /// How full the window may be.
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

/// The plain values a run obeys.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The model, as the provider names it.
    pub model: Arc<str>,
    /// What every request of the run says besides the conversation.
    pub request: RequestSettings,
    /// When to stop a run.
    pub limits: ExecutionLimits,
    /// When to try a failed model call again.
    pub retry: RetryConfig,
    /// How the tools of one turn run.
    pub tool_execution: ToolExecution,
    /// The longest the tools that run together may take, besides the limit of the whole run. They are then told to stop,
    /// and answered for if they do not.
    pub tool_timeout: Option<Duration>,
    /// The most tool calls of one turn that are run; those above are answered with an error.
    pub tool_calls_max: usize,
    /// How long a cancelled tool or hook may take to clean up before it is dropped.
    pub cancel_grace: Duration,
    /// What the first turn of a run with a prompt is caused by.
    pub first_turn_trigger: TurnTrigger,
    /// How full the model's window may be.
    pub window: WindowSettings,
    /// What an answer has to be before the run is over.
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

/// What every request of a run says besides the conversation.
#[derive(Debug, Clone, Default)]
pub struct RequestSettings {
    /// The system prompt.
    pub system_prompt: SystemPrompt,
    /// How much the model should think.
    pub thinking: ThinkingLevel,
    /// The most tokens one answer may have.
    pub tokens_max: Option<u32>,
    /// The sampling temperature.
    pub temperature: Option<f32>,
    /// The form that answers must have; free text if absent.
    pub output_schema: Option<Arc<OutputSchema>>,
    /// Which parts of the prompt the service should keep for the next request.
    pub cache: CacheConfig,
}

/// Hard caps on one run.
///
/// They and a [`Budget`] look at the same figures: tokens of prompts and answers, failed tries and summaries included, as
/// reported, or estimated where nothing is. The limits of a run are looked at between its turns, so the last turn may pass
/// them; a budget is a wall. [`Caps::from`] makes a budget of limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecutionLimits {
    /// The most turns.
    pub turns_max: Option<u32>,
    /// The most tokens of all turns together, of prompts and answers.
    pub tokens_max: Option<u64>,
    /// The longest a run may take.
    pub duration_max: Option<Duration>,
}

impl Default for ExecutionLimits {
    fn default() -> Self {
        Self {
            turns_max: Some(50),
            tokens_max: Some(1_000_000),
            duration_max: Some(Duration::from_secs(600)),
        }
    }
}

impl ExecutionLimits {
    /// No caps at all.
    pub fn unlimited() -> Self {
        Self { turns_max: None, tokens_max: None, duration_max: None }
    }
}

impl From<ExecutionLimits> for Caps {
    /// The same caps on tokens and time, for a whole tree of agents. Turns are no part of a budget.
    fn from(limits: ExecutionLimits) -> Self {
        Self { tokens: limits.tokens_max, cost: None, wall: limits.duration_max }
    }
}

/// How the tools of one turn run. Results always go to the model in the order of its calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolExecution {
    /// All at once; more than 32 run in groups of 32, between which what the user says skips the rest.
    #[default]
    Parallel,
    /// One after the other; what the user says in between skips the rest.
    Sequential,
    /// In groups of this size; what the user says in between skips the rest.
    Batched(NonZeroUsize),
}

/// The most tools of one turn that run at the same time.
pub(crate) const PARALLEL_MAX: usize = 32;

impl ToolExecution {
    /// How many tools start together.
    pub(crate) fn batch_size(self) -> usize {
        match self {
            Self::Parallel => PARALLEL_MAX,
            Self::Sequential => 1,
            Self::Batched(size) => size.get(),
        }
    }
}
