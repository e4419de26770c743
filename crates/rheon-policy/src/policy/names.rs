//! Tool names: Rheon's own, their aliases in Claude Code's rules, and what kind of tool each is.

use rheon_text::nearest;
use rheon_types::Effect;
use serde_json::Value;

/// What a tool does, as far as rules distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs a line of bash.
    Shell,
    Read,
    Edit,
    Fetch,
    /// Starts something by name: an agent or a skill.
    Named,
    /// Talks to the user or manages the agent's own notes.
    Internal,
    Mcp,
    Other,
}

pub struct KnownTool {
    /// The name that the model uses.
    pub name: &'static str,
    /// The names that rules use.
    pub aliases: &'static [&'static str],
    pub kind: ToolKind,
}

const fn row(name: &'static str, aliases: &'static [&'static str], kind: ToolKind) -> KnownTool {
    KnownTool { name, aliases, kind }
}

pub(crate) const KNOWN: [KnownTool; 19] = [
    row("bash", &["Bash"], ToolKind::Shell),
    // These reach only processes that the session itself started.
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
    // Finds tools; calling them is another matter.
    row("tool_search", &["ToolSearch"], ToolKind::Internal),
    // Later sessions read what it writes, so it affects more than this conversation.
    row("memory", &["Memory"], ToolKind::Other),
];

/// Actions of `memory` that only read.
const MEMORY_LOOKS: [&str; 3] = ["list", "read", "search"];

/// The effect of one call, where its arguments say more than the tool's declaration.
pub(crate) fn effect_of(name: &str, arguments: &Value, declared: Effect) -> Effect {
    let action = arguments.get("action").and_then(Value::as_str);
    match action {
        Some(action) if name == "memory" && MEMORY_LOOKS.contains(&action) => Effect::Pure,
        Some(_) | None => declared,
    }
}

/// Argument names that hold the path in file tools.
pub(crate) const PATH_KEYS: [&str; 4] = ["path", "file_path", "filePath", "notebook_path"];
/// Argument names that hold the name in tools that start something.
pub(crate) const NAME_KEYS: [&str; 4] = ["agent", "name", "subagent_type", "skill"];

/// The parameters of tools that rules can match, with the name that Claude Code has for them if it is another:
/// `ours=theirs`, separated by spaces. What a rule of the tool matches anyway is not among them.
const PARAMETERS: [(&str, &str); 9] = [
    ("bash", "timeout_ms=timeout background=run_in_background description"),
    ("read", "offset limit"),
    ("write", "content"),
    ("edit", "edits"),
    ("list", "depth include_ignored"),
    ("glob", "pattern sort limit"),
    (
        "search",
        "pattern glob kind=type output=output_mode ignore_case=-i literal multiline context=-C limit=head_limit",
    ),
    ("web_fetch", "offset"),
    ("agent", "model isolation description prompt background=run_in_background"),
];

/// The argument of a tool that a rule calls `name`.
pub(crate) fn parameter_of(tool: &str, name: &str) -> Option<&'static str> {
    let (_, parameters) = PARAMETERS.iter().find(|(known, _)| *known == tool)?;
    let names = |parameter: &'static str| parameter.split_once('=').unwrap_or((parameter, parameter));
    parameters
        .split(' ')
        .map(names)
        .find(|(ours, theirs)| *ours == name || *theirs == name)
        .map(|(ours, _)| ours)
}

/// Tools of Claude Code that Rheon does not have. Rules about them do no harm.
pub(crate) const FOREIGN: [&str; 26] = [
    "AgentOutputTool",
    "Artifact",
    "CronCreate",
    "CronDelete",
    "CronList",
    "EnterWorktree",
    "ExitWorktree",
    "ListMcpResourcesTool",
    "LSP",
    "Monitor",
    "NotebookRead",
    "PowerShell",
    "PushNotification",
    "ReadMcpResourceTool",
    "RemoteTrigger",
    "ScheduleWakeup",
    "SendMessage",
    "SlashCommand",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "ToolSearch",
    "Workflow",
];

/// The names of the rules about what commands reach; they are no tools.
pub(crate) const NETWORK_RULE: &str = "Network";
pub(crate) const UNSANDBOXED_RULE: &str = "Unsandboxed";

pub(crate) const MCP_PREFIX: &str = "mcp__";

/// The tool that a rule calls `name`.
pub fn known_tool(name: &str) -> Option<&'static KnownTool> {
    KNOWN.iter().find(|tool| tool.name == name || tool.aliases.contains(&name))
}

/// The model's name for the tool that people and rules call `name`, in any case.
pub fn tool_name(name: &str) -> Option<&'static str> {
    let is_alike = |known: &&str| known.eq_ignore_ascii_case(name);
    let named = KNOWN.iter().find(|tool| is_alike(&tool.name) || tool.aliases.iter().any(is_alike));
    named.map(|tool| tool.name)
}

pub(crate) fn all_names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().flat_map(|tool| tool.aliases.iter().copied().chain([tool.name]))
}

pub(crate) fn did_you_mean(name: &str) -> String {
    if known_tool(name).is_some() {
        return String::new();
    }
    nearest(name, all_names()).map(|near| format!("; did you mean {near}?")).unwrap_or_default()
}

pub(crate) fn kind_of(name: &str) -> ToolKind {
    match KNOWN.iter().find(|tool| tool.name == name) {
        Some(tool) => tool.kind,
        None if name.starts_with(MCP_PREFIX) => ToolKind::Mcp,
        None => ToolKind::Other,
    }
}

/// Files that store nothing of what is written to them.
pub(crate) const SINKS: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// Wrappers that add nothing to what they run. `xargs` only with options that do not change which words it adds.
pub(crate) const TRANSPARENT: [&str; 8] =
    ["timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "xargs"];

/// Environment variables that change how a command looks or counts, never what it runs. A trailing `_` matches a
/// prefix.
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

/// Commands whose second (or third) word says what they do, so a rule may end after it.
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
