//! `ReadLayer`: one source of settings, parsed and checked.

use std::collections::BTreeSet;

use super::check::{Checked, KeyProblem, PROBLEMS_MAX, ProblemKind};
use super::entry::Entry;
use super::inputs::FlagSetting;
use super::inputs::FlagValue;
use super::keys::{KEYS, built_in, key};
use super::layer_text::{Form, LayerText};
use super::node::{Node, NodeKind, TextProblem};
use super::origin::{Layer, SettingOrigin, SourceName};
use super::problem::ConfigProblem;

/// One source of settings, parsed and checked.
#[derive(Debug)]
pub(super) struct ReadLayer {
    pub(super) source: LayerText,
    /// Whether the user's own answers wrote all of it.
    pub(super) holds_answers: bool,
    pub(super) entries: Vec<Entry>,
    pub(super) problems: Vec<ConfigProblem>,
    pub(super) warnings: Vec<ConfigProblem>,
}

/// The keys of Claude Code's settings that Rheon uses.
const CLAUDE_KEYS: [&str; 4] = ["permissions", "hooks", "model", "env"];

/// Claude Code's names of keys, and Rheon's.
const ALIASES: [(&str, &str); 4] = [
    ("defaultMode", "default_mode"),
    ("additionalDirectories", "additional_directories"),
    ("disableBypassPermissionsMode", "disable_bypass"),
    ("disableAutoMode", ""),
];

/// Whether the model in Claude Code's settings counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaudeModel {
    Counts,
    LeftOut,
}

impl ReadLayer {
    /// The defaults.
    pub(super) fn built_in() -> Self {
        let origin = SettingOrigin::built_in();
        let (directory, form, text) = (Default::default(), Form::Toml, built_in());
        let mut layer =
            Self::read(LayerText { origin, directory, form, text, in_project: None }, ClaudeModel::LeftOut);
        for entry in &mut layer.entries {
            entry.origin.line = None;
        }
        layer
    }

    /// The layer of command-line flags.
    pub(super) fn of_flags(flags: &[FlagSetting], directory: std::path::PathBuf) -> Self {
        let mut checked = Checked::default();
        let mut origin = SettingOrigin { layer: Layer::CommandLine, source: SourceName::BuiltIn, line: None };
        for FlagSetting { flag, key: path, value } in flags {
            origin.source = SourceName::Flag(flag.clone());
            let path = checked.current(path, &origin);
            let (section, name) = path.split_once('.').unwrap_or(("", &path));
            match key(section, name) {
                Some(row) => checked.leaf(&path, row, &of_flag(value), &origin),
                None => {
                    let known: Vec<&str> = KEYS.iter().map(|row| row.path).collect();
                    checked.unknown("", &path, &origin, &known);
                }
            }
        }
        let problems = checked.problems.into_iter().map(|problem| problem.finding).collect();
        let source = LayerText { origin, directory, form: Form::Toml, text: String::new(), in_project: None };
        Self { source, holds_answers: false, entries: checked.entries, problems, warnings: checked.warnings }
    }

    /// Parses and checks `source`.
    pub(super) fn read(source: LayerText, claude_model: ClaudeModel) -> Self {
        let origin = source.origin.clone();
        let text = source.text.strip_prefix('\u{feff}').unwrap_or(&source.text);
        let mut warnings = Vec::new();
        let (tree, found) = match source.form {
            Form::Toml => Node::from_toml(text),
            Form::Json | Form::ClaudeSettings | Form::McpServers | Form::Permissions => {
                match Node::from_json(text) {
                    Ok(tree) => (tree, Vec::new()),
                    Err(problem) => (empty(), vec![problem]),
                }
            }
        };
        let finding = |TextProblem { line, what }: TextProblem| ConfigProblem::new(&origin.at(line), what);
        let problems: Vec<ConfigProblem> = found.into_iter().take(PROBLEMS_MAX).map(finding).collect();
        let tree = match source.form {
            Form::Toml => tree,
            Form::Json => renamed(tree),
            Form::ClaudeSettings => claude_settings(tree, claude_model),
            Form::McpServers => {
                mcp_servers(tree, &mut |what| warnings.push(ConfigProblem::new(&origin, what)))
            }
            Form::Permissions => {
                let tree = Node { line: None, kind: NodeKind::Table(vec![("permissions".to_owned(), tree)]) };
                renamed(tree)
            }
        };
        let checked = Checked::of(&tree, &origin);
        warnings.extend(checked.warnings);
        let mut layer = Self { source, holds_answers: false, entries: checked.entries, problems, warnings };
        for KeyProblem { key, kind, finding } in checked.problems {
            // The user's own JSON may be a file of Claude Code, with keys that Rheon does not know.
            let is_theirs = layer.source.form == Form::Json && kind == ProblemKind::UnknownKey;
            if is_theirs || layer.is_foreign() && is_no_loss(&key) {
                layer.warnings.push(finding);
            } else {
                layer.problems.push(finding);
            }
        }
        // A file shared with other programs must not stop a session; one that the user named must be valid.
        if layer.source.form == Form::McpServers && origin.layer.is_project() {
            layer.warnings.append(&mut layer.problems);
        }
        layer
    }

    /// Notes whether it is one of the files that the user's own answers wrote.
    pub(super) fn mark_answers(&mut self, answer_files: &BTreeSet<String>) {
        let file = self.source.in_project.as_ref();
        self.holds_answers = file.is_some_and(|file| answer_files.contains(file.name));
    }

    /// Whether it is a file of another program, where unusable entries are ignored without an error.
    pub(super) fn is_foreign(&self) -> bool {
        match self.source.form {
            Form::ClaudeSettings | Form::McpServers => true,
            Form::Toml | Form::Json | Form::Permissions => false,
        }
    }
}

/// Whether ignoring `key` in another program's file is safe.
fn is_no_loss(key: &str) -> bool {
    let keys = ["permissions.allow", "permissions.additional_directories", "hooks", "mcp_servers", "model"];
    keys.iter().any(|known| key.starts_with(known))
}

fn empty() -> Node {
    Node { line: None, kind: NodeKind::Table(Vec::new()) }
}

fn of_flag(value: &FlagValue) -> Node {
    let kind = match value {
        FlagValue::Text(text) => NodeKind::Text(text.clone()),
        FlagValue::Number(number) => NodeKind::Number(number.clone()),
        FlagValue::Switch(value) => NodeKind::Switch(*value),
        FlagValue::List(list) => {
            let text = |text: &String| Node { line: None, kind: NodeKind::Text(text.clone()) };
            NodeKind::List(list.iter().map(text).collect())
        }
    };
    Node { line: None, kind }
}

/// What of Claude Code's settings means something here, under our names.
fn claude_settings(tree: Node, claude_model: ClaudeModel) -> Node {
    let NodeKind::Table(table) = tree.kind else {
        // Left unchanged, so that the check reports it.
        return tree;
    };
    let mut kept = Vec::new();
    for (key, mut node) in table {
        if key == "model" {
            node = match (&node.kind, claude_model) {
                (NodeKind::Text(name), ClaudeModel::Counts) if name.starts_with("claude-") => {
                    let name = name.split('[').next().unwrap_or(name);
                    Node { kind: NodeKind::Text(format!("anthropic/{name}")), ..node }
                }
                // Only Claude Code knows the short names.
                _ => continue,
            };
        }
        if CLAUDE_KEYS.contains(&key.as_str()) {
            kept.push((key, node));
        }
    }
    renamed(Node { line: tree.line, kind: NodeKind::Table(kept) })
}

/// The same with Rheon's names.
fn renamed(tree: Node) -> Node {
    let NodeKind::Table(table) = tree.kind else { return tree };
    let rename = |(key, node): (String, Node)| match (key.as_str(), node) {
        ("permissions", Node { line, kind: NodeKind::Table(inner) }) => {
            let inner = inner.into_iter().filter_map(|(key, node)| permission(key, node)).collect();
            (key, Node { line, kind: NodeKind::Table(inner) })
        }
        ("mcpServers", node) => ("mcp_servers".to_owned(), node),
        (_, node) => (key, node),
    };
    Node { line: tree.line, kind: NodeKind::Table(table.into_iter().map(rename).collect()) }
}

fn permission(key: String, node: Node) -> Option<(String, Node)> {
    let alias = ALIASES.iter().find(|(theirs, _)| *theirs == key).map(|(_, ours)| *ours);
    if alias == Some("") {
        return None;
    }
    let key = alias.map_or(key, str::to_owned);
    let kind = match (key.as_str(), node.kind) {
        ("default_mode", NodeKind::Text(mode)) if mode == "bypass" => {
            NodeKind::Text("bypassPermissions".to_owned())
        }
        ("disable_bypass", NodeKind::Text(word)) if word == "disable" => NodeKind::Switch(true),
        (_, kind) => kind,
    };
    Some((key, Node { line: node.line, kind }))
}

/// `{"mcpServers": {...}}` with Rheon's names, without servers of unknown type.
fn mcp_servers(tree: Node, warn: &mut dyn FnMut(String)) -> Node {
    let NodeKind::Table(table) = tree.kind else { return tree };
    let servers = table.into_iter().find(|(key, _)| key == "mcpServers").map(|(_, node)| node);
    let Some(mut servers) = servers else {
        warn("the key \"mcpServers\" is missing; add it and list the servers below it".to_owned());
        return empty();
    };
    if let NodeKind::Table(servers) = &mut servers.kind {
        servers.retain(|(name, node)| {
            let is_clear = node.child("url").is_none() || node.child("type").is_some();
            if !is_clear {
                warn(format!(
                    "the server {name:?} is left out: it has a \"url\" and no \"type\"; write \"type\": \"http\" or \"sse\""
                ));
            }
            is_clear
        });
    }
    Node { line: tree.line, kind: NodeKind::Table(vec![("mcp_servers".to_owned(), servers)]) }
}
