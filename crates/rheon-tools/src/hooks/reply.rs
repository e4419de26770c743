//! `HookReply`: the reply of one hook or of several combined.

use serde_json::Value;

/// The reply of one hook or of several combined.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookReply {
    /// Whether the event may happen. `None` is no opinion.
    pub decision: Option<HookDecision>,
    /// Text for the model.
    pub context: Vec<String>,
    /// Why the run must stop.
    pub stop: Option<String>,
    /// A replacement for the tool's input, in the format of the protocol.
    pub updated_input: Option<Value>,
    /// A replacement for the tool's output that the model reads.
    pub updated_output: Option<Value>,
}

/// Whether something may happen, ordered from lenient to strict.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookDecision {
    /// Yes, without asking.
    Allow(String),
    /// Ask the user, for this reason.
    Ask(String),
    /// Decide later, for this reason.
    Defer(String),
    /// No, for this reason.
    Block(String),
}

impl HookReply {
    pub fn block(reason: impl Into<String>) -> Self {
        Self { decision: Some(HookDecision::Block(reason.into())), ..Self::default() }
    }

    /// Combines two replies: the stricter decision, the first reason to stop, the later replacements, all context.
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

    /// The reason if the event is blocked.
    pub fn blocked(&self) -> Option<&str> {
        match &self.decision {
            Some(HookDecision::Block(reason)) => Some(reason),
            Some(HookDecision::Allow(_) | HookDecision::Ask(_) | HookDecision::Defer(_)) | None => None,
        }
    }
}

/// The stricter of two decisions. Two equally strict ones keep both reasons.
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
