//! `StreamSessionInfo`: the session as the init line of a run describes it.

use std::path::PathBuf;

use rheon_types::SessionId;
use rheon_types::event::PermissionMode;
use rheon_types::protocol;
use serde_json::{Value, json};

use super::tool::claude_tool_name;

/// The session as the init line describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamSessionInfo {
    pub session_id: SessionId,
    pub cwd: PathBuf,
    pub additional_directories: Vec<PathBuf>,
    pub model: StreamModelInfo,
    pub permission_mode: PermissionMode,
    pub offers: SessionFeatures,
    pub version: String,
}

/// The model of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamModelInfo {
    pub id: String,
    /// How many tokens it can read; 0 where that is not known.
    pub context_window: u64,
    /// How many tokens it may write in one answer; 0 where that is not known.
    pub output_tokens_max: u64,
    /// Where its key came from: a variable's name, for instance, or `none`.
    pub key_source: String,
}

impl From<&protocol::SessionModel> for StreamModelInfo {
    fn from(facts: &protocol::SessionModel) -> Self {
        Self {
            id: facts.name.clone(),
            context_window: facts.context_window,
            output_tokens_max: facts.output_tokens_max,
            key_source: facts.key_source.clone(),
        }
    }
}

/// The tools, commands, skills, agents and servers of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFeatures {
    /// The tools, by our names.
    pub tools: Vec<String>,
    /// The commands, without the slash.
    pub slash_commands: Vec<NamedItem>,
    pub skills: Vec<String>,
    pub agents: Vec<NamedItem>,
    pub mcp_servers: Vec<protocol::McpServerSummary>,
}

/// A name with its description.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedItem {
    pub name: String,
    pub description: String,
}

impl StreamSessionInfo {
    /// From the facts and the commands of a session; `version` is the program's.
    pub fn new(facts: &protocol::SessionInfo, commands: &[protocol::SlashCommand], version: &str) -> Self {
        let described = |command: &protocol::SlashCommand| NamedItem {
            name: command.name.clone(),
            description: command.description.clone(),
        };
        Self {
            session_id: facts.session_id.clone(),
            cwd: facts.working_directory.clone(),
            additional_directories: Vec::new(),
            model: StreamModelInfo::from(&facts.model),
            permission_mode: facts.mode,
            offers: SessionFeatures {
                tools: facts.tools.clone(),
                slash_commands: commands.iter().map(described).collect(),
                skills: facts.skills.clone(),
                ..SessionFeatures::default()
            },
            version: version.to_owned(),
        }
    }

    /// The fields of the line `system/init`.
    pub(super) fn init(&self) -> Value {
        let tools: Vec<String> = self.offers.tools.iter().map(|name| claude_tool_name(name)).collect();
        json!({
            "type": "system",
            "subtype": "init",
            "cwd": self.cwd,
            "original_cwd": self.cwd,
            "additional_directories": self.additional_directories,
            "tools": tools,
            "mcp_servers": self.mcp_servers(),
            "model": self.model.id,
            "permissionMode": self.permission_mode,
            "slash_commands": names(&self.offers.slash_commands),
            "terminal_slash_commands": [],
            "apiKeySource": self.model.key_source,
            "claude_code_version": self.version,
            "output_style": "default",
            "agents": names(&self.offers.agents),
            "skills": self.offers.skills,
            "plugins": [],
            "capabilities": [],
            "fast_mode_state": "off",
        })
    }

    /// The answer to `initialize`.
    pub fn initialized(&self) -> Value {
        let command = |command: &NamedItem| json!({ "name": command.name, "description": command.description, "argumentHint": "" });
        let agent = |agent: &NamedItem| json!({ "name": agent.name, "description": agent.description });
        let model = &self.model.id;
        json!({
            "commands": self.offers.slash_commands.iter().map(command).collect::<Vec<_>>(),
            "agents": self.offers.agents.iter().map(agent).collect::<Vec<_>>(),
            "output_style": "default",
            "available_output_styles": ["default"],
            "models": [{ "value": model, "displayName": model, "description": "" }],
            "account": { "apiKeySource": self.model.key_source },
            "hook_on_failure_supported": true,
            "hooks_applied": true,
        })
    }

    /// The answer to `mcp_status`.
    pub fn mcp_status(&self) -> Value {
        let server = |server: &protocol::McpServerSummary| {
            let prefix = format!("mcp__{}__", server.name);
            let tool = |name: &String| json!({ "name": name.strip_prefix(&prefix).unwrap_or(name) });
            let tools: Vec<Value> = server.tools.iter().map(tool).collect();
            let mut status = json!({ "name": server.name, "status": server.status, "tools": tools });
            if let (Some(error), Some(status)) = (&server.error, status.as_object_mut()) {
                status.insert("error".to_owned(), error.clone().into());
            }
            status
        };
        json!({ "mcpServers": self.offers.mcp_servers.iter().map(server).collect::<Vec<_>>() })
    }

    fn mcp_servers(&self) -> Value {
        let server =
            |server: &protocol::McpServerSummary| json!({ "name": server.name, "status": server.status });
        self.offers.mcp_servers.iter().map(server).collect()
    }
}

fn names(described: &[NamedItem]) -> Vec<&str> {
    described.iter().map(|described| described.name.as_str()).collect()
}
