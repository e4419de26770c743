//! MCP servers as lines for people.

use rheon_text::units::count;
use rheon_text::visible;
use rheon_types::protocol::McpServerSummary;

/// One server on one line: its state, and what it offers or what is wrong.
pub fn mcp_line(server: &McpServerSummary) -> String {
    let name = visible(&server.name);
    let state = match server.status.as_str() {
        "connected" => {
            let tools = count(server.tools.len() as u64, "tool");
            let tokens = count(server.tokens, "token");
            format!("connected, {tools}, about {tokens}")
        }
        "pending" => "connecting".to_owned(),
        "needs-auth" => format!("needs a login (`rheon mcp login {name}`)"),
        other => other.to_owned(),
    };
    match &server.error {
        Some(error) => format!("{name}: {state}: {}", visible(error)),
        None => format!("{name}: {state}"),
    }
}

/// One server with its program and its tools.
pub fn mcp_details(server: &McpServerSummary) -> String {
    let mut lines = vec![mcp_line(server)];
    if !server.program.is_empty() {
        lines.push(format!("program: {}", visible(&server.program)));
    }
    if !server.protocol.is_empty() {
        lines.push(format!("protocol: {}", visible(&server.protocol)));
    }
    lines.extend(server.tools.iter().map(|tool| format!("  {}", visible(tool))));
    lines.join("\n")
}
