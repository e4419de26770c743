//! `HookReply`: what hooks say, alone or together.

use serde_json::Value;

/// What hooks say of an event, alone or together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookReply {
    /// Whether it may happen; without one nobody minds.
    pub decision: Option<HookDecision>,
    /// What the model is told.
    pub context: Vec<String>,
    /// Why everything is to stop.
    pub stop: Option<String>,
    /// The tool's input that is to be used instead, in the shape of the protocol.
    pub updated_input: Option<Value>,
    /// The tool's output that the model is to read instead.
    pub updated_output: Option<Value>,
}

/// Whether something may happen; the later ones are stricter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookDecision {
    /// It may, without a question.
    Allow(String),
    /// Somebody has to decide; the text says why.
    Ask(String),
    /// Somebody has to decide later; the text says why.
    Defer(String),
    /// It may not; the text says why.
    Block(String),
}

impl HookReply {
    /// A reply that keeps it from happening.
    pub fn block(reason: impl Into<String>) -> Self {
        Self { decision: Some(HookDecision::Block(reason.into())), ..Self::default() }
    }

    /// Both together: the stricter decision, the first reason to stop, the later changes, every word for the model.
    pub fn and(self, other: Self) -> Self {
        let Self { decision, mut context, stop, updated_input, updated_output } = self;
        context.extend(other.context);
        Self {
            decision: stricter(decision, other.decision),
            context,
            stop: stop.or(other.stop),
            updated_input: other.updated_input.or(updated_input),
            updated_output: other.updated_output.or(updated_output),
        }
    }

    /// Why it may not happen, if it may not.
    pub fn blocked(&self) -> Option<&str> {
        match &self.decision {
            Some(HookDecision::Block(reason)) => Some(reason),
            Some(HookDecision::Allow(_) | HookDecision::Ask(_) | HookDecision::Defer(_)) | None => None,
        }
    }
}

/// The stricter of two; of two that are as strict, the first, with the words of both.
fn stricter(first: Option<HookDecision>, second: Option<HookDecision>) -> Option<HookDecision> {
    use HookDecision::{Allow, Ask, Block, Defer};
    let both = |first: String, second: String| match (first.is_empty(), second.is_empty() || first == second)
    {
        (true, _) => second,
        (false, true) => first,
        (false, false) => format!("{first}\n{second}"),
    };
    let Some(first) = first else { return second };
    match (first, second) {
        (first, None) => Some(first),
        (Block(first), Some(Block(second))) => Some(Block(both(first, second))),
        (Defer(first), Some(Defer(second))) => Some(Defer(both(first, second))),
        (Ask(first), Some(Ask(second))) => Some(Ask(both(first, second))),
        (Allow(first), Some(Allow(second))) => Some(Allow(both(first, second))),
        (first, Some(second)) => Some(first.max(second)),
    }
}
