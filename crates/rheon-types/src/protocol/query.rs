//! Queries of a user interface about a session. They change nothing and can be sent during a run.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::subscription::Cursor;
use crate::event::{ApprovalRequest, Ledger, PermissionMode, QueuedChange, RuleList, TaskItem};
use crate::id::{RunId, SessionId, ToolCallId, ToolName};
use crate::message::AgentMessage;
use crate::request::ThinkingLevel;
use crate::time::Timestamp;
use crate::usage::MicroUsd;

/// A question about a session. JSON: tagged by `type`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "type", rename_all = "camelCase")]
#[non_exhaustive]
pub enum Query {
    /// The state of the session, to join it at any time.
    Snapshot {
        /// At most this many of the newest messages; all if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        messages_max: Option<u32>,
    },
    /// Information about the session: model, mode, tools.
    Facts,
    /// The usage of the context window.
    Context,
    /// The session's spending.
    Cost,
    /// The slash commands that can be typed.
    Commands,
    /// The permission rules.
    Rules,
    /// The messages to which the session can be rewound.
    Checkpoints,
    /// The MCP servers and their state.
    McpServers,
    /// A variant added by a newer version.
    #[serde(other)]
    Unknown,
}

/// The answer to a query. JSON: tagged by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "type", rename_all = "camelCase")]
#[non_exhaustive]
pub enum Reply {
    /// The state of the session.
    Snapshot {
        /// The reply.
        snapshot: Box<Snapshot>,
    },
    /// Information about the session.
    Facts {
        /// The reply.
        facts: Box<SessionInfo>,
    },
    /// The usage of the context window.
    Context {
        /// The reply.
        report: ContextReport,
    },
    /// The session's spending.
    Cost {
        /// The reply.
        report: CostReport,
    },
    /// The slash commands.
    Commands {
        /// The list.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        commands: Vec<SlashCommand>,
    },
    /// The permission rules.
    Rules {
        /// The rules, in evaluation order.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        rules: Vec<RuleSummary>,
    },
    /// The messages to which the session can be rewound.
    Checkpoints {
        /// The checkpoints, oldest first.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        checkpoints: Vec<Checkpoint>,
    },
    /// The MCP servers.
    McpServers {
        /// The servers, in the order of their names.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        servers: Vec<McpServerSummary>,
    },
    /// A variant added by a newer version.
    #[serde(other)]
    Unknown,
}

/// The state of a session. Events after [`Snapshot::cursor`] continue it without a gap and without a duplicate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Snapshot {
    /// The position of the snapshot in the event stream.
    pub cursor: Cursor,
    /// Information about the session.
    pub facts: SessionInfo,
    /// The newest messages of the conversation, up to the requested number.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub messages: Vec<Arc<AgentMessage>>,
    /// How many messages the conversation has.
    pub messages_total: u64,
    /// The run in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<ActiveRun>,
    /// Open approval requests, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub approvals: Vec<Arc<ApprovalRequest>>,
    /// The task list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub tasks: Vec<TaskItem>,
    /// Changes queued in the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub plan: Vec<Arc<QueuedChange>>,
    /// The session's spending.
    pub cost: CostReport,
}

/// A run in progress.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ActiveRun {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The text of the answer so far.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The thinking of the answer so far.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// The tool calls that run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub tools: Vec<(ToolCallId, ToolName)>,
}

/// Information about a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct SessionInfo {
    /// Its id.
    pub session_id: SessionId,
    /// The number of the last durable event before this opening of the session.
    #[serde(default)]
    pub opened_at: u64,
    /// Its working directory.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::path()"))]
    pub working_directory: PathBuf,
    /// Its title, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether it is saved; otherwise it is in memory only.
    pub is_saved: bool,
    /// The model that answers.
    pub model: SessionModel,
    /// The thinking level.
    #[serde(default)]
    pub thinking: ThinkingLevel,
    /// The permission mode.
    pub mode: PermissionMode,
    /// The tools offered to the model.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub tools: Vec<String>,
    /// The skills offered to the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub skills: Vec<String>,
}

/// The model of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct SessionModel {
    /// Its whole name, `vendor/model`.
    pub name: String,
    /// How many tokens it can read; 0 where that is not known.
    pub context_window: u64,
    /// How many tokens it may write in one answer; 0 where that is not known.
    pub output_tokens_max: u64,
    /// The source of its API key: the name of an environment variable, for example, or `none`.
    pub key_source: String,
}

/// The usage of the context window, in tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ContextReport {
    /// The sections of the system prompt, in its order.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub sections: Vec<ContextSection>,
    /// The definitions of the tools.
    pub tools: u64,
    /// The conversation.
    pub messages: u64,
    /// The whole window.
    pub window: u64,
    /// The report as a table for people.
    #[serde(default)]
    pub text: String,
}

/// One section of the system prompt in a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ContextSection {
    /// Its name.
    pub name: String,
    /// Its tokens.
    pub tokens: u64,
}

/// A session's spending.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct CostReport {
    /// Tokens, of prompts and answers together.
    pub tokens: u64,
    /// Money, for the calls that have a price.
    pub cost: MicroUsd,
    /// Whether some calls have no known price.
    #[serde(default)]
    pub has_unknown: bool,
    /// The budget and what is left of it, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Ledger>,
}

/// A slash command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// A hint about its arguments.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub argument_hint: String,
}

/// A permission rule of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct RuleSummary {
    /// The list it belongs to.
    pub list: RuleList,
    /// The rule, spelled as in settings.
    pub rule: String,
    /// Where it comes from: a settings file, a flag, this session.
    pub source: String,
}

/// A message to which a session can be rewound.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Checkpoint {
    /// The number of the event that ended the message.
    pub seq: u64,
    /// When it was sent.
    pub at: Timestamp,
    /// The beginning of the message.
    pub text: String,
    /// Whether files can be restored too.
    pub has_files: bool,
}

/// An MCP server of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct McpServerSummary {
    /// Its name in the configuration.
    pub name: String,
    /// `connected`, `pending`, `failed`, `needs-auth` or `disabled`.
    pub status: String,
    /// Why it is not connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The name and version of its program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// The version of the protocol that it speaks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub protocol: String,
    /// Its tools, by the names that the model uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub tools: Vec<String>,
    /// About how many tokens the definitions of its tools have.
    #[serde(default)]
    pub tokens: u64,
}
