//! `rheon mcp list`, `rheon mcp get` and `rheon mcp test`.

use rheon_app::config::Config;
use rheon_app::session::{mcp_details, mcp_line, mcp_log, probe_mcp_servers};
use rheon_text::did_you_mean;
use rheon_types::protocol::McpServerSummary;

use super::super::setup::{config, system};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::{print, print_note};
use crate::runtime::block_on;

/// List the MCP servers and connect to each of them once
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Show one MCP server: where it is configured, its state and its tools
#[derive(Debug, clap::Args)]
pub(crate) struct Get {
    /// The name of the server
    name: String,
}

/// Connect to one MCP server; fails if that is not possible
#[derive(Debug, clap::Args)]
pub(crate) struct Test {
    /// The name of the server
    name: String,
}

impl List {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (config, servers) = probed(None)?;
        if self.json {
            return print(&as_json(&servers)?);
        }
        if servers.is_empty() {
            return print("No MCP servers. Add one with `rheon mcp add NAME COMMAND`.\n");
        }
        let line = |server: &McpServerSummary| {
            let origin =
                config.settings.mcp_servers.get(&server.name).map(|server| server.origin.to_string());
            format!("{}  ({})\n", mcp_line(server), origin.unwrap_or_default())
        };
        print(&servers.iter().map(line).collect::<String>())
    }
}

impl Get {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (config, server) = one(&self.name)?;
        let origin = config.settings.mcp_servers.get(&self.name).map(|server| server.origin.to_string());
        let log = mcp_log(&system(None)?, &self.name).filter(|log| log.exists());
        let log = log.map(|log| format!("log of its errors: {}\n", log.display())).unwrap_or_default();
        print(&format!("{}\nconfigured in {}\n{log}", mcp_details(&server), origin.unwrap_or_default()))
    }
}

impl Test {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (_, server) = one(&self.name)?;
        if server.status != "connected" {
            return Err(Failure::error(mcp_line(&server)));
        }
        print(&format!("{}\n", mcp_details(&server)))
    }
}

fn one(name: &str) -> Result<(Config, McpServerSummary), Failure> {
    let (config, servers) = probed(Some(name))?;
    match servers.into_iter().next() {
        Some(server) => Ok((config, server)),
        None => {
            let known: Vec<&str> = config.settings.mcp_servers.keys().map(String::as_str).collect();
            let hint = match known.as_slice() {
                [] => "add one with rheon mcp add".to_owned(),
                known => did_you_mean(name, known),
            };
            Err(Failure::usage(format_args!("no MCP server named {name:?}; {hint}")))
        }
    }
}

/// The configuration, and the state of its servers.
fn probed(only: Option<&str>) -> Result<(Config, Vec<McpServerSummary>), Failure> {
    let system = system(None)?;
    let config = config(&system)?;
    for warning in &config.warnings {
        print_note(&format!("note: {warning}"));
    }
    let servers = block_on(async { Ok(probe_mcp_servers(&system, &config, only).await) })?;
    Ok((config, servers))
}
