//! Queries and commands of a user interface to a host, which opens and manages sessions.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::event::PermissionMode;
use crate::id::SessionId;
use crate::request::OutputSchema;
use crate::time::Timestamp;
use crate::usage::MicroUsd;

/// How to open a session. Absent values come from the host's configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct OpenRequest {
    /// Which session.
    pub session: SessionChoice,
    /// The first task of the user, if known. Notes and learnings are selected by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The permission mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<PermissionMode>,
    /// A system prompt in place of the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Text at the end of the system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append_system_prompt: Option<String>,
    /// The schema that answers must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, proptest(strategy = "proptest::strategy::Just(None)"))]
    pub output_schema: Option<OutputSchema>,
    /// Functions of the client that serve as hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub hooks: Vec<HookRegistration>,
    /// MCP servers inside the client, by name. Messages for them are calls of the client's function `mcp:NAME`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub mcp_servers: Vec<String>,
}

/// The beginning of the names of client functions that are MCP servers: `mcp:NAME`.
pub const MCP_FUNCTION: &str = "mcp:";

/// Which session is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum SessionChoice {
    /// A new one.
    New {
        /// The id to use; generated if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
    },
    /// The most recent one of the working directory.
    Latest,
    /// The one with this id or id prefix.
    Named {
        /// The id or id prefix.
        id: String,
    },
    /// A fork of the most recent one.
    ForkOfLatest,
    /// A fork of the one with this id or id prefix.
    ForkOf {
        /// The id or id prefix.
        id: String,
    },
}

impl Default for SessionChoice {
    fn default() -> Self {
        Self::New { session_id: None }
    }
}

/// Functions of the client that serve as hooks for one event, in Claude Code's protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct HookRegistration {
    /// The event, for instance `PreToolUse`.
    pub event: String,
    /// Which tools or sources it is about; all if empty.
    #[serde(default)]
    pub matcher: String,
    /// The functions, by the names that the client knows them by.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
    pub callbacks: Vec<String>,
    /// How long each may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether a failing function blocks the action it was called for.
    #[serde(default)]
    pub blocks_on_failure: bool,
}

/// A question to a host. JSON: tagged by `type`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "type", rename_all = "camelCase")]
#[non_exhaustive]
pub enum HostQuery {
    /// The sessions, most recent first.
    Sessions {
        /// Which directories to include.
        scope: SessionScope,
        /// At most this many.
        limit: u32,
    },
    /// Messages that contain these words.
    Search {
        /// The words.
        text: String,
        /// Which directories to include.
        scope: SessionScope,
        /// At most this many.
        limit: u32,
    },
    /// The available models.
    Models {
        /// Only those whose name contains this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filter: Option<String>,
    },
    /// The configuration.
    Config,
    /// A variant added by a newer version.
    #[serde(other)]
    Unknown,
}

/// A request to a host that changes something. JSON: tagged by `type`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "type", rename_all = "camelCase")]
#[non_exhaustive]
pub enum HostCommand {
    /// Create a session that continues from another.
    Fork {
        /// The id or id prefix of the other session.
        session: String,
        /// The last of its events that belongs to the new one; all if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
    },
    /// Delete a session with everything that belongs to it.
    Delete {
        /// The id or id prefix.
        session: String,
    },
    /// A variant added by a newer version.
    #[serde(other)]
    Unknown,
}

/// The answer of a host. JSON: tagged by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(tag = "type", rename_all = "camelCase")]
#[non_exhaustive]
pub enum HostReply {
    /// Sessions, most recent first.
    Sessions {
        /// The list.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        sessions: Vec<SessionSummary>,
    },
    /// Messages that match a search.
    Hits {
        /// The hits, best first.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        hits: Vec<SearchHit>,
    },
    /// Models.
    Models {
        /// The list.
        #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
        models: Vec<ModelSummary>,
    },
    /// The configuration.
    Config {
        /// The value.
        config: ConfigInfo,
    },
    /// A session was forked.
    Forked {
        /// The new one.
        session_id: SessionId,
    },
    /// A session was deleted.
    Deleted {
        /// The value.
        session_id: SessionId,
    },
    /// A variant added by a newer version.
    #[serde(other)]
    Unknown,
}

/// Which sessions to list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum SessionScope {
    /// The working directory.
    #[default]
    Project,
    /// All.
    All,
}

/// A session in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct SessionSummary {
    /// Its id.
    pub session_id: SessionId,
    /// The program that created it.
    pub maker: SessionOrigin,
    /// Its title, or its first prompt in short.
    pub title: String,
    /// Its first prompt in short, if known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub first_prompt: String,
    /// When something last happened in it.
    pub active: Timestamp,
    /// Its working directory, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, proptest(strategy = "proptest::option::of(crate::roundtrip_tests::path())"))]
    pub project: Option<PathBuf>,
    /// The number of turns, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Its cost, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<MicroUsd>,
}

/// The program that created a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(rename_all = "camelCase")]
pub enum SessionOrigin {
    /// Rheon.
    #[default]
    Rheon,
    /// Claude Code. Resuming it creates a Rheon session with the same conversation.
    ClaudeCode,
}

/// A message that matches a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct SearchHit {
    /// The session it is in.
    pub session_id: SessionId,
    /// The number of its event.
    pub seq: u64,
    /// The text around the match.
    pub excerpt: String,
}

/// A model in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ModelSummary {
    /// Its whole name, `vendor/model`.
    pub name: String,
    /// How many tokens it can read; 0 where that is not known.
    pub context_window: u64,
    /// Whether it is available now: an API key is set, or its server responds.
    pub is_ready: bool,
}

/// The parts of the configuration that an interface needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
pub struct ConfigInfo {
    /// The version of the program that hosts the sessions.
    pub version: String,
    /// Where sessions work.
    #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::path()"))]
    pub working_directory: PathBuf,
    /// The most money that a session may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<MicroUsd>,
    /// The most tokens that a session may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u64>,
    /// Whether sessions are saved.
    pub is_saved: bool,
}
