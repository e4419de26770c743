//! Asking for permission: what is asked, and how it is answered.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::part::QueuedChange;
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
    /// The name of the child agent that asks, one of a child behind its parent (`reviewer > tester`); absent where the session's own
    /// agent asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<String>,
    /// How much harm it could do.
    pub danger: Danger,
    /// The rule that "always" would save.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_rule: Option<String>,
    /// Stands for the call and the subject together. What runs has this digest, or it does not run; an answer may name
    /// it to say what it is an answer to.
    #[serde(default)]
    pub digest: String,
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
    /// Nothing would happen: the model wants to know something. Answered by [`PermissionResponse::answers`].
    Questions {
        /// What it wants to know.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        questions: Vec<UserQuestion>,
    },
    /// The model would leave plan mode and make these changes.
    Plan {
        /// The plan, in Markdown.
        plan: String,
        /// The changes that wait; they need no further question.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        changes: Vec<QueuedChange>,
    },
}

/// Something the model wants to know from the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct UserQuestion {
    /// The question.
    pub text: String,
    /// What may be chosen from; the user may always say something else.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// How many may be chosen.
    #[serde(default)]
    pub selection: Selection,
}

/// One thing that may be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Choice {
    /// A few words.
    pub label: String,
    /// What it would mean.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// How many choices may be made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum Selection {
    /// One of them.
    #[default]
    One,
    /// Any of them.
    Many,
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
    /// A hook.
    Hook,
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
    /// What was chosen or said, question by question.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Vec<String>>,
    /// The digest of what it is an answer to; one that does not fit is a no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What the call is to run with instead, where the answer is yes to something else than was asked. It passes all that the
    /// model's own arguments pass; only what would be asked about it counts as answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::metadata()"))]
    pub arguments: Option<Arc<Value>>,
}

impl PermissionResponse {
    /// No, and why.
    pub fn denied(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..PermissionDecision::Deny.into() }
    }

    /// Yes, if it runs with these arguments.
    pub fn allowed_with(arguments: impl Into<Arc<Value>>) -> Self {
        Self { arguments: Some(arguments.into()), ..PermissionDecision::Allow.into() }
    }

    /// The same, reaching as far as `scope`.
    pub fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }
}

impl From<bool> for PermissionDecision {
    /// `true` allows.
    fn from(is_allowed: bool) -> Self {
        if is_allowed { Self::Allow } else { Self::Deny }
    }
}

impl From<bool> for PermissionResponse {
    /// `true` allows the call once.
    fn from(is_allowed: bool) -> Self {
        PermissionDecision::from(is_allowed).into()
    }
}

impl From<PermissionDecision> for PermissionResponse {
    fn from(decision: PermissionDecision) -> Self {
        Self {
            decision,
            scope: Scope::Once,
            message: None,
            answers: Vec::new(),
            digest: None,
            arguments: None,
        }
    }
}
