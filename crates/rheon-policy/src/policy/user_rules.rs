//! `UserRules`: saves rules that the user answered "always" to in the user's settings file.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::policy::document::{DOCUMENT_BYTES_MAX, Document};
use crate::policy::gate::RuleSink;
use crate::policy::rule::{Rule, RuleKind};

type OnFailure = dyn Fn(&str) + Send + Sync;

/// Adds rules to a settings file of the user. Other settings keep their values, with keys sorted by name. A file that
/// cannot be parsed is left alone.
pub struct UserRules {
    file: PathBuf,
    on_failure: Box<OnFailure>,
}

impl UserRules {
    /// Saves rules in `file`, which must not be in a repository. Failures are passed to `on_failure`.
    pub fn new(file: impl Into<PathBuf>, on_failure: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { file: file.into(), on_failure: Box::new(on_failure) }
    }

    fn add(&self, list: RuleKind, rules: &[Rule]) -> io::Result<()> {
        // The settings file may be a symlink into a dotfiles directory. Keep the symlink.
        let file = self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        // Locked until the new file is in place, so that two processes do not lose each other's rules.
        let lock = File::options().create(true).append(true).open(file.with_extension("lock"))?;
        lock.lock()?;
        let text = match fs::read_to_string(&file) {
            Ok(text) if text.len() > DOCUMENT_BYTES_MAX => return Err(io::ErrorKind::FileTooLarge.into()),
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => "{}".to_owned(),
            Err(error) => return Err(error),
        };
        // Do not overwrite what the gate could not parse.
        Document::parse(&self.file.display().to_string(), &text).map_err(io::Error::other)?;
        let mut settings: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))?;
        extend(&mut settings, list, rules).ok_or(io::ErrorKind::InvalidData)?;
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut draft, &settings)?;
        draft.write_all(b"\n")?;
        draft.as_file().sync_all()?;
        draft.persist(&file).map_err(|error| error.error)?;
        Ok(())
    }
}

impl RuleSink for UserRules {
    fn save(&self, list: RuleKind, rules: &[Rule]) {
        if let Err(error) = self.add(list, rules) {
            let shown: Vec<&str> = rules.iter().map(Rule::text).collect();
            let (rules, file) = (shown.join(", "), self.file.display());
            (self.on_failure)(&format!(
                "cannot save {rules} in {file}: {error}; it applies to this session only"
            ));
        }
    }
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
