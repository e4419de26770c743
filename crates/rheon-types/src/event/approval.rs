//! Approvals: requests to the user and their answers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::part::QueuedChange;
use crate::grant::CallGrant;
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
    /// Why approval is needed.
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
    /// A digest of the call and its subject. Only a call with this digest runs. An answer may name the digest of the
    /// request it answers.
    #[serde(default)]
    pub digest: String,
    /// The ways to say yes, the plain one first. Empty: yes means this call as it is.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<ApprovalOffer>,
}

/// One way to say yes to an [`ApprovalRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ApprovalOffer {
    /// Answer with this id: `once`, `network`, `hosts`, `unsandboxed`, `such` or `dir`.
    pub id: String,
    /// What it allows, for a person.
    pub label: String,
    /// What the call runs with.
    #[serde(default, skip_serializing_if = "CallGrant::is_empty")]
    pub grant: CallGrant,
    /// The rules that an answer for the session or for always adds. Empty: this call only.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
}

impl ApprovalRequest {
    /// The way to say yes that a response chooses: the one it names, or the first. `None` if there is none.
    pub fn offer(&self, response: &PermissionResponse) -> Option<&ApprovalOffer> {
        match &response.offer {
            Some(id) => self.offers.iter().find(|offer| offer.id == *id),
            None => self.offers.first(),
        }
    }
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
    /// A question to the user without side effects. Answered by [`PermissionResponse::answers`].
    Questions {
        /// The questions.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        questions: Vec<UserQuestion>,
    },
    /// The model would leave plan mode and make these changes.
    Plan {
        /// The plan, in Markdown.
        plan: String,
        /// The queued changes; they need no further approval.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        changes: Vec<QueuedChange>,
    },
}

/// A question of the model to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct UserQuestion {
    /// The question.
    pub text: String,
    /// The choices; the user may also type another answer.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// How many may be chosen.
    #[serde(default)]
    pub selection: Selection,
}

/// One choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Choice {
    /// A short label.
    pub label: String,
    /// An explanation of the choice.
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
    /// No notable risk.
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

/// The scope of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    /// This call only.
    #[default]
    Once,
    /// Such calls in this session.
    Session,
    /// Such calls in all sessions of this project.
    Project,
    /// Such calls in all sessions.
    Always,
}

/// The source of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum Responder {
    /// A person or program that answered the request.
    User,
    /// A hook.
    Hook,
    /// No one could answer: the session is non-interactive.
    #[serde(rename = "nobody")]
    NonInteractive,
    /// The run was canceled before the request was answered.
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
    /// A message for the model when the call is denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The answers, question by question.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Vec<String>>,
    /// The digest of the request this answers. A different digest counts as a denial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Replacement arguments, if the answer allows the call with changes. They are validated like the model's own
    /// arguments, but need no further approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::metadata()"))]
    pub arguments: Option<Arc<Value>>,
    /// The id of the chosen [`ApprovalOffer`]; absent means the first. An id that the request does not have is a denial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<String>,
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

    /// Chooses one of the request's offers.
    pub fn with_offer(mut self, id: impl Into<String>) -> Self {
        self.offer = Some(id.into());
        self
    }

    /// Sets the scope.
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
            offer: None,
        }
    }
}
