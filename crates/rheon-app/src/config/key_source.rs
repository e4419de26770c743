//! `KeySource`: where the key of a vendor is found, and how that becomes part of the vendor.

use std::fmt;

use secrecy::SecretString;

use super::entry_text::quoted;
use super::node::{Node, NodeKind};

/// Where the key of a vendor is found. Nothing is looked up before the first request that needs it.
#[derive(Debug, Clone)]
pub(super) enum KeySource {
    Env(String),
    /// This program prints it. Its time and output are limited, and the key is never shown.
    Command(Vec<String>),
    /// In the keyring of the desktop, under this name.
    Keyring(String),
    Literal(SecretString),
}

/// The program that asks the keyring. A program and no library: the libraries need D-Bus or a system library at build time, and
/// a missing program is only an error of the first request.
#[cfg(not(target_os = "macos"))]
const KEYRING: [&str; 5] = ["secret-tool", "lookup", "service", "rheon", "account"];
#[cfg(target_os = "macos")]
const KEYRING: [&str; 6] = ["security", "find-generic-password", "-w", "-s", "rheon", "-a"];

impl KeySource {
    /// Reads the value of `keys.NAME`.
    pub(super) fn read(node: &Node) -> Result<Self, String> {
        let shape = "write { env = \"NAME\" }, { command = [\"program\", \"argument\"] }, { keyring = \"name\" } or the key itself";
        let wrong = || Err(format!("{} is not a valid key source; {shape}", node.kind_name()));
        let table = match &node.kind {
            NodeKind::Text(text) if text.trim().is_empty() => {
                return Err(format!("the key is empty; {shape}"));
            }
            NodeKind::Text(text) => return Ok(Self::Literal(SecretString::from(text.trim()))),
            NodeKind::Table(table) => table,
            NodeKind::Number(_) | NodeKind::Switch(_) | NodeKind::List(_) | NodeKind::Other => {
                return wrong();
            }
        };
        let [(place, value)] = table.as_slice() else {
            return Err(format!("a key needs exactly one source; {shape}"));
        };
        match (place.as_str(), &value.kind) {
            ("env", NodeKind::Text(name)) if is_variable(name) => Ok(Self::Env(name.clone())),
            ("env", NodeKind::Text(_)) => {
                Err("\"env\" must be the name of an environment variable: letters, digits and _".to_owned())
            }
            ("keyring", NodeKind::Text(name)) if !name.is_empty() => Ok(Self::Keyring(name.clone())),
            ("command", NodeKind::List(words)) if !words.is_empty() => {
                let word = |node: &Node| match &node.kind {
                    NodeKind::Text(word) if !word.contains('\0') => Some(word.clone()),
                    NodeKind::Text(_)
                    | NodeKind::Number(_)
                    | NodeKind::Switch(_)
                    | NodeKind::List(_)
                    | NodeKind::Table(_)
                    | NodeKind::Other => None,
                };
                let words: Option<Vec<String>> = words.iter().map(word).collect();
                words.map(Self::Command).ok_or_else(|| "\"command\" must be a list of strings".to_owned())
            }
            _ => Err(format!("{place:?} is not a valid key source; {shape}")),
        }
    }

    /// The lines of the vendor's table for this source; none for a literal key.
    pub(super) fn vendor_text(&self, vendor: &str) -> Option<String> {
        let (key, value) = match self {
            Self::Env(name) => ("key_env", format!("[{}]", quoted(name))),
            Self::Command(words) => ("api_key_command", toml_text(&shell_line(words))),
            Self::Keyring(name) => {
                let words = KEYRING.iter().map(|word| (*word).to_owned()).chain([name.clone()]);
                ("api_key_command", toml_text(&shell_line(&words.collect::<Vec<_>>())))
            }
            Self::Literal(_) => return None,
        };
        Some(format!("[vendors.{}]\nauth.{key} = {value}\n", toml_text(vendor)))
    }
}

/// As TOML has it; the key itself is masked.
impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "{{ env = {} }}", quoted(name)),
            Self::Command(words) => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                write!(f, "{{ command = [{}] }}", words.join(", "))
            }
            Self::Keyring(name) => write!(f, "{{ keyring = {} }}", quoted(name)),
            Self::Literal(_) => f.write_str("\"***\""),
        }
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A line for `sh` that runs exactly these words.
fn shell_line(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    quoted.join(" ")
}

/// Any text as TOML.
fn toml_text(text: &str) -> String {
    toml::Value::from(text).to_string()
}
