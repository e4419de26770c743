//! Parts of session facts: notices, rule changes and the tools in use.

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

/// The topic of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum NoticeTopic {
    /// The configuration.
    Config,
    /// The model's context: rules, skills, memory.
    Context,
    /// How the session is saved.
    Session,
    /// Permission rules.
    Policy,
    /// The sandbox.
    Sandbox,
    /// A call that was running when the program ended. It may or may not have completed.
    InDoubt,
    /// A hook.
    Hook,
    /// Traces, logs and metrics.
    Observe,
    /// Models and their services.
    Model,
    /// Tools and where they come from.
    Tools,
    /// A topic added by a newer version.
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

/// How the rules of a session change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum RuleAction {
    /// Add the rules.
    Add,
    /// Replace the session's rules in the list.
    Replace,
    /// Remove the rules from the list.
    Remove,
}

/// A change of the permission rules of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct RulesChange {
    /// What to do.
    pub action: RuleAction,
    /// The list to change.
    pub list: RuleList,
    /// The rules, spelled as in settings.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub rules: Vec<String>,
    /// Whether the change applies to this session or also to later ones.
    #[serde(default = "session_scope")]
    pub scope: Scope,
}

fn session_scope() -> Scope {
    Scope::Session
}

/// What commands of a session reach of the network without a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum SessionNetwork {
    /// Servers of the session, and nothing else.
    Blocked,
    /// These hosts, spelled as in the setting `sandbox.network`.
    Hosts(#[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))] Vec<String>),
    /// Everything.
    Open,
}

/// Whether commands of a session run in the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum SessionSandbox {
    /// In the sandbox.
    On,
    /// Outside, with everything that the user may do.
    Off,
}

/// The tools that a model is offered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ToolSetVersion {
    /// The tool sources with their versions, in the order of their tools.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub sources: Vec<ToolSourceVersion>,
    /// The tool names, in the order they are offered.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub tools: Vec<ToolName>,
}

/// A source of tools at one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ToolSourceVersion {
    /// Its name.
    pub name: String,
    /// The version in use; increases with each change.
    pub version: u64,
}
