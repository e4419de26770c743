//! `HookSettings`: which commands are run at which events, from one file or several.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::hooks::event::HookEvent;
use crate::hooks::matcher::Matcher;
use crate::policy::{Rule, excerpt};
use crate::trust::TrustedContent;

/// Which commands are run at which events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookSettings {
    /// Groups in the order of their files.
    pub groups: Vec<HookGroup>,
    /// What their authors should know.
    pub warnings: Vec<String>,
}

/// Hooks for one event that share a matcher.
#[derive(Debug, Clone, PartialEq)]
pub struct HookGroup {
    /// When they run.
    pub event: HookEvent,
    /// For what.
    pub matcher: Matcher,
    /// What runs.
    pub hooks: Vec<CommandHook>,
}

/// One command.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandHook {
    /// A line for the shell; with `args`, a program.
    pub command: String,
    /// The arguments of the program, which then runs without a shell.
    pub args: Option<Vec<String>>,
    /// How long it may take; the event decides unless given.
    pub timeout: Option<Duration>,
    /// Which calls it is for, as a rule.
    pub condition: Option<Rule>,
    /// Whether anybody waits for it.
    pub execution: HookExecution,
    /// What is shown while it runs.
    pub status_message: Option<String>,
    /// What its failure means.
    pub on_failure: HookFailurePolicy,
    /// The file that it comes from.
    pub source: Arc<str>,
    /// What its files must hold, where it comes from a project.
    pub trusted_content: Option<Arc<TrustedContent>>,
}

/// Whether anybody waits for a hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookExecution {
    /// Nobody: it runs in the background and cannot decide anything.
    Background,
    /// What it is asked about waits for it.
    #[default]
    Foreground,
}

/// What it means that a hook cannot be started, crashes, takes too long, or says what cannot be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookFailurePolicy {
    /// What it was asked about goes on, and the user is told.
    #[default]
    Allow,
    /// What it was asked about does not happen.
    Block,
}

impl HookSettings {
    /// The hooks of several files together, in this order.
    pub fn merged(files: impl IntoIterator<Item = Self>) -> Self {
        let mut merged = Self::default();
        for file in files {
            merged.groups.extend(file.groups);
            merged.warnings.extend(file.warnings);
        }
        merged
    }

    /// Whether nothing would ever run.
    pub fn is_empty(&self) -> bool {
        self.groups.iter().all(|group| group.hooks.is_empty())
    }

    /// Whether anything could run at `event`.
    pub fn has(&self, event: HookEvent) -> bool {
        self.groups.iter().any(|group| group.event == event && !group.hooks.is_empty())
    }

    /// All hooks.
    pub fn hooks(&self) -> impl Iterator<Item = &CommandHook> {
        self.groups.iter().flat_map(|group| &group.hooks)
    }

    /// The same hooks, which run only while their files hold what `seal_of` says.
    pub(crate) fn sealed(mut self, seal_of: impl Fn(&CommandHook) -> Arc<TrustedContent>) -> Self {
        for hook in self.groups.iter_mut().flat_map(|group| &mut group.hooks) {
            hook.trusted_content = Some(seal_of(hook));
        }
        self
    }
}

impl CommandHook {
    /// A hook that is a function of another program, known there as `id`. Only hooks that were made with callbacks call it.
    pub fn callback(id: impl Into<String>) -> Self {
        Self {
            command: id.into(),
            args: None,
            timeout: None,
            condition: None,
            execution: HookExecution::Foreground,
            status_message: None,
            on_failure: HookFailurePolicy::Allow,
            source: "callback".into(),
            trusted_content: None,
        }
    }

    /// Whether both run the same.
    pub fn is_same_command(&self, other: &Self) -> bool {
        self.command == other.command && self.args == other.args
    }

    /// How it is named in messages.
    pub fn title(&self) -> String {
        let args = self.args.iter().flatten().map(String::as_str);
        excerpt(&std::iter::once(self.command.as_str()).chain(args).collect::<Vec<_>>().join(" "))
    }
}

/// Where hooks of a project may name the folder of the project.
pub const PROJECT_VARIABLES: [&str; 2] = ["CLAUDE_PROJECT_DIR", "RHEON_PROJECT_DIR"];

/// `text` with the project's folder in the place of `${CLAUDE_PROJECT_DIR}` and its like, as the exec form has it.
pub fn expand_project_variables(text: &str, project: &str) -> String {
    PROJECT_VARIABLES.iter().fold(text.to_owned(), |text, name| {
        text.replace(&format!("${{{name}}}"), project).replace(&format!("${name}"), project)
    })
}

/// The files of a project or a home that may hold hooks, in the order in which they are merged.
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
