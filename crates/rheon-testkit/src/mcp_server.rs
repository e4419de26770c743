//! A scripted MCP server: a bash script, so that tests have a real child process.

/// The script. Run it with `bash -c SCRIPT server START FILE`; `START` says how it starts, the name of a called tool what
/// it does. Some starts write to `FILE`.
pub const MCP_SERVER_SCRIPT: &str = include_str!("mcp_server.sh");

/// The arguments of `bash` that run the server.
pub fn mcp_server_arguments(start: &str, file: &str) -> Vec<String> {
    ["-c", MCP_SERVER_SCRIPT, "server", start, file].map(str::to_owned).to_vec()
}
