//! `UserRules`: saves rules that the user answered "always" to in the user's settings file.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::policy::document::{DOCUMENT_BYTES_MAX, Document};
use crate::policy::rule::{Rule, RuleKind};

/// Adds rules to a settings file of the user. Other settings keep their values, with keys sorted by name. A file that
/// cannot be parsed is left alone.
#[derive(Debug, Clone)]
pub struct UserRules {
    file: PathBuf,
}

impl UserRules {
    /// Saves rules in `file`, which must not be in a repository.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into() }
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    pub(crate) fn add(&self, list: RuleKind, rules: &[Rule]) -> io::Result<()> {
        // The settings file may be a symlink into a dotfiles directory. Keep the symlink.
        let file = self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
        let dir = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir)?;
        // Locked until the new file is in place, so that two processes do not lose each other's rules.
        let lock = File::options().create(true).append(true).open(file.with_extension("lock"))?;
        lock.lock()?;
        let text = match fs::read_to_string(&file) {
            Ok(text) if text.len() > DOCUMENT_BYTES_MAX => return Err(io::ErrorKind::FileTooLarge.into()),
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let text = with_rules(&text, &self.file.display().to_string(), list, rules)?;
        let mut draft = tempfile::NamedTempFile::new_in(dir)?;
        draft.write_all(text.as_bytes())?;
        draft.as_file().sync_all()?;
        draft.persist(&file).map_err(|error| error.error)?;
        Ok(())
    }
}

/// The text of a settings file with these rules added. Text that the gate could not parse is an error.
pub(crate) fn with_rules(text: &str, file: &str, list: RuleKind, rules: &[Rule]) -> io::Result<String> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    Document::parse(file, text).map_err(io::Error::other)?;
    let mut settings: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))?;
    extend(&mut settings, list, rules).ok_or(io::ErrorKind::InvalidData)?;
    Ok(serde_json::to_string_pretty(&settings)? + "\n")
}

/// Adds the missing rules. `None` if the settings have an unexpected shape.
fn extend(settings: &mut Value, list: RuleKind, rules: &[Rule]) -> Option<()> {
    let object = || Value::Object(Map::new());
    let permissions = settings.as_object_mut()?.entry("permissions").or_insert_with(object);
    let entries =
        permissions.as_object_mut()?.entry(list.to_string()).or_insert_with(|| Value::Array(Vec::new()));
    let entries = entries.as_array_mut()?;
    for rule in rules {
        let text = Value::from(rule.text());
        if !entries.contains(&text) {
            entries.push(text);
        }
    }
    Some(())
}

#[cfg(test)]
#[path = "user_rules_tests.rs"]
mod tests;
