//! `SessionFacts`: what the first line of a run says about the session.

use std::path::PathBuf;

use rheon_types::SessionId;
use rheon_types::event::PermissionMode;
use rheon_types::protocol;
use serde_json::{Value, json};

use super::tool::claude_tool_name;

/// What is said about a session before anything happens in it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionFacts {
    /// The session.
    pub session_id: SessionId,
    /// Where it works.
    pub cwd: PathBuf,
    /// Further folders it may work in.
    pub additional_directories: Vec<PathBuf>,
    /// The model it talks to.
    pub model: ModelFacts,
    /// How much it may do without asking.
    pub permission_mode: PermissionMode,
    /// What is on offer in it.
    pub offers: Offers,
    /// The version of the program.
    pub version: String,
}

/// The model of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelFacts {
    /// Its name.
    pub id: String,
    /// How many tokens it can read; 0 where that is not known.
    pub context_window: u64,
    /// How many tokens it may write in one answer; 0 where that is not known.
    pub output_tokens_max: u64,
    /// Where its key came from: a variable's name, for instance, or `none`.
    pub key_source: String,
}

impl From<&protocol::SessionModel> for ModelFacts {
    fn from(facts: &protocol::SessionModel) -> Self {
        Self {
            id: facts.name.clone(),
            context_window: facts.context_window,
            output_tokens_max: facts.output_tokens_max,
            key_source: facts.key_source.clone(),
        }
    }
}

/// What is on offer in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offers {
    /// The tools, by our names.
    pub tools: Vec<String>,
    /// The commands, without the slash.
    pub slash_commands: Vec<Described>,
    /// The skills.
    pub skills: Vec<String>,
    /// The sub-agents.
    pub agents: Vec<Described>,
    /// The MCP servers.
    pub mcp_servers: Vec<McpServer>,
}

/// Something with a name that can be explained.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
}

/// An MCP server of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
    pub status: String,
}

impl SessionFacts {
    /// What a session says of itself, with the commands that it takes; the version is the program's.
    pub fn new(facts: &protocol::SessionInfo, commands: &[protocol::SlashCommand], version: &str) -> Self {
        let described = |command: &protocol::SlashCommand| Described {
            name: command.name.clone(),
            description: command.description.clone(),
        };
        Self {
            session_id: facts.session_id.clone(),
            cwd: facts.working_directory.clone(),
            additional_directories: Vec::new(),
            model: ModelFacts::from(&facts.model),
            permission_mode: facts.mode,
            offers: Offers {
                tools: facts.tools.clone(),
                slash_commands: commands.iter().map(described).collect(),
                skills: facts.skills.clone(),
                ..Offers::default()
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
        let command = |command: &Described| json!({ "name": command.name, "description": command.description, "argumentHint": "" });
        let agent = |agent: &Described| json!({ "name": agent.name, "description": agent.description });
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
        json!({ "mcpServers": self.mcp_servers() })
    }

    fn mcp_servers(&self) -> Value {
        let server = |server: &McpServer| json!({ "name": server.name, "status": server.status });
        self.offers.mcp_servers.iter().map(server).collect()
    }
}

fn names(described: &[Described]) -> Vec<&str> {
    described.iter().map(|described| described.name.as_str()).collect()
}
