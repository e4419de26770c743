//! Checks a layer against the table of keys: every key is known and every value is valid.

use rheon_policy::{Rule, RuleEntry};
use rheon_sandbox::HostList;
use rheon_text::did_you_mean;
use rheon_types::MicroUsd;

use super::entry::{Entry, EntryStatus, Value};
use super::key::{Key, Takes};
use super::key_source::KeySource;
use super::keys::{is_section, key, names_in, renamed};
use super::node::{Node, NodeKind};
use super::origin::SettingOrigin;
use super::problem::ConfigProblem;
use crate::context::ContextSource;

/// The most items of one list.
const ITEMS_MAX: usize = 5_000;
/// Sources of earlier versions. To turn one off is not an error.
const REMOVED_SOURCES: [&str; 1] = ["complexity"];
/// A layer with more problems is not checked further.
pub(super) const PROBLEMS_MAX: usize = 100;
/// Keys of a vendor's table whose values are never shown.
const VENDOR_SECRETS: &[&str] = &["headers"];
/// Keys of a server's table whose values are never shown.
const SERVER_SECRETS: &[&str] = &["env", "headers", "http_headers"];

/// The checked entries of a layer.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub(super) entries: Vec<Entry>,
    pub(super) problems: Vec<KeyProblem>,
    pub(super) warnings: Vec<ConfigProblem>,
}

/// A problem at one key.
#[derive(Debug)]
pub(super) struct KeyProblem {
    pub(super) key: String,
    pub(super) kind: ProblemKind,
    pub(super) finding: ConfigProblem,
}

/// The kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProblemKind {
    UnknownKey,
    /// Its value is invalid.
    Misfit,
}

impl Checked {
    /// Checks the tree of a whole layer.
    pub(super) fn of(tree: &Node, origin: &SettingOrigin) -> Self {
        let mut checked = Self::default();
        checked.section("", tree, origin);
        checked
    }

    fn problem(&mut self, key: &str, origin: &SettingOrigin, what: String) {
        let (key, finding) = (key.to_owned(), ConfigProblem::new(origin, what));
        self.problems.push(KeyProblem { key, kind: ProblemKind::Misfit, finding });
    }

    /// Records an unknown key `name` in `section`, which is empty for the top level.
    pub(super) fn unknown(&mut self, section: &str, name: &str, origin: &SettingOrigin, known: &[&str]) {
        let key = if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
        let finding = ConfigProblem::new(origin, unknown("key", name, section, known));
        self.problems.push(KeyProblem { key, kind: ProblemKind::UnknownKey, finding });
    }

    /// The current path of the key `path`, which may be deprecated.
    pub(super) fn current(&mut self, path: &str, origin: &SettingOrigin) -> String {
        let Some(current) = renamed(path) else { return path.to_owned() };
        let message = format!("{path:?} is deprecated; use {current:?}");
        self.warnings.push(ConfigProblem::new(origin, message));
        current.to_owned()
    }

    fn section(&mut self, path: &str, node: &Node, origin: &SettingOrigin) {
        let NodeKind::Table(table) = &node.kind else {
            let what = format!("{path:?} is {}; it must be a table, [{path}]", node.kind_name());
            return self.problem(path, &origin.at(node.line), what);
        };
        for (name, node) in table {
            if self.problems.len() >= PROBLEMS_MAX {
                return;
            }
            let full = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let current = self.current(&full, &origin.at(node.line));
            match key(path, current.rsplit('.').next().unwrap_or(name)) {
                Some(row) => self.leaf(&current, row, node, &origin.at(node.line)),
                None if path.is_empty() && is_section(name) => self.section(name, node, origin),
                None => self.unknown(path, name, &origin.at(node.line), &names_in(path)),
            }
        }
    }

    /// Checks the value of one key.
    pub(super) fn leaf(&mut self, path: &str, row: &'static Key, node: &Node, origin: &SettingOrigin) {
        if !row.takes.is_list() {
            return self.item(path, row, node, origin);
        }
        let NodeKind::List(items) = &node.kind else {
            let what = format!("{path:?} is {}; it must be a {}", node.kind_name(), row.takes.describe());
            return self.problem(path, origin, what);
        };
        if items.len() > ITEMS_MAX {
            let what = format!("{path:?} has more than {ITEMS_MAX} items; remove some");
            return self.problem(path, origin, what);
        }
        for item in items {
            if self.problems.len() >= PROBLEMS_MAX {
                return;
            }
            self.item(path, row, item, &origin.at(item.line.or(origin.line)));
        }
    }

    fn item(&mut self, path: &str, row: &'static Key, node: &Node, origin: &SettingOrigin) {
        match value(row.takes, node) {
            Ok(value) => self.entries.push(Entry {
                key: path.to_owned(),
                row,
                value,
                origin: origin.clone(),
                standing: EntryStatus::Counts,
            }),
            Err(Misfit::Kind) => {
                let kind = node.kind_name();
                let wanted = row.takes.describe();
                let what = if row.takes.is_list() {
                    format!("{path:?} contains {kind}; it must be a {wanted}")
                } else {
                    format!("{path:?} is {kind}; it must be {}", with_article(&wanted))
                };
                self.problem(path, origin, what);
            }
            Err(Misfit::Value(what)) => {
                self.problem(path, origin, format!("{path:?}: {what}"));
            }
        }
    }
}

fn with_article(wanted: &str) -> String {
    match wanted {
        "true or false" | "true, false, or a directory" | "US dollars" => wanted.to_owned(),
        _ if wanted.starts_with('"') => format!("one of {wanted}"),
        _ => format!("a {wanted}"),
    }
}

/// `unknown key "modle", did you mean "model"?`
pub(super) fn unknown(what: &str, word: &str, section: &str, known: &[&str]) -> String {
    let shown: String = word.chars().take(60).collect();
    let place = if section.is_empty() { String::new() } else { format!(" in [{section}]") };
    let did_you_mean = did_you_mean(word, known);
    let joint = if did_you_mean.starts_with("did") { "," } else { ";" };
    format!("unknown {what} {shown:?}{place}{joint} {did_you_mean}")
}

/// Why a value is invalid.
enum Misfit {
    /// The wrong type, for example a number instead of a string.
    Kind,
    /// The right type, but an invalid value.
    Value(String),
}

fn value(takes: Takes, node: &Node) -> Result<Value, Misfit> {
    match (takes, &node.kind) {
        (Takes::Text | Takes::Texts | Takes::SwitchOrDir, NodeKind::Text(text)) if text.is_empty() => {
            Err(Misfit::Value("the text is empty; set it or remove the key".to_owned()))
        }
        (Takes::Text | Takes::Texts | Takes::SwitchOrDir, NodeKind::Text(text)) => {
            Ok(Value::Text(text.clone()))
        }
        (Takes::Choice(names), NodeKind::Text(text)) if names.contains(&text.as_str()) => {
            Ok(Value::Text(text.clone()))
        }
        (Takes::Choice(names), NodeKind::Text(text)) => Err(Misfit::Value(not_among(text, names))),
        (Takes::Switch | Takes::SwitchOrDir, NodeKind::Switch(value)) => Ok(Value::Switch(*value)),
        (Takes::Count(least, most), NodeKind::Number(number)) => count(number, least, most),
        (Takes::Money, NodeKind::Number(number)) => money(number).map(Value::Money).map_err(Misfit::Value),
        (Takes::Sources, NodeKind::Text(name)) if REMOVED_SOURCES.contains(&name.as_str()) => {
            Ok(Value::Text(name.clone()))
        }
        (Takes::Sources, NodeKind::Text(name)) => match name.parse::<ContextSource>() {
            Ok(source) => Ok(Value::Text(source.as_str().to_owned())),
            Err(problem) => Err(Misfit::Value(problem)),
        },
        (Takes::Rules(list), NodeKind::Text(text)) => match Rule::parse(text, list) {
            Ok(rule) => Ok(Value::Rule(RuleEntry { rule, matching: Vec::new(), not_matching: Vec::new() })),
            Err(error) => Err(Misfit::Value(error.to_string())),
        },
        (Takes::Rules(list), NodeKind::Table(table)) => rule_with_examples(list, table),
        (Takes::Network, NodeKind::Text(text)) => network([text.as_str()]),
        (Takes::Network, NodeKind::List(items)) => {
            let texts = items.iter().map(|item| match &item.kind {
                NodeKind::Text(text) => Ok(text.as_str()),
                _ => Err(Misfit::Kind),
            });
            network(texts.collect::<Result<Vec<_>, _>>()?)
        }
        (Takes::KeySource, _) => KeySource::read(node).map(Value::Key).map_err(Misfit::Value),
        (Takes::Vendor, NodeKind::Table(_)) => Ok(Value::Table(node.clone(), VENDOR_SECRETS)),
        (Takes::McpServer, NodeKind::Table(_)) => Ok(Value::Table(node.clone(), SERVER_SECRETS)),
        (Takes::Hooks, NodeKind::Table(_)) => Ok(Value::Table(node.clone(), &[])),
        (
            Takes::Text
            | Takes::Texts
            | Takes::Network
            | Takes::Choice(_)
            | Takes::Switch
            | Takes::SwitchOrDir
            | Takes::Count(..)
            | Takes::Money
            | Takes::Sources
            | Takes::Rules(_)
            | Takes::Vendor
            | Takes::McpServer
            | Takes::Hooks,
            _,
        ) => Err(Misfit::Kind),
    }
}

/// `open`, `blocked`, or hosts, which become one text with commas.
fn network<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Value, Misfit> {
    let entries: Vec<&str> = entries.into_iter().flat_map(|entry| entry.split(',')).map(str::trim).collect();
    match entries.as_slice() {
        ["open" | "blocked"] => {}
        [] => return Err(Misfit::Value("the list is empty; use \"blocked\"".to_owned())),
        hosts => {
            if let Some(word) = hosts.iter().find(|host| matches!(**host, "open" | "blocked")) {
                return Err(Misfit::Value(format!("{word:?} cannot be in a list of hosts; use it alone")));
            }
            HostList::parse(hosts).map_err(|error| Misfit::Value(error.to_string()))?;
        }
    }
    Ok(Value::Text(entries.join(", ")))
}

/// The message for an unknown value, with the allowed ones.
fn not_among(text: &str, names: &[&str]) -> String {
    let shown: String = text.chars().take(60).collect();
    let all: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    format!("unknown value {shown:?}; use one of {}", all.join(", "))
}

fn count(number: &str, least: u64, most: u64) -> Result<Value, Misfit> {
    match number.parse::<u64>() {
        Ok(count) if (least..=most).contains(&count) => Ok(Value::Count(count)),
        Ok(_) | Err(_) => {
            let wanted = Takes::Count(least, most).describe();
            Err(Misfit::Value(format!("{number} is out of range; use a {wanted}")))
        }
    }
}

/// Dollars as millionths, without floating point.
pub(super) fn money(number: &str) -> Result<MicroUsd, String> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let wrong = || format!("{number} is not an amount in dollars; write it like 2.50");
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return Err(wrong());
    }
    if fraction.trim_end_matches('0').len() > 6 {
        return Err(format!("{number} has more than six decimals; round it"));
    }
    let fraction: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let micros = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(1_000_000));
    let micros = micros.zip(fraction.parse::<u64>().ok()).and_then(|(whole, rest)| whole.checked_add(rest));
    match micros {
        Some(0) => Err("a budget of 0 lets nothing run; set an amount or remove the key".to_owned()),
        Some(micros) => Ok(MicroUsd(micros)),
        None => Err(wrong()),
    }
}

/// `{ rule = "...", match = [...], not_match = [...] }`.
fn rule_with_examples(list: rheon_policy::RuleKind, table: &[(String, Node)]) -> Result<Value, Misfit> {
    let (mut rule, mut matching, mut not_matching) = (None, Vec::new(), Vec::new());
    for (key, node) in table {
        match (key.as_str(), &node.kind) {
            ("rule", NodeKind::Text(text)) => {
                rule = Some(Rule::parse(text, list).map_err(|error| Misfit::Value(error.to_string()))?);
            }
            ("match", NodeKind::List(_)) => matching = texts(node)?,
            ("not_match", NodeKind::List(_)) => not_matching = texts(node)?,
            _ => return Err(Misfit::Value(unknown("key", key, "", &["rule", "match", "not_match"]))),
        }
    }
    match rule {
        Some(rule) => Ok(Value::Rule(RuleEntry { rule, matching, not_matching })),
        None => Err(Misfit::Value("the key \"rule\" is missing".to_owned())),
    }
}

fn texts(node: &Node) -> Result<Vec<String>, Misfit> {
    let NodeKind::List(items) = &node.kind else { return Err(Misfit::Kind) };
    let text = |item: &Node| match &item.kind {
        NodeKind::Text(text) => Ok(text.clone()),
        NodeKind::Number(_)
        | NodeKind::Switch(_)
        | NodeKind::List(_)
        | NodeKind::Table(_)
        | NodeKind::Other => Err(Misfit::Value("examples must be strings".to_owned())),
    };
    items.iter().map(text).collect()
}
