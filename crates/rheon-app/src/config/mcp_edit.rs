//! Adds and removes MCP servers in the files of the configuration.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// Which file a server is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpScope {
    /// The user's `config.toml`.
    User,
    /// The project's `.mcp.json`, which is shared with others.
    Project,
}

/// Why a server was not added or removed.
#[derive(Debug, thiserror::Error)]
pub enum McpEditError {
    #[error("server names have at most 64 letters, digits, - and _; {0:?} is not one")]
    Name(String),
    #[error("{name:?} exists already in {}; remove it first", .file.display())]
    Exists { name: String, file: PathBuf },
    #[error("no MCP server named {name:?} in {}", .file.display())]
    Missing { name: String, file: PathBuf },
    #[error("cannot remove {name:?} from {}: it is not a table of its own; run `rheon config edit`", .file.display())]
    Inline { name: String, file: PathBuf },
    #[error("cannot read {}: {problem}", .file.display())]
    Read { file: PathBuf, problem: String },
    #[error("cannot write {}: {source}", .file.display())]
    Write { file: PathBuf, source: io::Error },
}

/// A file with MCP servers.
#[derive(Debug, Clone)]
pub struct McpFile {
    scope: McpScope,
    path: PathBuf,
}

impl McpFile {
    /// The user's settings in `dir`.
    pub fn of_user(dir: &Path) -> Self {
        Self { scope: McpScope::User, path: dir.join("config.toml") }
    }

    /// The servers of the project in `root`.
    pub fn of_project(root: &Path) -> Self {
        Self { scope: McpScope::Project, path: root.join(".mcp.json") }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a server, described as in `.mcp.json`.
    pub fn add(&self, name: &str, server: &Map<String, Value>) -> Result<(), McpEditError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
            return Err(McpEditError::Name(name.to_owned()));
        }
        let text = self.read()?;
        if self.has(name, &text)? {
            return Err(McpEditError::Exists { name: name.to_owned(), file: self.path.clone() });
        }
        let text = match self.scope {
            McpScope::User => appended(&text, &table(name, server)),
            McpScope::Project => {
                let mut whole = self.json(&text)?;
                let servers = whole.entry("mcpServers").or_insert_with(|| Value::Object(Map::new()));
                if let Some(servers) = servers.as_object_mut() {
                    servers.insert(name.to_owned(), Value::Object(server.clone()));
                }
                pretty(&whole)
            }
        };
        self.write(&text)
    }

    /// Removes a server.
    pub fn remove(&self, name: &str) -> Result<(), McpEditError> {
        let text = self.read()?;
        let missing = || McpEditError::Missing { name: name.to_owned(), file: self.path.clone() };
        if !self.has(name, &text)? {
            return Err(missing());
        }
        let text = match self.scope {
            McpScope::User => without(name, &text),
            McpScope::Project => {
                let mut whole = self.json(&text)?;
                if let Some(servers) = whole.get_mut("mcpServers").and_then(Value::as_object_mut) {
                    servers.remove(name);
                }
                pretty(&whole)
            }
        };
        if self.has(name, &text)? {
            return Err(McpEditError::Inline { name: name.to_owned(), file: self.path.clone() });
        }
        self.write(&text)
    }

    fn has(&self, name: &str, text: &str) -> Result<bool, McpEditError> {
        Ok(match self.scope {
            McpScope::User => {
                let whole: toml::Table = toml::from_str(text).map_err(|error| self.unread(error))?;
                whole.get("mcp_servers").and_then(|servers| servers.get(name)).is_some()
            }
            McpScope::Project => {
                let whole = self.json(text)?;
                whole.get("mcpServers").and_then(|servers| servers.get(name)).is_some()
            }
        })
    }

    fn json(&self, text: &str) -> Result<Map<String, Value>, McpEditError> {
        if text.trim().is_empty() {
            return Ok(Map::new());
        }
        serde_json::from_str(text).map_err(|error| self.unread(error))
    }

    fn unread(&self, problem: impl ToString) -> McpEditError {
        McpEditError::Read { file: self.path.clone(), problem: problem.to_string().trim_end().to_owned() }
    }

    fn read(&self) -> Result<String, McpEditError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(self.unread(error)),
        }
    }

    /// Replaces the file in one step. A new file of the user is private: servers may have keys.
    fn write(&self, text: &str) -> Result<(), McpEditError> {
        let failed = |source| McpEditError::Write { file: self.path.clone(), source };
        let dir = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir).map_err(failed)?;
        let mut draft = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
        draft.write_all(text.as_bytes()).map_err(failed)?;
        let before = fs::metadata(&self.path).ok().map(|metadata| metadata.permissions());
        if let Some(permissions) = before.or_else(|| self.shared_permissions()) {
            draft.as_file().set_permissions(permissions).map_err(failed)?;
        }
        draft.as_file().sync_all().map_err(failed)?;
        draft.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    #[cfg(unix)]
    fn shared_permissions(&self) -> Option<fs::Permissions> {
        use std::os::unix::fs::PermissionsExt as _;
        (self.scope == McpScope::Project).then(|| fs::Permissions::from_mode(0o644))
    }

    #[cfg(not(unix))]
    fn shared_permissions(&self) -> Option<fs::Permissions> {
        None
    }
}

fn pretty(whole: &Map<String, Value>) -> String {
    // A map of strings and values can always be written.
    serde_json::to_string_pretty(whole).unwrap_or_default() + "\n"
}

/// The server as a table of TOML.
fn table(name: &str, server: &Map<String, Value>) -> String {
    let lines: String =
        server.iter().map(|(key, value)| format!("{} = {}\n", key_text(key), value_text(value))).collect();
    format!("[mcp_servers.{name}]\n{lines}")
}

fn key_text(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if is_bare { key.to_owned() } else { quoted(key) }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(value_text).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, value)| format!("{} = {}", key_text(key), value_text(value)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn appended(text: &str, table: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() { table.to_owned() } else { format!("{text}\n\n{table}") }
}

/// `text` without the tables of the server.
fn without(name: &str, text: &str) -> String {
    let own = format!("[mcp_servers.{name}]");
    let below = format!("[mcp_servers.{name}.");
    let mut is_removed = false;
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        if start.starts_with('[') {
            is_removed = start.starts_with(&own) || start.starts_with(&below);
        }
        if !is_removed {
            kept.push_str(line);
        }
    }
    kept
}

#[cfg(test)]
#[path = "mcp_edit_tests.rs"]
mod tests;
