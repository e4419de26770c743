//! `/mcp`: the MCP servers of the session.

use rheon_types::ClientError;

use super::super::mcp_text::{mcp_details, mcp_line};
use super::super::open::OpenSession;
use super::super::queries::mcp_servers;

/// All servers, or one with its tools. `reconnect NAME` connects one again.
pub(super) fn show(session: &OpenSession, arguments: &str) -> Result<String, ClientError> {
    let servers = mcp_servers(session);
    let unknown = |name: &str| ClientError::NotFound {
        message: format!("no MCP server named {name:?}; list them with /mcp"),
    };
    if let Some(name) = arguments.strip_prefix("reconnect") {
        let name = name.trim();
        return match &session.setup.servers {
            Some(servers) if servers.reconnect(name) => Ok(format!("connecting to {name} again")),
            Some(_) | None => Err(unknown(name)),
        };
    }
    if !arguments.is_empty() {
        let server = servers.iter().find(|server| server.name == arguments);
        return server.map(mcp_details).ok_or_else(|| unknown(arguments));
    }
    if servers.is_empty() {
        return Ok("no MCP servers; add one with `rheon mcp add`".into());
    }
    let mut lines: Vec<String> = servers.iter().map(mcp_line).collect();
    lines.push("show the tools of one with /mcp NAME, connect it again with /mcp reconnect NAME".into());
    Ok(lines.join("\n"))
}
