//! Commands of a user interface to a session, and their results.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::Content;
use crate::event::{PermissionMode, PermissionResponse, RulesChange, SessionNetwork, SessionSandbox};
use crate::id::{ApprovalId, ClientCallId, RunId, SessionId};
use crate::outcome::ContinuationKind;
use crate::request::{OutputSchema, ThinkingLevel};
use crate::usage::MicroUsd;

/// A request to a session. JSON: tagged by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "type", rename_all = "camelCase")]
#[non_exhaustive]
pub enum Command {
    /// Start a run with this prompt.
    Prompt {
        /// The prompt.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        content: Vec<Content>,
    },
    /// Start a run with this prompt, whose last answer must match a JSON Schema.
    PromptWithSchema {
        /// The prompt.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        content: Vec<Content>,
        /// The schema.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::output_schema()"))]
        output_schema: OutputSchema,
    },
    /// Start a run without a new prompt.
    Continue {
        /// How it relates to the run before it.
        kind: ContinuationKind,
    },
    /// Say something to the run in progress, between its tool executions; with `child`, to a child of it.
    Steer {
        /// The message.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        content: Vec<Content>,
        /// The session of a running child, as its `subagent.start` names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        child: Option<SessionId>,
    },
    /// Say something once the run would otherwise stop; with `child`, once the run of that child would.
    FollowUp {
        /// The message.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        content: Vec<Content>,
        /// The session of a running child.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        child: Option<SessionId>,
    },
    /// Stop the run in progress; with `child`, that child alone.
    Cancel {
        /// The session of a running child.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        child: Option<SessionId>,
    },
    /// Answer an approval request or a question.
    RespondPermission {
        /// Which one.
        request_id: ApprovalId,
        /// The answer.
        response: PermissionResponse,
    },
    /// Answer a call that the session made to a function of the client.
    AnswerCall {
        /// Which one.
        call_id: ClientCallId,
        /// What the function returned.
        outcome: ClientCallOutcome,
    },
    /// Change the model from the next run on.
    SetModel {
        /// Its name; the model that the session began with if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// Change how much the model thinks from the next run on.
    SetThinking {
        /// How much; as the session began if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking: Option<Thinking>,
    },
    /// Change how much the session may do without asking.
    SetMode {
        /// The new mode.
        mode: PermissionMode,
    },
    /// Change the permission rules of the session.
    SetRules {
        /// The change.
        change: RulesChange,
    },
    /// Change what commands of the session reach of the network.
    SetNetwork {
        /// What they reach; as configured if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        network: Option<SessionNetwork>,
    },
    /// Switch the sandbox of commands off or on.
    SetSandbox {
        /// Whether commands run in it.
        sandbox: SessionSandbox,
    },
    /// Publish a server that a command started at a port of the machine, on loopback only, until the session is closed. The
    /// first note of the acknowledgment is its address.
    PublishPort {
        /// The port of the server.
        port: u16,
        /// The port of the machine; the same or any other if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        local_port: Option<u16>,
    },
    /// Close the ports of the machine at which a server is published.
    WithdrawPort {
        /// The port of the server.
        port: u16,
    },
    /// Name the session.
    SetTitle {
        /// Its title.
        title: String,
    },
    /// Compact the conversation now.
    Compact {
        /// What the summary should keep.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instructions: Option<String>,
    },
    /// Rewind to before a user message. Only between runs.
    Rewind {
        /// The number of the event that ended that message, as [`Query::Checkpoints`](super::Query) lists it.
        seq: u64,
        /// What to restore.
        what: RewindScope,
        /// Whether to apply the rewind or only plan it.
        mode: RewindMode,
    },
    /// Take what a person typed: a prompt that may attach files with `@path`, a command for the shell after `!`, or a slash command.
    Submit {
        /// The text, as typed.
        text: String,
    },
    /// Run a slash command of the session, the project or the user, as it was typed.
    Slash {
        /// The line, with its slash.
        line: String,
    },
    /// Allow the session to spend more.
    ExtendBudget {
        /// Additional tokens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
        /// Additional cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<MicroUsd>,
    },
    /// Close the session: cancel the run in progress, notify hooks and save everything.
    Close {
        /// Why.
        reason: CloseReason,
    },
    /// A command added by a newer version.
    #[serde(other)]
    Unknown,
}

/// The acknowledgment of an accepted command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct Ack {
    /// The number of the last durable event when the command was accepted; events it causes have higher numbers.
    pub seq: u64,
    /// The run it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Notes for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub notes: Vec<String>,
    /// The result of a rewind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewound: Option<RewindResult>,
}

/// How much a model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum Thinking {
    /// At this level.
    Level(ThinkingLevel),
    /// With about this many tokens in one answer.
    Tokens(u64),
}

/// What a rewind restores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum RewindScope {
    /// The files of the workspace.
    Files,
    /// The conversation: it continues in a new session.
    Conversation,
    /// Both.
    Both,
}

/// Whether to apply a rewind or only plan it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum RewindMode {
    /// Only report what would change.
    Plan,
    /// Apply it, unless others changed the files since.
    Apply,
    /// Apply it, overwriting changes by others.
    Force,
}

/// The changes of a rewind, made or planned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct RewindResult {
    /// The session in which the conversation continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// How many files, links and directories change.
    #[serde(default)]
    pub count: u64,
    /// The first of them, relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub changed: Vec<String>,
    /// Files that others changed since then. With any, only a forced rewind touches files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub others: Vec<String>,
    /// Tools whose changes stay, because no checkpoint was saved before they ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub unguarded: Vec<String>,
    /// The first file that could not be restored, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Why a session is closed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum CloseReason {
    /// The user starts a new session.
    Clear,
    /// The user resumes another session.
    Resume,
    /// The user ends the conversation.
    Exit,
    /// Anything else.
    #[default]
    #[serde(other)]
    Other,
}

/// What a function of the client returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum ClientCallOutcome {
    /// A value.
    Output(#[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::shared_json()"))] Arc<Value>),
    /// Why it did not do its work.
    Error(String),
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
