//! `Entry`: one layer's value of one key.

use std::fmt;

use rheon_policy::RuleEntry;
use rheon_text::visible;
use rheon_types::MicroUsd;
use secrecy::SecretString;

use super::entry_text::quoted;
use super::key::Key;
use super::key_source::KeySource;
use super::node::{Node, NodeKind};
use super::origin::SettingOrigin;

/// One layer's value of one key, or one item of its list.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// With dots, and the real name where the row has `*`.
    pub(super) key: String,
    pub(super) row: &'static Key,
    pub(super) value: Value,
    pub(super) origin: SettingOrigin,
    pub(super) standing: EntryStatus,
}

/// Whether it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EntryStatus {
    Counts,
    Overridden,
    /// Ignored for this reason.
    LeftOut(&'static str),
}

/// A value that fits its key.
#[derive(Clone)]
pub(super) enum Value {
    Text(String),
    Switch(bool),
    Count(u64),
    Money(MicroUsd),
    Rule(RuleEntry),
    Key(KeySource),
    /// A table for another reader; the values under these keys are secrets.
    Table(Node, &'static [&'static str]),
}

impl Value {
    /// For comparisons: a number.
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Self::Count(number) | Self::Money(MicroUsd(number)) => Some(*number),
            Self::Text(_) | Self::Switch(_) | Self::Rule(_) | Self::Key(_) | Self::Table(..) => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Switch(_)
            | Self::Count(_)
            | Self::Money(_)
            | Self::Rule(_)
            | Self::Key(_)
            | Self::Table(..) => None,
        }
    }

    pub(super) fn switch(&self) -> Option<bool> {
        match self {
            Self::Switch(value) => Some(*value),
            Self::Text(_)
            | Self::Count(_)
            | Self::Money(_)
            | Self::Rule(_)
            | Self::Key(_)
            | Self::Table(..) => None,
        }
    }

    /// The key itself, if the value contains it.
    pub(super) fn literal(&self) -> Option<&SecretString> {
        match self {
            Self::Key(KeySource::Literal(secret)) => Some(secret),
            Self::Key(KeySource::Env(_) | KeySource::Command(_) | KeySource::Keyring(_))
            | Self::Text(_)
            | Self::Switch(_)
            | Self::Count(_)
            | Self::Money(_)
            | Self::Rule(_)
            | Self::Table(..) => None,
        }
    }
}

/// The same as for people: tables may hold secrets.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// As TOML has it, with secrets masked.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Switch(value) => write!(f, "{value}"),
            Self::Count(count) => write!(f, "{count}"),
            Self::Money(MicroUsd(micros)) => {
                let fraction = format!("{:06}", micros % 1_000_000);
                let shown = fraction.trim_end_matches('0');
                let shown = if shown.len() < 2 { fraction.get(..2).unwrap_or("00") } else { shown };
                write!(f, "{}.{shown}", micros / 1_000_000)
            }
            Self::Rule(entry) => f.write_str(&quoted(entry.rule.text())),
            Self::Key(source) => write!(f, "{source}"),
            Self::Table(node, secrets) => write_node(f, node, secrets),
        }
    }
}

fn write_node(f: &mut fmt::Formatter<'_>, node: &Node, secrets: &[&str]) -> fmt::Result {
    match &node.kind {
        NodeKind::Text(text) => f.write_str(&quoted(text)),
        NodeKind::Number(number) => f.write_str(number),
        NodeKind::Switch(value) => write!(f, "{value}"),
        NodeKind::Other => f.write_str("?"),
        NodeKind::List(list) => {
            f.write_str("[")?;
            for (index, item) in list.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                write_node(f, item, secrets)?;
            }
            f.write_str("]")
        }
        NodeKind::Table(table) => {
            f.write_str("{ ")?;
            for (index, (key, item)) in table.iter().enumerate() {
                write!(f, "{}{} = ", if index == 0 { "" } else { ", " }, visible(key))?;
                if secrets.contains(&key.as_str()) {
                    write_masked(f, item)?;
                } else {
                    write_node(f, item, secrets)?;
                }
            }
            f.write_str(" }")
        }
    }
}

/// The names, and nothing of the values.
fn write_masked(f: &mut fmt::Formatter<'_>, node: &Node) -> fmt::Result {
    let NodeKind::Table(table) = &node.kind else { return f.write_str("\"***\"") };
    let names: Vec<String> = table.iter().map(|(key, _)| format!("{} = \"***\"", visible(key))).collect();
    write!(f, "{{ {} }}", names.join(", "))
}
