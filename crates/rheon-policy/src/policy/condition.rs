//! `Condition`: whether a rule names any part of a call, for those who want to know no more than that.

use std::path::Path;

use serde_json::Value;

use crate::policy::call::{Action, Item, Surroundings, line_of};
use crate::policy::names::{ToolKind, kind_of};
use crate::policy::paths::PatternRoots;
use crate::policy::policy_set::{BoundRule, PolicyError, RuleSource};
use crate::policy::rule::{Pattern, Rule};
use crate::policy::shell_analyzer::ShellAnalyzer;
use crate::workspace::Workspace;

/// A rule, asked about calls outside of any policy.
#[derive(Debug, Clone)]
pub struct Condition {
    bound: BoundRule,
    roots: PatternRoots,
}

impl Condition {
    /// The condition `rule`, whose patterns of paths count from the folders of `places`.
    pub fn new(rule: Rule, roots: PatternRoots) -> Result<Self, PolicyError> {
        let bound = BoundRule::bind(rule, RuleSource::Session, &roots, &roots.working_folder)?;
        Ok(Self { bound, roots })
    }

    /// Whether the rule names any part of the call. What cannot be known or done counts as named.
    pub fn holds(&self, tool_name: &str, arguments: &Value, workspace: &Workspace) -> bool {
        let shell = ShellAnalyzer::default();
        let analysis = line_of(tool_name, arguments).map(shell.analyze);
        let surroundings = Surroundings {
            workspace,
            shell,
            analysis: analysis.as_ref(),
            shell_folder: Path::new(""),
            home: self.roots.home.as_deref(),
        };
        let tool = Action::Tool { name: tool_name, arguments };
        let names = |action: &Action<'_>| self.bound.matches(action);
        names(&tool)
            || surroundings.take_apart(tool_name, arguments).iter().any(|item| match item {
                Item::Command(item) => names(&Action::Command(&item.words)),
                Item::Path { path, .. } => names(&Action::Path(path)),
                Item::Fetch { host } => names(&Action::Fetch { host }),
                Item::Named { name } => names(&Action::Named { tool: tool_name, name }),
                Item::Unknown(_) | Item::Impossible(_) => self.is_about(tool_name),
                Item::Call => false,
            })
    }

    /// Whether the rule says anything about what calls of the tool do.
    fn is_about(&self, tool_name: &str) -> bool {
        match (self.bound.rule.pattern(), kind_of(tool_name)) {
            (Pattern::Command(_), kind) => kind == ToolKind::Shell,
            (Pattern::Path { .. }, kind) => matches!(kind, ToolKind::Shell | ToolKind::Read | ToolKind::Edit),
            (Pattern::Domain(_), kind) => kind == ToolKind::Fetch,
            (
                Pattern::Tool(_)
                | Pattern::Server(_)
                | Pattern::Named { .. }
                | Pattern::Argument { .. }
                | Pattern::Nothing,
                _,
            ) => false,
        }
    }
}
