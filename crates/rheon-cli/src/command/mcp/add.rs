//! `rheon mcp add`.

use rheon_app::config::McpScope;
use serde_json::{Map, Value, json};

use super::super::setup::system;
use super::scope::{ScopeFlag, file};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_note};

/// Add an MCP server: a program, or an address
///
/// Options of the program follow after `--`: rheon mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
#[derive(Debug, clap::Args)]
pub(crate) struct Add {
    /// The name of the server; its tools are called mcp__NAME__TOOL
    name: String,

    /// The program or the address
    #[arg(value_name = "COMMAND|URL")]
    target: String,

    /// The arguments of the program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,

    /// Where to save it: your settings, or .mcp.json of this project
    #[arg(short, long, value_enum, default_value = "user")]
    scope: ScopeFlag,

    /// Set an environment variable of the program
    #[arg(short, long = "env", value_name = "NAME=VALUE")]
    environment: Vec<String>,

    /// Send a header with every request to the address
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
}

impl Add {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let file = file(self.scope, &system(None)?)?;
        file.add(&self.name, &self.server()?).map_err(Failure::usage)?;
        if self.scope.scope() == McpScope::Project {
            print_note(
                "note: servers of a project start only where it is trusted; review it with `rheon trust show`",
            );
        }
        print(&format!(
            "Added {} to {}. Test it with `rheon mcp test {}`.\n",
            self.name,
            file.path().display(),
            self.name
        ))
    }

    /// The server as `.mcp.json` has it.
    fn server(&self) -> Result<Map<String, Value>, Failure> {
        let is_address = ["https://", "http://"].iter().any(|scheme| self.target.starts_with(scheme));
        let mut server = Map::new();
        if is_address {
            if !self.arguments.is_empty() || !self.environment.is_empty() {
                return Err(Failure::usage("an address takes no arguments and no environment; use --header"));
            }
            server.insert("type".into(), "http".into());
            server.insert("url".into(), self.target.clone().into());
            let headers = pairs(&self.headers, ':', "--header needs NAME: VALUE")?;
            insert_unless_empty(&mut server, "headers", headers);
        } else {
            if !self.headers.is_empty() {
                return Err(Failure::usage("--header is for addresses; a program gets variables with --env"));
            }
            server.insert("command".into(), self.target.clone().into());
            if !self.arguments.is_empty() {
                server.insert("args".into(), json!(self.arguments));
            }
            let environment = pairs(&self.environment, '=', "--env needs NAME=VALUE")?;
            insert_unless_empty(&mut server, "env", environment);
        }
        Ok(server)
    }
}

fn pairs(texts: &[String], separator: char, problem: &str) -> Result<Map<String, Value>, Failure> {
    let pair = |text: &String| {
        let (name, value) = text.split_once(separator).ok_or_else(|| Failure::usage(problem))?;
        Ok((name.trim().to_owned(), Value::from(value.trim())))
    };
    texts.iter().map(pair).collect()
}

fn insert_unless_empty(server: &mut Map<String, Value>, key: &str, fields: Map<String, Value>) {
    if !fields.is_empty() {
        server.insert(key.into(), Value::Object(fields));
    }
}
