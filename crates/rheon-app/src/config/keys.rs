//! The table of keys, the reference generated from it, and the template of a settings file.

use rheon_policy::RuleKind;

use super::key::{Key, ProjectMay, Takes};

const fn row(path: &'static str, takes: Takes, project: ProjectMay, default: &'static str) -> Key {
    Key { path, takes, project, default }
}

/// The maximum of a number that only has to be above zero.
const MANY: u64 = u64::MAX;
const EFFORTS: &[&str] = &["low", "medium", "high", "max"];
const MODES: &[&str] = &["default", "acceptEdits", "auto", "plan", "dontAsk", "bypassPermissions"];
const LEVELS: &[&str] = &["none", "landlock", "namespaces"];
/// A list of hosts is in between, and is not a project's to choose.
const NETWORK: &[&str] = &["open", "blocked"];
const CACHES: &[&str] = &["shared", "overlay", "private"];
const AUTO_ALLOW: &[&str] = &["allow", "ask"];
const ON_FAILURE: &[&str] = &["refuse", "in_memory"];
const COLORS: &[&str] = &["auto", "always", "never"];
const LOG_LEVELS: &[&str] = &["off", "error", "warn", "info", "debug", "trace"];

use ProjectMay::{Lower, Nothing, Set, SetIfTrusted, SetIfTrustedBut, SwitchTo, Tighten};
use Takes::{Choice, Count, Money, Rules, Switch, SwitchOrDir, Text, Texts};

/// All keys, in the order of the template and of the reference.
pub(super) const KEYS: &[Key] = &[
    // The model decides where code is sent and what it costs.
    row("model", Text, SetIfTrusted, ""),
    row("fallback_model", Text, SetIfTrusted, ""),
    row("effort", Choice(EFFORTS), SetIfTrusted, ""),
    row("system_prompt", Text, Nothing, ""),
    row("append_system_prompt", Text, SetIfTrusted, ""),
    row("limits.turns_max", Count(1, u32::MAX as u64), Lower, ""),
    row("limits.budget_usd", Money, Lower, ""),
    row("limits.tokens_max", Count(1, MANY), Lower, ""),
    row("limits.minutes_max", Count(1, 1_000_000), Lower, ""),
    row("limits.output_tokens_max", Count(1, u32::MAX as u64), Lower, ""),
    row("permissions.default_mode", Choice(MODES), SetIfTrustedBut("bypassPermissions"), ""),
    row("permissions.allow", Rules(RuleKind::Allow), SetIfTrusted, ""),
    row("permissions.ask", Rules(RuleKind::Ask), Set, ""),
    row("permissions.deny", Rules(RuleKind::Deny), Set, ""),
    row("permissions.additional_directories", Texts, SetIfTrusted, ""),
    row("permissions.disable_bypass", Switch, SwitchTo(true), "false"),
    row("sandbox.require", Choice(LEVELS), Tighten(LEVELS), "\"landlock\""),
    row("sandbox.network", Takes::Network, Tighten(NETWORK), "\"blocked\""),
    row("sandbox.caches", Choice(CACHES), Tighten(CACHES), "\"overlay\""),
    row("sandbox.cache_bytes_max", Count(1, MANY), Nothing, "10737418240"),
    row("sandbox.processes_max", Count(0, MANY), Nothing, "8192"),
    row("sandbox.memory_bytes_max", Count(0, MANY), Nothing, "0"),
    row("sandbox.file_bytes_max", Count(0, MANY), Nothing, "0"),
    row("sandbox.auto_allow", Choice(AUTO_ALLOW), Tighten(AUTO_ALLOW), "\"ask\""),
    // A program outside the sandbox is held by nothing, and a variable may make one run another.
    row("sandbox.outside", Texts, Nothing, ""),
    row("sandbox.env_hide", Texts, Set, ""),
    row("sandbox.env_pass", Texts, Nothing, ""),
    row("env.*", Text, SetIfTrusted, ""),
    // A project must not be able to hide what happened (journal) or prevent an undo (checkpoints).
    row("sessions.keep", Switch, Nothing, "true"),
    row("sessions.transcripts", SwitchOrDir, Nothing, ""),
    row("sessions.checkpoints", Switch, Nothing, "true"),
    row("sessions.on_failure", Choice(ON_FAILURE), Nothing, "\"refuse\""),
    row("sessions.blob_bytes_max", Count(1, MANY), Nothing, "10737418240"),
    // The user's own instructions are one of the sources.
    row("context.off", Takes::Sources, SetIfTrusted, ""),
    row("context.reminders", Switch, Set, "true"),
    // Whether a long conversation goes on at all is the user's alone.
    row("context.auto_compact", Switch, Nothing, "true"),
    row("context.warn_percent", Count(1, 100), Set, "75"),
    row("context.compact_percent", Count(1, 100), Nothing, "90"),
    row("keys.*", Takes::KeySource, Nothing, ""),
    row("vendors.*", Takes::Vendor, Nothing, ""),
    row("hooks.*", Takes::Hooks, SetIfTrusted, ""),
    row("mcp_servers.*", Takes::McpServer, SetIfTrusted, ""),
    row("interface.color", Choice(COLORS), Set, "\"auto\""),
    row("interface.notify", Switch, Set, "true"),
    row("interface.notify_after_seconds", Count(0, 1_000_000), Set, "30"),
    row("interface.title", Switch, Set, "true"),
    row("interface.spinner", Switch, Set, "true"),
    row("interface.markdown", Switch, Set, "true"),
    row("log.level", Choice(LOG_LEVELS), Nothing, "\"info\""),
    row("log.keep_days", Count(1, 36_500), Nothing, "14"),
    row("log.redact", Switch, Nothing, "true"),
    row("web.fetch", Switch, SwitchTo(false), "true"),
];

/// Keys that were renamed: the old one still works, with a deprecation notice.
const RENAMED: [(&str, &str); 3] = [
    ("sandbox.run_held", "sandbox.auto_allow"),
    ("sessions.on_trouble", "sessions.on_failure"),
    ("interface.colour", "interface.color"),
];

/// The current path of a renamed key.
pub(super) fn renamed(path: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(old, _)| *old == path).map(|(_, new)| *new)
}

/// The row of the key `name` in `section`, which is empty for the top level.
pub(super) fn key(section: &str, name: &str) -> Option<&'static Key> {
    let is_row = |row: &&Key| match (row.path.strip_suffix(".*"), row.path.rsplit_once('.')) {
        (Some(of), _) => of == section && !name.is_empty(),
        (None, Some((of, last))) => of == section && last == name,
        (None, None) => section.is_empty() && row.path == name,
    };
    KEYS.iter().find(is_row)
}

/// Whether there are keys below `path`.
pub(super) fn is_section(path: &str) -> bool {
    KEYS.iter().any(|row| row.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

/// The names below `section`, which is empty for the top level.
pub(super) fn names_in(section: &str) -> Vec<&'static str> {
    let below = |row: &'static Key| match section {
        "" => Some(row.path),
        _ => row.path.strip_prefix(section)?.strip_prefix('.'),
    };
    let mut names: Vec<&str> =
        KEYS.iter().filter_map(below).filter_map(|rest| rest.split('.').next()).collect();
    names.dedup();
    names
}

/// The defaults, as TOML.
pub(super) fn built_in() -> String {
    let set = KEYS.iter().filter(|row| !row.default.is_empty());
    set.map(|row| format!("{} = {}\n", row.path, row.default)).collect()
}

/// The documentation of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyReference {
    /// The path with dots; `*` stands for any name.
    pub key: &'static str,
    /// The type or the allowed values.
    pub takes: String,
    /// As TOML; empty if there is none.
    pub default: &'static str,
    /// What a project's settings may do with it.
    pub project_may: String,
}

/// The reference of all keys, in the order of the table.
pub fn reference() -> Vec<KeyReference> {
    KEYS.iter()
        .map(|row| KeyReference {
            key: row.path,
            takes: row.takes.describe(),
            default: row.default,
            project_may: row.project.describe(),
        })
        .collect()
}

/// A settings file that explains every key and sets none.
pub fn template() -> &'static str {
    include_str!("template.toml")
}
