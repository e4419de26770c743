//! `Condition`: matches a single rule against calls, outside of any policy.

use std::path::Path;

use serde_json::Value;

use crate::policy::call::{Action, CallContext, Item, line_of};
use crate::policy::destinations::SourceDepth;
use crate::policy::names::{ToolKind, kind_of};
use crate::policy::paths::PatternRoots;
use crate::policy::policy_set::{BoundRule, PolicyError, RuleSource};
use crate::policy::rule::{Pattern, Rule};
use crate::policy::shell_analyzer::ShellAnalyzer;
use crate::workspace::Workspace;

/// A rule used as a condition, for example the `if` of a hook.
#[derive(Debug, Clone)]
pub struct Condition {
    bound: BoundRule,
    roots: PatternRoots,
}

impl Condition {
    /// Path patterns of `rule` are relative to `roots`.
    pub fn new(rule: Rule, roots: PatternRoots) -> Result<Self, PolicyError> {
        let bound = BoundRule::bind(rule, RuleSource::Session, &roots, &roots.working_dir)?;
        Ok(Self { bound, roots })
    }

    /// Whether the rule matches any part of the call. Parts that cannot be analyzed count as a match.
    pub fn holds(&self, tool_name: &str, arguments: &Value, workspace: &Workspace) -> bool {
        let shell = ShellAnalyzer::default();
        let analysis = line_of(tool_name, arguments).map(shell.analyze);
        let context = CallContext {
            workspace,
            shell,
            analysis: analysis.as_ref(),
            shell_dir: Path::new(""),
            home: self.roots.home.as_deref(),
            source_depth: SourceDepth::Name,
        };
        let tool = Action::Tool { name: tool_name, arguments };
        let names = |action: &Action<'_>| self.bound.matches(action);
        names(&tool)
            || context.take_apart(tool_name, arguments).iter().any(|item| match item {
                Item::Command(item) => names(&Action::Command(&item.words)),
                Item::Path { path, .. } => names(&Action::Path(path)),
                Item::Fetch { host } => names(&Action::Fetch { host }),
                Item::Named { name } => names(&Action::Named { tool: tool_name, name }),
                Item::Possible(words) => names(&Action::Command(words)),
                Item::Unknown(_) | Item::Hidden(_) | Item::UnknownFiles { .. } | Item::Impossible(_) => {
                    self.is_about(tool_name)
                }
                Item::Call => false,
            })
    }

    /// Whether the rule can match calls of this tool at all.
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
                | Pattern::Network(_)
                | Pattern::Unsandboxed(_),
                _,
            ) => false,
        }
    }
}
