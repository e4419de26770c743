//! `HookSettings`: which commands run at which events, from one or more files.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::hooks::event::HookEvent;
use crate::hooks::matcher::Matcher;
use crate::policy::{Rule, excerpt};
use crate::trust::TrustedContent;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookSettings {
    /// In file order.
    pub groups: Vec<HookGroup>,
    /// Problems for the authors of the settings.
    pub warnings: Vec<String>,
}

/// Hooks for one event that share a matcher.
#[derive(Debug, Clone, PartialEq)]
pub struct HookGroup {
    pub event: HookEvent,
    pub matcher: Matcher,
    pub hooks: Vec<CommandHook>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CommandHook {
    /// A shell line, or a program if `args` is set.
    pub command: String,
    /// The program's arguments. It then runs without a shell.
    pub args: Option<Vec<String>>,
    /// Defaults to the event's timeout.
    pub timeout: Option<Duration>,
    /// A rule that selects the calls it applies to.
    pub condition: Option<Rule>,
    pub execution: HookExecution,
    /// Shown while it runs.
    pub status_message: Option<String>,
    pub on_failure: HookFailurePolicy,
    /// `sandbox`: where it runs. Unless given, a project's hook runs inside the sandbox and the user's own outside.
    pub sandbox: Option<bool>,
    /// The settings file.
    pub source: Arc<str>,
    /// For project hooks: the file contents that must be unchanged.
    pub trusted_content: Option<Arc<TrustedContent>>,
}

/// Whether Rheon waits for a hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookExecution {
    /// Rheon does not wait, and the hook cannot decide anything.
    Background,
    /// The action waits for the hook.
    #[default]
    Foreground,
}

/// What to do if a hook cannot start, crashes, times out or prints invalid output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookFailurePolicy {
    /// Continue and notify the user.
    #[default]
    Allow,
    /// Block the action.
    Block,
}

impl HookSettings {
    /// Merges the hooks of several files in order.
    pub fn merged(files: impl IntoIterator<Item = Self>) -> Self {
        let mut merged = Self::default();
        for file in files {
            merged.groups.extend(file.groups);
            merged.warnings.extend(file.warnings);
        }
        merged
    }

    pub fn is_empty(&self) -> bool {
        self.groups.iter().all(|group| group.hooks.is_empty())
    }

    /// Whether any hook runs at `event`.
    pub fn has(&self, event: HookEvent) -> bool {
        self.groups.iter().any(|group| group.event == event && !group.hooks.is_empty())
    }

    pub fn hooks(&self) -> impl Iterator<Item = &CommandHook> {
        self.groups.iter().flat_map(|group| &group.hooks)
    }

    /// Restricts each hook to the file contents that `content_of` returns for it.
    pub(crate) fn with_trusted_content(
        mut self,
        content_of: impl Fn(&CommandHook) -> Arc<TrustedContent>,
    ) -> Self {
        for hook in self.groups.iter_mut().flat_map(|group| &mut group.hooks) {
            hook.trusted_content = Some(content_of(hook));
        }
        self
    }
}

impl CommandHook {
    /// A hook that is a function of the embedding program, known there as `id`. Runs only if callbacks are registered.
    pub fn callback(id: impl Into<String>) -> Self {
        Self {
            command: id.into(),
            args: None,
            timeout: None,
            condition: None,
            execution: HookExecution::Foreground,
            status_message: None,
            on_failure: HookFailurePolicy::Allow,
            sandbox: None,
            source: "callback".into(),
            trusted_content: None,
        }
    }

    /// Whether it runs inside the sandbox.
    pub fn is_sandboxed(&self) -> bool {
        self.sandbox.unwrap_or(self.trusted_content.is_some())
    }

    pub fn is_same_command(&self, other: &Self) -> bool {
        self.command == other.command && self.args == other.args
    }

    /// The name used in messages.
    pub fn title(&self) -> String {
        let args = self.args.iter().flatten().map(String::as_str);
        excerpt(&std::iter::once(self.command.as_str()).chain(args).collect::<Vec<_>>().join(" "))
    }
}

/// Environment variables that hold the project directory.
pub const PROJECT_VARIABLES: [&str; 2] = ["CLAUDE_PROJECT_DIR", "RHEON_PROJECT_DIR"];

/// Replaces `${CLAUDE_PROJECT_DIR}` and its alias with the project directory, as the exec form does.
pub fn expand_project_variables(text: &str, project: &str) -> String {
    PROJECT_VARIABLES.iter().fold(text.to_owned(), |text, name| {
        text.replace(&format!("${{{name}}}"), project).replace(&format!("${name}"), project)
    })
}

/// The files in a project or home directory that may contain hooks, in merge order.
pub fn settings_files() -> impl Iterator<Item = PathBuf> {
    [
        ".rheon/settings.json",
        ".rheon/settings.local.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
    ]
    .into_iter()
    .map(PathBuf::from)
}
