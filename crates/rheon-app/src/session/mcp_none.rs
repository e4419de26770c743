//! `SessionServers` of a build without MCP: there are none.

use std::sync::Arc;

use rheon_policy::PolicyGate;
use rheon_types::event::{Notice, NoticeTopic};
use rheon_types::protocol::{McpServerSummary, SlashCommand};
use rheon_types::{Content, Hook, Tool, ToolSet, ToolSource};

use super::calls::ClientCalls;
use crate::config::Config;
use crate::system::{NoticeSink, SystemContext};

/// What the servers of a session are made from.
pub(super) struct ServerParts<'a> {
    #[expect(dead_code, reason = "this build has no servers")]
    pub(super) system: &'a SystemContext,
    pub(super) config: &'a Config,
    pub(super) client_servers: Vec<String>,
    #[expect(dead_code, reason = "this build has no servers")]
    pub(super) calls: ClientCalls,
    #[expect(dead_code, reason = "this build has no servers")]
    pub(super) gate: Arc<PolicyGate>,
    #[expect(dead_code, reason = "this build has no servers")]
    pub(super) window_tokens: u64,
    pub(super) tell: NoticeSink,
}

/// No servers.
pub(super) enum SessionServers {}

impl SessionServers {
    /// Says that configured servers are ignored.
    pub(super) fn start(parts: ServerParts<'_>) -> Option<Arc<Self>> {
        if !parts.config.settings.mcp_servers.is_empty() || !parts.client_servers.is_empty() {
            let text = "MCP servers are ignored: this build does not support them";
            (parts.tell)(Notice::warning(NoticeTopic::Tools, text));
        }
        None
    }

    pub(super) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        match *self {}
    }

    pub(super) fn summaries(&self) -> Vec<McpServerSummary> {
        match *self {}
    }

    pub(super) fn reconnect(&self, _name: &str) -> bool {
        match *self {}
    }

    pub(super) fn prompts(&self) -> Vec<SlashCommand> {
        match *self {}
    }

    pub(super) async fn prompt(
        &self,
        _command: &str,
        _arguments: &str,
    ) -> Option<Result<Vec<Content>, String>> {
        match *self {}
    }

    pub(super) fn resource_of<'a>(&self, _mention: &'a str) -> Option<(&'a str, &'a str)> {
        match *self {}
    }

    pub(super) async fn resource(&self, _server: &str, _uri: &str) -> Result<Vec<Content>, String> {
        match *self {}
    }

    pub(super) async fn close(&self) {
        match *self {}
    }
}

impl Hook for SessionServers {}

impl ToolSource for SessionServers {
    fn name(&self) -> &str {
        match *self {}
    }

    fn snapshot(&self) -> Arc<ToolSet> {
        match *self {}
    }
}
