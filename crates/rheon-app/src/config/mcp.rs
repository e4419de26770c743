//! Servers of further tools, read from their tables.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use super::check::unknown;
use super::mcp_server::{McpRemote, McpServer, McpTransport};
use super::node::{Node, NodeKind};
use super::origin::{Layer, SettingOrigin};
use crate::sessions::EnvVars;

/// Why a server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServerProblem {
    Wrong(String),
    /// It needs an environment variable that is not set. Not an error of the settings.
    Variable(String),
}

const KEYS: [&str; 18] = [
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
    "document",
    "base_url",
    "startup_timeout_sec",
    "tool_timeout_sec",
    "enabled",
    "required",
    "enabled_tools",
    "disabled_tools",
];
/// What belongs to programs only.
const STDIO_KEYS: [&str; 4] = ["command", "args", "env", "cwd"];
/// What belongs to addresses only.
const REMOTE_KEYS: [&str; 5] = ["url", "headers", "http_headers", "env_http_headers", "bearer_token_env_var"];
/// What belongs to OpenAPI documents only.
const DOCUMENT_KEYS: [&str; 2] = ["document", "base_url"];
/// The longest name of a server; it is part of the names of its tools.
const NAME_CHARS_MAX: usize = 64;
/// The longest that a server may be given.
const SECONDS_MAX: u64 = 86_400;

/// How unknown keys are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnknownKeys {
    /// They are errors.
    Refused,
    /// They are meant for other programs.
    Ignored,
}

/// Reads the table of the server `name`.
pub(super) fn server(
    name: &str,
    node: &Node,
    origin: &SettingOrigin,
    unknown_keys: UnknownKeys,
    environment: &EnvVars,
) -> Result<McpServer, ServerProblem> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(fits) {
        return wrong("server names have at most 64 letters, digits, - and _; rename it");
    }
    let NodeKind::Table(table) = &node.kind else { return wrong("a server must be a table") };
    let table = Table { table, environment };
    let stranger = table.table.iter().find(|(key, _)| !KEYS.contains(&key.as_str()));
    if let (Some((key, _)), UnknownKeys::Refused) = (stranger, unknown_keys) {
        return wrong(unknown("key", key, "", &KEYS));
    }
    Ok(McpServer {
        transport: transport(&table, origin.layer)?,
        enabled: table.switch("enabled")?.unwrap_or(true),
        required: table.switch("required")?.unwrap_or(false),
        startup_timeout: table.seconds("startup_timeout_sec")?,
        tool_timeout: table.seconds("tool_timeout_sec")?,
        enabled_tools: table.texts("enabled_tools")?,
        disabled_tools: table.texts("disabled_tools")?.unwrap_or_default(),
        origin: origin.clone(),
    })
}

fn transport(table: &Table<'_>, layer: Layer) -> Result<McpTransport, ServerProblem> {
    let has_url = table.get("url").is_some();
    let kind = table.text("type")?;
    let remote = match kind.as_deref() {
        Some("stdio") => None,
        None if !has_url => None,
        None | Some("http" | "streamable-http") => Some(McpRemote::Http),
        Some("sse") => Some(McpRemote::Sse),
        Some("ws") => Some(McpRemote::WebSocket),
        Some("openapi") => return openapi(table),
        Some("sdk") if layer == Layer::CommandLine => return Ok(McpTransport::Client),
        Some("sdk") => return wrong("servers inside the calling program can only be named by --mcp-config"),
        Some(other) => return wrong(unknown("type", other, "", &["stdio", "http", "sse", "ws", "openapi"])),
    };
    table.none_of(&DOCUMENT_KEYS, "a server that is not of type openapi")?;
    let Some(kind) = remote else {
        table.none_of(&REMOTE_KEYS, "a stdio server")?;
        let Some(command) = table.text("command")?.filter(|command| !command.is_empty()) else {
            return wrong("the key \"command\" is missing; set it or \"url\"");
        };
        return Ok(McpTransport::Stdio {
            command,
            args: table.texts("args")?.unwrap_or_default(),
            env: table.secrets("env")?,
            directory: table.text("cwd")?.map(PathBuf::from),
        });
    };
    table.none_of(&STDIO_KEYS, "a remote server")?;
    let Some(url) = table.text("url")? else { return wrong("the key \"url\" is missing") };
    let is_address = ["https://", "http://", "wss://", "ws://"].iter().any(|scheme| url.starts_with(scheme));
    if !is_address {
        return wrong("\"url\" must start with https:// or http:// (wss:// or ws:// for type ws)");
    }
    Ok(McpTransport::Remote { kind, url, headers: table.headers()? })
}

fn openapi(table: &Table<'_>) -> Result<McpTransport, ServerProblem> {
    table.none_of(&STDIO_KEYS, "an OpenAPI document")?;
    table.none_of(&["url"], "an OpenAPI document")?;
    let Some(document) = table.text("document")?.filter(|document| !document.is_empty()) else {
        return wrong("the key \"document\" is missing: a file or an address");
    };
    Ok(McpTransport::OpenApi { document, base_url: table.text("base_url")?, headers: table.headers()? })
}

fn wrong<T>(what: impl Into<String>) -> Result<T, ServerProblem> {
    Err(ServerProblem::Wrong(what.into()))
}

/// A server's table.
struct Table<'a> {
    table: &'a [(String, Node)],
    environment: &'a EnvVars,
}

impl Table<'_> {
    fn get(&self, key: &str) -> Option<&NodeKind> {
        self.table.iter().find(|(name, _)| name == key).map(|(_, node)| &node.kind)
    }

    fn none_of(&self, keys: &[&str], what: &str) -> Result<(), ServerProblem> {
        match keys.iter().find(|key| self.get(key).is_some()) {
            Some(key) => wrong(format!("{key:?} does not apply to {what}; remove it")),
            None => Ok(()),
        }
    }

    fn expand(&self, text: &str) -> Result<String, ServerProblem> {
        expand(text, self.environment).map_err(ServerProblem::Variable)
    }

    fn text(&self, key: &str) -> Result<Option<String>, ServerProblem> {
        match self.get(key) {
            None => Ok(None),
            Some(NodeKind::Text(text)) => self.expand(text).map(Some),
            Some(_) => wrong(format!("{key:?} must be a string")),
        }
    }

    fn switch(&self, key: &str) -> Result<Option<bool>, ServerProblem> {
        match self.get(key) {
            None => Ok(None),
            Some(NodeKind::Switch(value)) => Ok(Some(*value)),
            Some(_) => wrong(format!("{key:?} must be true or false")),
        }
    }

    fn seconds(&self, key: &str) -> Result<Option<Duration>, ServerProblem> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let seconds = match value {
            NodeKind::Number(number) => number.parse::<u64>().ok(),
            NodeKind::Text(_)
            | NodeKind::Switch(_)
            | NodeKind::List(_)
            | NodeKind::Table(_)
            | NodeKind::Other => None,
        };
        match seconds {
            Some(seconds @ 1..=SECONDS_MAX) => Ok(Some(Duration::from_secs(seconds))),
            Some(_) | None => {
                wrong(format!("{key:?} must be a whole number of seconds from 1 to {SECONDS_MAX}"))
            }
        }
    }

    fn texts(&self, key: &str) -> Result<Option<Vec<String>>, ServerProblem> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let NodeKind::List(items) = value else { return wrong(format!("{key:?} must be a list of strings")) };
        let text = |item: &Node| match &item.kind {
            NodeKind::Text(text) => self.expand(text),
            NodeKind::Number(_)
            | NodeKind::Switch(_)
            | NodeKind::List(_)
            | NodeKind::Table(_)
            | NodeKind::Other => wrong(format!("{key:?} must be a list of strings")),
        };
        items.iter().map(text).collect::<Result<Vec<_>, _>>().map(Some)
    }

    /// A table of names and secret values.
    fn secrets(&self, key: &str) -> Result<BTreeMap<String, SecretString>, ServerProblem> {
        let table = match self.get(key) {
            None => return Ok(BTreeMap::new()),
            Some(NodeKind::Table(table)) => table,
            Some(_) => return wrong(format!("{key:?} must be a table of strings")),
        };
        let secret = |(name, node): &(String, Node)| match &node.kind {
            NodeKind::Text(text) => Ok((name.clone(), SecretString::from(self.expand(text)?))),
            NodeKind::Number(_)
            | NodeKind::Switch(_)
            | NodeKind::List(_)
            | NodeKind::Table(_)
            | NodeKind::Other => wrong(format!("{key:?} must be a table of strings")),
        };
        table.iter().map(secret).collect()
    }

    fn headers(&self) -> Result<BTreeMap<String, SecretString>, ServerProblem> {
        let mut headers = self.secrets("headers")?;
        headers.extend(self.secrets("http_headers")?);
        if let Some(NodeKind::Table(table)) = self.get("env_http_headers") {
            for (header, node) in table {
                let NodeKind::Text(name) = &node.kind else {
                    return wrong("\"env_http_headers\" must be a table of environment variable names");
                };
                headers.insert(header.clone(), self.variable(name)?.into());
            }
        }
        if let Some(name) = self.text("bearer_token_env_var")? {
            headers.insert("Authorization".to_owned(), format!("Bearer {}", self.variable(&name)?).into());
        }
        Ok(headers)
    }

    fn variable(&self, name: &str) -> Result<String, ServerProblem> {
        self.expand(&format!("${{{name}}}"))
    }
}

/// The longest text that may come of it.
const EXPANDED_BYTES_MAX: usize = 256 * 1024;

/// `text` with the values of variables in it; the error says which variable is missing.
fn expand(text: &str, environment: &EnvVars) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push_str(before);
        let Some((inside, behind)) = after.split_once('}') else {
            return Err(format!("{:?} has no end; write ${{NAME}}", first_few(after)));
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let value = environment.get(name).map(|value| value.to_string_lossy().into_owned());
        match value.or_else(|| default.map(str::to_owned)) {
            Some(value) => expanded.push_str(&value),
            None => {
                let name = first_few(name);
                return Err(format!(
                    "the environment variable {name} is not set; set it or write ${{{name}:-default}}"
                ));
            }
        }
        if expanded.len() > EXPANDED_BYTES_MAX {
            return Err(format!("the expanded text is longer than {EXPANDED_BYTES_MAX} bytes"));
        }
        rest = behind;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

fn first_few(text: &str) -> String {
    text.chars().take(60).collect()
}
