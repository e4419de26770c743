//! Settings for Anthropic's models on any wire: output limit, thinking and tool choice. Pure.

use rheon_types::{ModelInfo, ProviderError, Request, SignatureKind, ThinkingLevel, ToolChoice};
use serde::{Deserialize, Serialize};

use crate::call_id::CallIdRule;
use crate::catalog::ThinkingStyle;
use crate::error;
use crate::history::{Block, PreparedHistory, Role};
use crate::wire::codec::WireRequest;
use crate::wire::levels::nearest;

/// The default output limit, without thinking.
const ANSWER_TOKENS: u32 = 32_000;
/// The minimum budget that the service accepts, whatever the catalog says.
const BUDGET_TOKENS_MIN: u32 = 1_024;
/// The highest temperature that the models accept; other services accept higher ones.
const TEMPERATURE_MAX: f32 = 1.0;

/// What the model sees if a message has no content that can be sent.
pub(super) const EMPTY_MESSAGE: &str = "(empty message)";
/// What the model sees if a result has no content that can be sent.
pub(super) const EMPTY_RESULT: &str = "(no output)";
/// Ends an assistant message that has only thinking, which the service does not accept.
pub(super) const NO_ANSWER: &str = "(no answer)";

/// The settings of one request, consistent with each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings<'a> {
    /// The output limit, including thinking.
    pub(super) tokens_max: u32,
    /// The `thinking` object, if any.
    pub(super) thinking: Option<Thinking>,
    /// The effort level.
    pub(super) effort: Option<&'static str>,
    pub(super) temperature: Option<f32>,
    /// The tool choice.
    pub(super) choice: &'a ToolChoice,
    /// Whether the model can continue an assistant message at the end of the conversation.
    pub(super) prefill: bool,
}

/// The `thinking` object of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Thinking {
    Disabled,
    /// Enabled, with a token budget.
    Enabled {
        /// Less than the output limit.
        budget_tokens: u32,
    },
    /// The model decides.
    Adaptive {
        /// Always `summarized`: newer models otherwise omit the text of their thinking.
        display: &'static str,
    },
}

impl Thinking {
    const ADAPTIVE: Self = Self::Adaptive { display: "summarized" };
}

impl<'a> Settings<'a> {
    /// The settings for `call` to a model whose thinking is configured by `style`.
    pub(super) fn new(call: &WireRequest<'a>, style: &ThinkingStyle) -> Self {
        let WireRequest { request, model, .. } = *call;
        let forced = match request.tool_choice {
            ToolChoice::Required | ToolChoice::Tool(_) => !request.tools.is_empty(),
            ToolChoice::Auto | ToolChoice::None => false,
        };
        // A tool cannot be forced while the model thinks. A forced call is more important than thinking, so thinking
        // is dropped; the choice is relaxed only for models whose thinking cannot be disabled.
        let level = if forced { ThinkingLevel::Off } else { request.thinking };
        let plan = match style {
            // It is unknown whether its thinking can be disabled, and omitting the field is always valid.
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
            thinking: plan.thinking_within(tokens_max),
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

/// The output limit: at most the model's known maximum. The assumed maximum of an unknown model does not limit an
/// explicit value.
fn tokens_max(request: &Request, info: &ModelInfo, budget_tokens: u32) -> u32 {
    let tokens = match request.tokens_max {
        Some(tokens) if info.known => tokens.min(info.output_tokens_max),
        Some(tokens) => tokens,
        None => ANSWER_TOKENS.saturating_add(budget_tokens).min(info.output_tokens_max),
    };
    tokens.max(1)
}

/// The thinking settings of a request.
#[derive(Debug, Clone, Copy, Default)]
struct Plan {
    thinking: Option<Thinking>,
    budget_tokens_min: u32,
    effort: Option<&'static str>,
    /// Whether the model will think.
    thinks: bool,
    /// Whether the model accepts a temperature and continues its own message: older models, when they do not think.
    plain: bool,
}

impl Plan {
    fn new(style: &ThinkingStyle, level: ThinkingLevel) -> Self {
        let plain = Self { plain: true, ..Self::default() };
        match style {
            ThinkingStyle::None => plain,
            ThinkingStyle::Budget { can_disable: true, .. } if level == ThinkingLevel::Off => plain,
            ThinkingStyle::Budget { min, max, .. } => Self::budget(level, *min, *max),
            ThinkingStyle::Levels(levels) => match supported_level(levels, level) {
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
        let target = match level {
            ThinkingLevel::Off | ThinkingLevel::Minimal => BUDGET_TOKENS_MIN,
            ThinkingLevel::Low => 4_096,
            ThinkingLevel::Medium => 8_192,
            ThinkingLevel::High => 16_384,
            ThinkingLevel::Max => 32_768,
        };
        let min = min.max(BUDGET_TOKENS_MIN);
        let budget_tokens = target.clamp(min, max.max(min));
        let thinking = Some(Thinking::Enabled { budget_tokens });
        Self { thinking, budget_tokens_min: min, thinks: true, ..Self::default() }
    }

    fn budget_tokens(&self) -> u32 {
        match self.thinking {
            Some(Thinking::Enabled { budget_tokens }) => budget_tokens,
            Some(Thinking::Disabled | Thinking::Adaptive { .. }) | None => 0,
        }
    }

    /// Leaves a quarter of the limit for the response; if even the minimum budget does not fit, the field is omitted.
    fn thinking_within(&self, tokens_max: u32) -> Option<Thinking> {
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

/// The supported level for the requested one. Thinking is disabled only if that is requested.
fn supported_level(levels: &[ThinkingLevel], requested: ThinkingLevel) -> Option<ThinkingLevel> {
    if requested == ThinkingLevel::Off && levels.contains(&requested) {
        return Some(requested);
    }
    nearest(levels, requested).or_else(|| levels.first().copied())
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

/// The id rule: the service's own, but never looser than the models'.
pub(super) fn call_id_rule(rule: CallIdRule) -> CallIdRule {
    match rule {
        CallIdRule::Any | CallIdRule::Word64 => CallIdRule::Word64,
        CallIdRule::Word40 => CallIdRule::Word40,
        CallIdRule::Alnum9 => CallIdRule::Alnum9,
    }
}

/// The image types that the models accept.
pub(super) const IMAGE_TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Whether a block can be sent: services refuse blank text, and thinking without a signature.
pub(super) fn can_send(block: &Block<'_>) -> bool {
    match block {
        Block::Text(text) => !is_blank(text),
        Block::Thinking { signature, .. } => {
            signature.is_some_and(|signature| signature.kind != SignatureKind::Next)
        }
        Block::Image { .. } | Block::Call { .. } | Block::Result(_) => true,
    }
}

/// Whether services consider this text empty.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Text to append to a message so that the service accepts it.
pub(super) fn filler(role: Role, last: Option<&Block<'_>>) -> Option<&'static str> {
    match (role, last) {
        (Role::User | Role::Tool, None) => Some(EMPTY_MESSAGE),
        (Role::Assistant, None | Some(Block::Thinking { .. })) => Some(NO_ANSWER),
        (Role::User | Role::Tool | Role::Assistant, Some(_)) => None,
    }
}

/// The end of a conversation, collected in one pass and constant memory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outline {
    /// The indexes of the last two messages in the user role.
    users: [Option<usize>; 2],
    /// The index of an assistant message at the end of the conversation.
    pub(super) open_answer: Option<usize>,
    /// Whether that message ends with text that can be continued.
    open_text: bool,
}

impl Outline {
    /// The outline of `history`. An error if there is nothing to send.
    pub(super) fn new(history: &PreparedHistory<'_>) -> Result<Self, ProviderError> {
        history.ensure_not_empty()?;
        let mut outline = Self::default();
        for (index, (role, blocks)) in history.messages().enumerate() {
            outline.open_answer = None;
            match role {
                // A reminder is not part of the next request, so it is not a position to mark.
                Role::User | Role::Tool if history.stable_blocks(index, blocks) == 0 => {}
                Role::User | Role::Tool => {
                    let [_, before] = outline.users;
                    outline.users = [before, Some(index)];
                }
                Role::Assistant => {
                    outline.open_answer = Some(index);
                    let last = blocks.iter().rfind(|block| can_send(block));
                    outline.open_text = matches!(last, Some(Block::Text(_)));
                }
            }
        }
        Ok(outline)
    }

    /// Whether a user message has to be appended because the conversation ends with an assistant message that the
    /// model cannot continue.
    pub(super) fn needs_continue(&self, settings: &Settings<'_>) -> bool {
        self.open_answer.is_some() && !(self.open_text && settings.prefill)
    }

    /// The indexes of the last two messages in the user role.
    pub(super) fn user_indexes(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        self.users.into_iter().flatten()
    }
}

/// Parses the JSON of one event.
pub(super) fn read<'a, T: Deserialize<'a>>(event: &str, data: &'a str) -> Result<T, ProviderError> {
    serde_json::from_str(data).map_err(|problem| {
        // The error may quote the event, which may be large.
        let problem: String = problem.to_string().chars().take(200).collect();
        error::malformed(format_args!("event {event}: {problem}"))
    })
}
