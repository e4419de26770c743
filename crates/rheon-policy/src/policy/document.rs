//! `Document`: a JSON file of permission rules. Parsing is strict: a mistake is an error, never a looser policy.

use std::fmt;

use rheon_text::{did_you_mean, nearest};
use rheon_types::event::PermissionMode;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::policy::rule::{Rule, RuleKind};

/// A file of rules: `{"permissions": {...}}`. Other top-level keys are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    pub default_mode: Option<PermissionMode>,
    pub allow: Vec<RuleEntry>,
    pub ask: Vec<RuleEntry>,
    pub deny: Vec<RuleEntry>,
    /// Added to the workspace. Relative paths start at the working directory.
    pub additional_directories: Vec<String>,
    /// Whether `bypassPermissions` mode is switched off.
    pub bypass_disabled: bool,
    pub warnings: Vec<String>,
}

/// A rule with optional examples: `"rule"`, or `{"rule", "match", "not_match"}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleEntry {
    pub rule: Rule,
    /// Commands, paths, URLs or names that the rule must match.
    pub matching: Vec<String>,
    /// Examples that the rule must not match.
    pub not_matching: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {name}: line {line}, column {column}: {problem}")]
pub struct DocumentError {
    pub name: String,
    /// Counted from 1; where parsing stopped.
    pub line: usize,
    pub column: usize,
    /// The problem and how to fix it.
    pub problem: String,
}

pub(crate) const DOCUMENT_BYTES_MAX: usize = 1024 * 1024;
/// Rules in one list.
pub(crate) const RULES_MAX: usize = 5_000;

const KEYS: [&str; 7] = [
    "defaultMode",
    "allow",
    "ask",
    "deny",
    "additionalDirectories",
    "disableBypassPermissionsMode",
    "disableAutoMode",
];
const ENTRY_KEYS: [&str; 3] = ["rule", "match", "not_match"];
const MODES: [(&str, PermissionMode); 7] = [
    ("default", PermissionMode::Default),
    ("acceptEdits", PermissionMode::AcceptEdits),
    ("plan", PermissionMode::Plan),
    ("dontAsk", PermissionMode::DontAsk),
    ("bypassPermissions", PermissionMode::BypassPermissions),
    ("bypass", PermissionMode::BypassPermissions),
    ("auto", PermissionMode::Auto),
];

impl Document {
    /// Parses `text`, the content of the file `name`.
    pub fn parse(name: &str, text: &str) -> Result<Self, DocumentError> {
        let fault = |(line, column), problem| DocumentError { name: name.to_owned(), line, column, problem };
        if text.len() > DOCUMENT_BYTES_MAX {
            let problem =
                format!("the file is larger than {DOCUMENT_BYTES_MAX} bytes; remove what is not needed");
            return Err(fault((1, 1), problem));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match serde_json::from_str::<Whole>(text) {
            Ok(Whole(document)) => Ok(document),
            Err(error) => {
                let message = error.to_string();
                let problem =
                    message.rsplit_once(" at line ").map_or(message.as_str(), |(problem, _)| problem);
                Err(fault((error.line().max(1), error.column().max(1)), problem.to_owned()))
            }
        }
    }

    /// All rules in evaluation order: deny, ask, allow.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = RuleEntry> {
        self.deny.into_iter().chain(self.ask).chain(self.allow)
    }
}

struct Whole(Document);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Whole;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object such as {\"permissions\": {\"deny\": [\"Read(./.env)\"]}}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Whole, A::Error> {
                let mut found = None;
                while let Some(key) = map.next_key::<String>()? {
                    if key == "permissions" {
                        let Permissions(document) = map.next_value()?;
                        once(&mut found, document, &key)?;
                    } else if nearest(&key, ["permissions", "permission"]).is_some()
                        || KEYS.contains(&key.as_str())
                    {
                        // Ignoring a misspelled key would silently drop the rules in it.
                        return Err(A::Error::custom(format!(
                            "unknown key {key:?}; rules belong in \"permissions\""
                        )));
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Whole(found.unwrap_or_default()))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// The value of `permissions`.
struct Permissions(Document);

impl<'de> Deserialize<'de> for Permissions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Permissions;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of rules such as {\"allow\": [], \"ask\": [], \"deny\": []}")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Permissions, A::Error> {
                read_permissions(map).map(Permissions)
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

fn read_permissions<'de, A: MapAccess<'de>>(mut map: A) -> Result<Document, A::Error> {
    let (mut mode, mut allow, mut ask, mut deny) = (None, None, None, None);
    let (mut directories, mut bypass, mut auto) = (None, None, None);
    let mut warnings = Vec::new();
    while let Some(key) = map.next_key::<String>()? {
        match key.as_str() {
            "defaultMode" => {
                let word: String = map.next_value()?;
                once(&mut mode, read_mode(&word, &mut warnings).map_err(A::Error::custom)?, &key)?;
            }
            "allow" => once(&mut allow, map.next_value_seed(Rules(RuleKind::Allow))?, &key)?,
            "ask" => once(&mut ask, map.next_value_seed(Rules(RuleKind::Ask))?, &key)?,
            "deny" => once(&mut deny, map.next_value_seed(Rules(RuleKind::Deny))?, &key)?,
            "additionalDirectories" => once(&mut directories, map.next_value::<Vec<String>>()?, &key)?,
            "disableBypassPermissionsMode" => once(&mut bypass, disabled(&key, map.next_value()?)?, &key)?,
            "disableAutoMode" => once(&mut auto, disabled(&key, map.next_value()?)?, &key)?,
            other => {
                return Err(A::Error::custom(format!(
                    "unknown key {other:?}; {}",
                    did_you_mean(other, &KEYS)
                )));
            }
        }
    }
    let document = Document {
        default_mode: mode,
        allow: allow.unwrap_or_default(),
        ask: ask.unwrap_or_default(),
        deny: deny.unwrap_or_default(),
        additional_directories: directories.unwrap_or_default(),
        bypass_disabled: bypass.is_some(),
        warnings,
    };
    Ok(document)
}

fn read_mode(word: &str, warnings: &mut Vec<String>) -> Result<PermissionMode, String> {
    let Some((name, mode)) = MODES.iter().find(|(name, _)| *name == word) else {
        let names: Vec<&str> = MODES.iter().map(|(name, _)| *name).filter(|name| *name != "auto").collect();
        return Err(format!("unknown mode {word:?}; {}", did_you_mean(word, &names)));
    };
    if *name == "auto" {
        warnings.push("Rheon has no mode \"auto\"; using \"default\"".into());
    }
    Ok(*mode)
}

/// Checks a switch whose only value is `"disable"`.
fn disabled<E: serde::de::Error>(key: &str, word: String) -> Result<(), E> {
    if word == "disable" { Ok(()) } else { Err(E::custom(format!("{key:?} must be \"disable\""))) }
}

fn once<T, E: serde::de::Error>(slot: &mut Option<T>, value: T, key: &str) -> Result<(), E> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::custom(format!("duplicate key {key:?}; merge them"))),
    }
}

struct Rules(RuleKind);

impl<'de> serde::de::DeserializeSeed<'de> for Rules {
    type Value = Vec<RuleEntry>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rules {
    type Value = Vec<RuleEntry>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rules such as [\"Bash(git status)\"]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element_seed(Entry(self.0))? {
            if entries.len() == RULES_MAX {
                return Err(A::Error::custom(format!(
                    "a list can have at most {RULES_MAX} rules; use patterns"
                )));
            }
            entries.push(entry);
        }
        Ok(entries)
    }
}

/// One rule, with or without examples.
struct Entry(RuleKind);

impl<'de> serde::de::DeserializeSeed<'de> for Entry {
    type Value = RuleEntry;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Entry {
    type Value = RuleEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a rule such as \"Bash(git status)\", or {\"rule\": ..., \"match\": [...], \"not_match\": [...]}",
        )
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        let rule = Rule::parse(text, self.0).map_err(E::custom)?;
        Ok(RuleEntry { rule, matching: Vec::new(), not_matching: Vec::new() })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut rule, mut matching, mut not_matching) = (None, None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "rule" => {
                    let text: String = map.next_value()?;
                    once(&mut rule, Rule::parse(&text, self.0).map_err(A::Error::custom)?, &key)?;
                }
                "match" => once(&mut matching, map.next_value::<Vec<String>>()?, &key)?,
                "not_match" => once(&mut not_matching, map.next_value::<Vec<String>>()?, &key)?,
                other => {
                    let problem = format!("unknown key {other:?}; {}", did_you_mean(other, &ENTRY_KEYS));
                    return Err(A::Error::custom(problem));
                }
            }
        }
        let rule = rule.ok_or_else(|| A::Error::custom("missing key \"rule\""))?;
        Ok(RuleEntry {
            rule,
            matching: matching.unwrap_or_default(),
            not_matching: not_matching.unwrap_or_default(),
        })
    }
}
