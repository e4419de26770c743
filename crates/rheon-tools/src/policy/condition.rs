//! `Condition`: whether a rule names any part of a call, for those who want to know no more than that.

use std::path::Path;

use serde_json::Value;

use crate::policy::call::{Action, Item, Surroundings};
use crate::policy::places::Places;
use crate::policy::policy_set::{BoundRule, PolicyError, Source};
use crate::policy::rule::{Pattern, Rule};
use crate::policy::shell_seam::Shell;
use crate::workspace::Workspace;

/// A rule, asked about calls outside of any policy.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    bound: BoundRule,
    places: Places,
}

impl Condition {
    /// The condition `rule`, whose patterns of paths count from the folders of `places`.
    pub(crate) fn new(rule: Rule, places: Places) -> Result<Self, PolicyError> {
        let bound = BoundRule::bind(rule, Source::Session, &places, &places.working_folder)?;
        Ok(Self { bound, places })
    }

    /// Whether the rule names any part of the call. What cannot be known or done counts as named.
    pub(crate) fn holds(&self, tool_name: &str, arguments: &Value, workspace: &Workspace) -> bool {
        let surroundings = Surroundings {
            workspace,
            shell: Shell::default(),
            shell_folder: Path::new(""),
            home: self.places.home.as_deref(),
        };
        let tool = Action::Tool { name: tool_name, arguments };
        let names = |action: &Action<'_>| self.bound.matches(action);
        let is_about_parts = !matches!(self.bound.rule.pattern(), Pattern::Tool(_) | Pattern::Server(_));
        names(&tool)
            || surroundings.take_apart(tool_name, arguments).iter().any(|item| match item {
                Item::Command(item) => names(&Action::Command(&item.words)),
                Item::Path { path, .. } => names(&Action::Path(path)),
                Item::Fetch { host } => names(&Action::Fetch { host }),
                Item::Named { name } => names(&Action::Named { tool: tool_name, name }),
                Item::Unknown(_) | Item::Impossible(_) => is_about_parts && self.is_about(tool_name),
                Item::Call => false,
            })
    }

    /// Whether the rule says anything about the tool at all.
    fn is_about(&self, tool_name: &str) -> bool {
        let written = self.bound.rule.text();
        let name = written.split_once('(').map_or(written, |(name, _)| name);
        name == tool_name
            || crate::policy::names::known(name).is_some_and(|tool| tool.name == tool_name)
            || crate::policy::names::kind_of(tool_name) == crate::policy::names::Kind::Shell
    }
}
