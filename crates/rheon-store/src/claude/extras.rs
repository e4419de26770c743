//! What an entry says to Rheon alone, in a field of its own that the real program passes over: all that the format has no
//! words for, so that nothing is lost on the way there and back.

use rheon_types::{Content, StopReason, TurnId};
use serde::{Deserialize, Serialize};

/// The field's name.
pub(super) const FIELD: &str = "rheon";

/// The content of the field. Every part is optional; an entry that needs none has no such field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Extras {
    /// The turn the message belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turn_id: Option<TurnId>,
    /// The blocks of the whole message, where the entry's own say something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Vec<Content>>,
    /// Blocks of an answer that stand before this entry's block and that no Claude model may be sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) before: Vec<Content>,
    /// Such blocks that stand after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) after: Vec<Content>,
    /// The tool call or the thinking of this entry as Rheon has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) block: Option<BlockExtras>,
    /// What else there is to an answer; on its first entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<AnswerExtras>,
}

/// What a block of the format leaves out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct BlockExtras {
    /// The id of the tool call, where services would not take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call_id: Option<String>,
    /// The tool of a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_name: Option<String>,
    /// What was wrong with the arguments of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) malformed: Option<String>,
    /// Who can read the signature, where it is not the answer's own model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<String>,
    /// The service's name for the thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature_id: Option<String>,
}

/// What the format leaves out of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AnswerExtras {
    /// The provider it came through.
    pub(super) provider: String,
    /// The model, where the entry names another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    /// Why the model stopped.
    pub(super) stop_reason: StopReason,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error_message: Option<String>,
    /// The service's own sum of tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) total_tokens: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Extras {
    /// The field of an entry, if there is one that can be read.
    pub(super) fn of(entry: &serde_json::Value) -> Self {
        entry.get(FIELD).and_then(|field| Self::deserialize(field).ok()).unwrap_or_default()
    }
}
