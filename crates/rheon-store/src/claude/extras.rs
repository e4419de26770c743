//! The `rheon` field of an entry, which Claude Code ignores. It holds everything the transcript format cannot, so
//! that nothing is lost in a round trip.

use rheon_types::{Content, StopReason, TurnId};
use serde::{Deserialize, Serialize};

pub(super) const FIELD: &str = "rheon";

/// The content of the field. All parts are optional; an entry without any has no such field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Extras {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turn_id: Option<TurnId>,
    /// The blocks of the whole message, if the entry's own blocks differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Vec<Content>>,
    /// Blocks before this entry's block that a Claude model rejects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) before: Vec<Content>,
    /// Such blocks after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) after: Vec<Content>,
    /// What the format omits from this entry's tool call or thinking block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) block: Option<BlockExtras>,
    /// What the format omits from the answer; on its first entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<AnswerExtras>,
}

/// What the format omits from a block.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct BlockExtras {
    /// The id of the tool call, if services reject it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_name: Option<String>,
    /// What was wrong with the arguments of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) malformed: Option<String>,
    /// The model that can read the signature, if it is not the answer's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature_id: Option<String>,
}

/// What the format omits from an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AnswerExtras {
    pub(super) provider: String,
    /// The model, if the entry names another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    pub(super) stop_reason: StopReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error_message: Option<String>,
    /// The total reported by the service.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) total_tokens: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Extras {
    /// Reads the field of an entry; the default if it is missing or unreadable.
    pub(super) fn of(entry: &serde_json::Value) -> Self {
        entry.get(FIELD).and_then(|field| Self::deserialize(field).ok()).unwrap_or_default()
    }
}
