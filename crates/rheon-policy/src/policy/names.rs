//! Names of tools: ours, those of Claude Code's rules, and what kind of thing each does.

use rheon_types::Effect;
use serde_json::Value;

/// What kind of thing a tool does, as far as rules can say more about it than its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs a line of bash.
    Shell,
    /// Looks at files.
    Read,
    /// Changes files.
    Edit,
    /// Fetches an address.
    Fetch,
    /// Starts something that has a name: an agent.
    Named,
    /// Talks to the user or keeps the agent's own notes; touches nothing.
    Internal,
    /// A tool of an MCP server.
    Mcp,
    /// Anything else.
    Other,
}

/// One tool that rules know.
pub struct KnownTool {
    /// The name the model calls it by.
    pub name: &'static str,
    /// The names by which rules call it.
    pub aliases: &'static [&'static str],
    /// What it does.
    pub kind: ToolKind,
}

const fn row(name: &'static str, aliases: &'static [&'static str], kind: ToolKind) -> KnownTool {
    KnownTool { name, aliases, kind }
}

/// The tools that rules know.
pub(crate) const KNOWN: [KnownTool; 18] = [
    row("bash", &["Bash"], ToolKind::Shell),
    // They reach only what the session itself has started.
    row("bash_output", &["BashOutput"], ToolKind::Internal),
    row("bash_kill", &["KillShell", "KillBash"], ToolKind::Internal),
    row("read", &["Read"], ToolKind::Read),
    row("list", &["LS"], ToolKind::Read),
    row("glob", &["Glob"], ToolKind::Read),
    row("search", &["Grep"], ToolKind::Read),
    row("write", &["Write"], ToolKind::Edit),
    row("edit", &["Edit", "MultiEdit"], ToolKind::Edit),
    row("notebook_edit", &["NotebookEdit"], ToolKind::Edit),
    row("web_fetch", &["WebFetch"], ToolKind::Fetch),
    row("web_search", &["WebSearch"], ToolKind::Other),
    row("agent", &["Agent", "Task"], ToolKind::Named),
    row("todo", &["TodoWrite", "TodoRead"], ToolKind::Internal),
    row("ask_user", &["AskUserQuestion"], ToolKind::Internal),
    row("plan", &["EnterPlanMode", "ExitPlanMode"], ToolKind::Internal),
    row("skill", &["Skill"], ToolKind::Internal),
    // What it writes is read in later sessions, so that it is more than the agent's own business.
    row("memory", &["Memory"], ToolKind::Other),
];

/// What `memory` is asked to do where it only looks.
const MEMORY_LOOKS: [&str; 3] = ["list", "read", "search"];

/// What one call does, where its arguments say more about it than the tool does.
pub(crate) fn effect_of(name: &str, arguments: &Value, declared: Effect) -> Effect {
    let action = arguments.get("action").and_then(Value::as_str);
    match action {
        Some(action) if name == "memory" && MEMORY_LOOKS.contains(&action) => Effect::Pure,
        Some(_) | None => declared,
    }
}

/// Where tools of files keep the path among their arguments.
pub(crate) const PATH_KEYS: [&str; 4] = ["path", "file_path", "filePath", "notebook_path"];
/// Where tools that start something keep its name.
pub(crate) const NAME_KEYS: [&str; 4] = ["agent", "name", "subagent_type", "skill"];

/// What comes before the name of a tool of an MCP server.
pub(crate) const MCP_PREFIX: &str = "mcp__";

/// The tool that a rule means by `name`.
pub fn known_tool(name: &str) -> Option<&'static KnownTool> {
    KNOWN.iter().find(|tool| tool.name == name || tool.aliases.contains(&name))
}

/// The name by which the model calls the tool that people and rules call `name`, if it is one that rules know,
/// in whatever case.
pub fn tool_name(name: &str) -> Option<&'static str> {
    let is_alike = |known: &&str| known.eq_ignore_ascii_case(name);
    let named = KNOWN.iter().find(|tool| is_alike(&tool.name) || tool.aliases.iter().any(is_alike));
    named.map(|tool| tool.name)
}

/// All names that rules may use.
pub(crate) fn all_names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().flat_map(|tool| tool.aliases.iter().copied().chain([tool.name]))
}

/// What kind of thing the tool that the model calls `name` does.
pub(crate) fn kind_of(name: &str) -> ToolKind {
    match KNOWN.iter().find(|tool| tool.name == name) {
        Some(tool) => tool.kind,
        None if name.starts_with(MCP_PREFIX) => ToolKind::Mcp,
        None => ToolKind::Other,
    }
}

/// Wrappers that add nothing of their own to what they run. `xargs` only without options.
pub(crate) const TRANSPARENT: [&str; 8] =
    ["timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "xargs"];

/// Variables that change how a command looks or counts, never what it runs. One that ends in `_` stands for all that begin so.
pub(crate) const HARMLESS_VARIABLES: [&str; 17] = [
    "LC_",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CI",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "NODE_ENV",
    "CARGO_TERM_",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
];

/// Commands whose second word (or third) says what they do, so that a rule may end after it.
pub(crate) const SUBCOMMANDS: [(&str, usize); 22] = [
    ("git", 2),
    ("cargo", 2),
    ("npm", 2),
    ("npm run", 3),
    ("pnpm", 2),
    ("pnpm run", 3),
    ("yarn", 2),
    ("yarn run", 3),
    ("bun", 2),
    ("bun run", 3),
    ("go", 2),
    ("make", 2),
    ("just", 2),
    ("docker", 2),
    ("docker compose", 3),
    ("kubectl", 2),
    ("pip", 2),
    ("uv", 2),
    ("poetry", 2),
    ("gh", 3),
    ("dotnet", 2),
    ("swift", 2),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn looking_at_notes_is_free_and_writing_them_is_not() {
        let effect = |action: &str| effect_of("memory", &json!({ "action": action }), Effect::Idempotent);
        assert_eq!(["list", "read", "search"].map(effect), [Effect::Pure; 3]);
        assert_eq!(["write", "delete", "other"].map(effect), [Effect::Idempotent; 3]);
        assert_eq!(effect_of("other", &json!({ "action": "read" }), Effect::Unsafe), Effect::Unsafe);
        assert_eq!(effect_of("memory", &json!({}), Effect::Idempotent), Effect::Idempotent);
    }
}
