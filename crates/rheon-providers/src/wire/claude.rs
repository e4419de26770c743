//! What Anthropic's models ask of a request, whatever the wire: its limit, its thinking, its choice of tools. Pure.

use rheon_types::{ModelInfo, ProviderError, Request, SignatureKind, ThinkingLevel, ToolChoice};
use serde::{Deserialize, Serialize};

use crate::call_id::CallIdRule;
use crate::catalog::ThinkingStyle;
use crate::error;
use crate::fit::{Block, Fitted, Role};
use crate::wire::levels::nearest;
use crate::wire::seam::Call;

/// The limit of an answer where the request has none, besides its thinking.
const ANSWER_TOKENS: u32 = 32_000;
/// The least budget the service takes, whatever a catalog says.
const BUDGET_TOKENS_MIN: u32 = 1_024;
/// The highest temperature the models take; other services know higher ones.
const TEMPERATURE_MAX: f32 = 1.0;

/// What the model reads where a message says nothing that can be sent.
pub(super) const EMPTY_MESSAGE: &str = "(empty message)";
/// What the model reads where a result says nothing that can be sent.
pub(super) const EMPTY_RESULT: &str = "(no output)";
/// What ends an answer of its own that has only thinking, which the service does not take as an end.
pub(super) const NO_ANSWER: &str = "(no answer)";

/// The settings of one request, as the models take them together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings<'a> {
    /// The limit of the answer, thinking included.
    pub(super) tokens_max: u32,
    /// What is said about thinking, if anything.
    pub(super) thinking: Option<Thinking>,
    /// How much work goes into the answer.
    pub(super) effort: Option<&'static str>,
    /// The sampling temperature.
    pub(super) temperature: Option<f32>,
    /// Which tools must be called.
    pub(super) choice: &'a ToolChoice,
    /// Whether the model can go on writing an answer that ends the conversation.
    pub(super) prefill: bool,
}

/// The `thinking` object of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Thinking {
    /// Off.
    Disabled,
    /// On, up to so many tokens.
    Enabled {
        /// Less than the limit of the answer.
        budget_tokens: u32,
    },
    /// As the model sees fit.
    Adaptive {
        /// Always `summarized`: newer models otherwise leave the text of their thinking out.
        display: &'static str,
    },
}

impl Thinking {
    const ADAPTIVE: Self = Self::Adaptive { display: "summarized" };
}

impl<'a> Settings<'a> {
    /// The settings for `call`, to a model whose thinking is set by `style`.
    pub(super) fn new(call: &Call<'a>, style: &ThinkingStyle) -> Self {
        let Call { request, model, .. } = *call;
        let forced = match request.tool_choice {
            ToolChoice::Required | ToolChoice::Tool(_) => !request.tools.is_empty(),
            ToolChoice::Auto | ToolChoice::None => false,
        };
        // A tool cannot be forced on a model that thinks. Whoever forces one wants the call more than the thinking, so
        // thinking is dropped; the choice is lowered only for models that cannot be told not to think.
        let level = if forced { ThinkingLevel::Off } else { request.thinking };
        let plan = match style {
            // Nobody knows whether it can be told not to think, and saying nothing is always right.
            ThinkingStyle::Levels(_) if !model.info.known && level == ThinkingLevel::Off => Plan::default(),
            ThinkingStyle::None
            | ThinkingStyle::Budget { .. }
            | ThinkingStyle::Levels(_)
            | ThinkingStyle::Toggle
            | ThinkingStyle::Always => Plan::new(style, level),
        };
        let tokens_max = tokens_max(request, &model.info, plan.budget_tokens());
        Self {
            tokens_max,
            thinking: plan.thinking_below(tokens_max),
            effort: plan.effort,
            temperature: request
                .temperature
                .filter(|value| value.is_finite() && plan.plain)
                .map(|value| value.clamp(0.0, TEMPERATURE_MAX)),
            choice: if forced && plan.thinks { &ToolChoice::Auto } else { &request.tool_choice },
            prefill: plan.plain && request.output_schema.is_none(),
        }
    }
}

/// The limit of the answer: never above what the model is known to write. What is only guessed of an unknown model
/// does not bind whoever asks for a limit.
fn tokens_max(request: &Request, info: &ModelInfo, budget_tokens: u32) -> u32 {
    let tokens = match request.tokens_max {
        Some(tokens) if info.known => tokens.min(info.output_tokens_max),
        Some(tokens) => tokens,
        None => ANSWER_TOKENS.saturating_add(budget_tokens).min(info.output_tokens_max),
    };
    tokens.max(1)
}

/// What a model is told about thinking.
#[derive(Debug, Clone, Copy, Default)]
struct Plan {
    thinking: Option<Thinking>,
    budget_tokens_min: u32,
    effort: Option<&'static str>,
    /// Whether it will think.
    thinks: bool,
    /// Whether it is of those that take a temperature and go on with an answer: older ones, when they do not think.
    plain: bool,
}

impl Plan {
    fn new(style: &ThinkingStyle, level: ThinkingLevel) -> Self {
        let plain = Self { plain: true, ..Self::default() };
        match style {
            ThinkingStyle::None => plain,
            ThinkingStyle::Budget { can_disable: true, .. } if level == ThinkingLevel::Off => plain,
            ThinkingStyle::Budget { min, max, .. } => Self::budget(level, *min, *max),
            ThinkingStyle::Levels(levels) => match known_level(levels, level) {
                None => plain,
                Some(ThinkingLevel::Off) => Self { thinking: Some(Thinking::Disabled), ..Self::default() },
                Some(level) => Self {
                    thinking: Some(Thinking::ADAPTIVE),
                    effort: effort(level),
                    thinks: true,
                    ..Self::default()
                },
            },
            ThinkingStyle::Toggle if level == ThinkingLevel::Off => {
                Self { thinking: Some(Thinking::Disabled), ..plain }
            }
            ThinkingStyle::Toggle => Self::budget(level, BUDGET_TOKENS_MIN, u32::MAX),
            ThinkingStyle::Always => Self { thinks: true, ..Self::default() },
        }
    }

    fn budget(level: ThinkingLevel, min: u32, max: u32) -> Self {
        let wanted = match level {
            ThinkingLevel::Off | ThinkingLevel::Minimal => BUDGET_TOKENS_MIN,
            ThinkingLevel::Low => 4_096,
            ThinkingLevel::Medium => 8_192,
            ThinkingLevel::High => 16_384,
            ThinkingLevel::Max => 32_768,
        };
        let min = min.max(BUDGET_TOKENS_MIN);
        let budget_tokens = wanted.clamp(min, max.max(min));
        let thinking = Some(Thinking::Enabled { budget_tokens });
        Self { thinking, budget_tokens_min: min, thinks: true, ..Self::default() }
    }

    fn budget_tokens(&self) -> u32 {
        match self.thinking {
            Some(Thinking::Enabled { budget_tokens }) => budget_tokens,
            Some(Thinking::Disabled | Thinking::Adaptive { .. }) | None => 0,
        }
    }

    /// A budget leaves a quarter of the limit for the answer; where even the least one does not fit, nothing is said.
    fn thinking_below(&self, tokens_max: u32) -> Option<Thinking> {
        match self.thinking {
            Some(Thinking::Enabled { budget_tokens }) => {
                let budget_tokens =
                    budget_tokens.min(tokens_max - tokens_max / 4).max(self.budget_tokens_min);
                (budget_tokens < tokens_max).then_some(Thinking::Enabled { budget_tokens })
            }
            Some(Thinking::Disabled | Thinking::Adaptive { .. }) | None => self.thinking,
        }
    }
}

/// The level of `levels` for the one that is asked for. Thinking is switched off only if that is asked for.
fn known_level(levels: &[ThinkingLevel], asked: ThinkingLevel) -> Option<ThinkingLevel> {
    if asked == ThinkingLevel::Off && levels.contains(&asked) {
        return Some(asked);
    }
    nearest(levels, asked).or_else(|| levels.first().copied())
}

fn effort(level: ThinkingLevel) -> Option<&'static str> {
    match level {
        ThinkingLevel::Off => None,
        ThinkingLevel::Minimal | ThinkingLevel::Low => Some("low"),
        ThinkingLevel::Medium => Some("medium"),
        ThinkingLevel::High => Some("high"),
        ThinkingLevel::Max => Some("max"),
    }
}

/// The rule for ids: a service's own, but never looser than the models' own.
pub(super) fn call_id_rule(rule: CallIdRule) -> CallIdRule {
    match rule {
        CallIdRule::Any | CallIdRule::Word64 => CallIdRule::Word64,
        CallIdRule::Word40 => CallIdRule::Word40,
        CallIdRule::Alnum9 => CallIdRule::Alnum9,
    }
}

/// The pictures that the models read.
pub(super) const PICTURE_TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Whether a block can be sent: services refuse blank text, and thinking without what proves it.
pub(super) fn can_send(block: &Block<'_>) -> bool {
    match block {
        Block::Text(text) => !is_blank(text),
        Block::Thinking { signature, .. } => {
            signature.is_some_and(|signature| signature.kind != SignatureKind::Next)
        }
        Block::Image { .. } | Block::Call { .. } | Block::Result(_) => true,
    }
}

/// Whether services would call this text empty.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// What stands at the end of a message so that the service takes it, besides its own blocks.
pub(super) fn filler(role: Role, last: Option<&Block<'_>>) -> Option<&'static str> {
    match (role, last) {
        (Role::User | Role::Tool, None) => Some(EMPTY_MESSAGE),
        (Role::Assistant, None | Some(Block::Thinking { .. })) => Some(NO_ANSWER),
        (Role::User | Role::Tool | Role::Assistant, Some(_)) => None,
    }
}

/// What a conversation looks like from its end, in one pass and without memory that grows with it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outline {
    /// The places of the last two messages in the user's role.
    users: [Option<usize>; 2],
    /// The place of an answer that ends the conversation.
    pub(super) open_answer: Option<usize>,
    /// Whether that answer ends with text that could go on.
    open_text: bool,
}

impl Outline {
    /// The outline of `fitted`. An error if there is nothing to send.
    pub(super) fn new(fitted: &Fitted<'_>) -> Result<Self, ProviderError> {
        fitted.ensure_said()?;
        let mut outline = Self::default();
        for (place, (role, blocks)) in fitted.messages().enumerate() {
            outline.open_answer = None;
            match role {
                // What is only a reminder is gone in the next request, and no place to mark.
                Role::User | Role::Tool if fitted.lasting(place, blocks) == 0 => {}
                Role::User | Role::Tool => {
                    let [_, before] = outline.users;
                    outline.users = [before, Some(place)];
                }
                Role::Assistant => {
                    outline.open_answer = Some(place);
                    let last = blocks.iter().rfind(|block| can_send(block));
                    outline.open_text = matches!(last, Some(Block::Text(_)));
                }
            }
        }
        Ok(outline)
    }

    /// Whether the user has to say something after the model's words, which end the conversation, for a model that can
    /// go on with them or cannot.
    pub(super) fn needs_continue(&self, settings: &Settings<'_>) -> bool {
        self.open_answer.is_some() && !(self.open_text && settings.prefill)
    }

    /// The places of the last two messages in the user's role.
    pub(super) fn user_places(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        self.users.into_iter().flatten()
    }
}

/// Reads the JSON of one event of an answer.
pub(super) fn read<'a, T: Deserialize<'a>>(event: &str, data: &'a str) -> Result<T, ProviderError> {
    serde_json::from_str(data).map_err(|problem| {
        // The problem may quote the event, which may be large.
        let problem: String = problem.to_string().chars().take(200).collect();
        error::malformed(format_args!("event {event}: {problem}"))
    })
}
