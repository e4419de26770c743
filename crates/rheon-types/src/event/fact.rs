//! The parts of session facts: notices, changes of rules, and the tools in use.

use serde::{Deserialize, Serialize};

use super::approval::Scope;
use crate::id::ToolName;

/// Something the user should know, though the session continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Notice {
    /// How urgent it is.
    pub level: NoticeLevel,
    /// What it is about.
    pub topic: NoticeTopic,
    /// What happened, to what, and what to do next.
    pub message: String,
}

impl Notice {
    /// A warning about `topic`.
    pub fn warning(topic: NoticeTopic, message: impl Into<String>) -> Self {
        Self { level: NoticeLevel::Warning, topic, message: message.into() }
    }

    /// Information about `topic`.
    pub fn info(topic: NoticeTopic, message: impl Into<String>) -> Self {
        Self { level: NoticeLevel::Info, topic, message: message.into() }
    }
}

/// How urgent a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something does not work as configured.
    Warning,
    /// Something failed.
    Error,
}

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum NoticeTopic {
    /// The configuration.
    Config,
    /// What the model is told: rules, skills, memory.
    Context,
    /// How the session is saved.
    Session,
    /// Permission rules.
    Policy,
    /// The sandbox.
    Sandbox,
    /// A call that was running when the program ended: it may or may not have done its work.
    InDoubt,
    /// A hook.
    Hook,
    /// Traces, logs and metrics.
    Observe,
    /// Models and their services.
    Model,
    /// Tools and where they come from.
    Tools,
    /// A topic of a newer version.
    #[serde(other)]
    Other,
}

/// Which list a permission rule belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum RuleList {
    /// Calls that need no approval.
    Allow,
    /// Calls that always need one.
    Ask,
    /// Calls that never run.
    Deny,
}

/// What is done with rules of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum RuleAction {
    /// They are added.
    Add,
    /// They replace those that the session has in the list.
    Replace,
    /// They are removed from the list, where the session has them.
    Remove,
}

/// A change of the permission rules of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct RulesChange {
    /// What is done.
    pub action: RuleAction,
    /// The list it is done to.
    pub list: RuleList,
    /// The rules, spelled as in settings.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub rules: Vec<String>,
    /// How far it reaches: this session, or all later ones too.
    #[serde(default = "session_scope")]
    pub scope: Scope,
}

fn session_scope() -> Scope {
    Scope::Session
}

/// The tools that a model is offered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ToolSetVersion {
    /// The sources of the tools with the version of each, in the order in which their tools are offered.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub sources: Vec<ToolSourceVersion>,
    /// The tools, in the order in which they are offered.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub tools: Vec<ToolName>,
}

/// A source of tools at one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ToolSourceVersion {
    /// Its name.
    pub name: String,
    /// Which of its sets is in use; grows with each change.
    pub version: u64,
}
