//! Asking for permission: what is asked, and how it is answered.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{ApprovalId, ToolCallId, ToolName};

/// A question to the user: may this tool call run?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ApprovalRequest {
    /// Answer with this id.
    pub id: ApprovalId,
    /// The call in question.
    pub call_id: ToolCallId,
    /// The tool it names.
    pub tool_name: ToolName,
    /// Exactly what would happen.
    pub subject: Subject,
    /// Why it is asked.
    pub reason: String,
    /// How much harm it could do.
    pub danger: Danger,
    /// The rule that "always" would save.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_rule: Option<String>,
}

/// Exactly what would happen if a call were allowed: whole, never shortened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Subject {
    /// A shell command.
    Command {
        /// The whole command.
        command: String,
        /// Where it would run.
        cwd: String,
    },
    /// A change to a file.
    Diff {
        /// Which file.
        path: String,
        /// A unified diff.
        diff: String,
    },
    /// A call of any other tool.
    Arguments {
        /// Its arguments.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::shared_json()"))]
        arguments: Arc<Value>,
    },
}

/// How much harm a call could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum Danger {
    /// None to speak of.
    Safe,
    /// It changes the workspace.
    Moderate,
    /// It could lose work or reach outside.
    Dangerous,
    /// It could do lasting damage.
    Critical,
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum PermissionDecision {
    /// It may run.
    Allow,
    /// It may not.
    Deny,
}

/// How far an answer reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    /// This call only.
    #[default]
    Once,
    /// Such calls in this session.
    Session,
    /// Such calls in all sessions.
    Always,
}

/// Who decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum Responder {
    /// A person or program that answered the request.
    User,
    /// Nobody was there to ask.
    Nobody,
    /// The run was cancelled before an answer came.
    Cancelled,
}

/// An answer to an [`ApprovalRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct PermissionResponse {
    /// Yes or no.
    pub decision: PermissionDecision,
    /// How far it reaches.
    #[serde(default)]
    pub scope: Scope,
    /// Told to the model when the answer is no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl From<PermissionDecision> for PermissionResponse {
    fn from(decision: PermissionDecision) -> Self {
        Self { decision, scope: Scope::Once, message: None }
    }
}
