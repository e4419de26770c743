//! `SavedRules`: saves the rules that the user answered "always" to, for this project or for all of them.

use std::path::PathBuf;

use crate::policy::{Rule, RuleKind, RulePlace, RuleSink, UserRules, with_rules};
use crate::trust::{TrustError, TrustStore};

/// Saves rules for later sessions, and reports what cannot be saved.
pub struct SavedRules {
    pub user: Option<UserRules>,
    pub project: Option<ProjectRules>,
    pub on_failure: Box<dyn Fn(&str) + Send + Sync>,
}

/// Adds rules to a local settings file of a project, and remembers that the user's own answer wrote it: it counts without
/// another question, until something else changes it.
#[derive(Debug, Clone)]
pub struct ProjectRules {
    project: PathBuf,
    /// Relative to the project.
    file: String,
    trust_store: PathBuf,
}

impl ProjectRules {
    pub fn new(
        project: impl Into<PathBuf>,
        file: impl Into<String>,
        trust_store: impl Into<PathBuf>,
    ) -> Self {
        Self { project: project.into(), file: file.into(), trust_store: trust_store.into() }
    }

    fn add(&self, list: RuleKind, rules: &[Rule]) -> Result<(), TrustError> {
        let store = TrustStore::open(&self.trust_store)?;
        store.edit_answers(&self.project, &self.file, |text| with_rules(text, &self.file, list, rules))
    }
}

impl RuleSink for SavedRules {
    fn save(&self, place: RulePlace, list: RuleKind, rules: &[Rule]) {
        let saved = match (place, &self.user, &self.project) {
            (RulePlace::User, Some(user), _) => {
                user.add(list, rules).map_err(|error| format!("{}: {error}", user.file().display()))
            }
            (RulePlace::Project, _, Some(project)) => {
                project.add(list, rules).map_err(|error| error.to_string())
            }
            (RulePlace::User, None, _) => Err("cannot find your configuration directory".to_owned()),
            (RulePlace::Project, _, None) => Err("this directory is not a project".to_owned()),
        };
        if let Err(problem) = saved {
            let rules: Vec<&str> = rules.iter().map(Rule::text).collect();
            let rules = rules.join(", ");
            (self.on_failure)(&format!("cannot save {rules}: {problem}; it applies to this session only"));
        }
    }
}

#[cfg(test)]
#[path = "saved_rules_tests.rs"]
mod tests;
