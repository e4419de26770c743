//! Permission rules, shell analysis and project trust: decides whether a tool call may run.
//!
//! A [`Rule`] is one line in Claude Code's syntax, a [`Document`] is a file of rules, a [`Policy`] is all files of a
//! session in order of precedence, and [`PolicyGate`] is the gate that enforces them. [`shell`] works out what a line
//! of bash would run, [`Workspace`] resolves paths, [`hooks`] reads which programs settings want to run, and [`trust`]
//! records which projects the user trusts. Nothing here starts a process, and the only
//! file of a project that it changes is the one of the user's own answers ([`ProjectRules`]).

#![allow(missing_docs)]

pub mod directory;
pub mod hooks;
mod policy;
mod saved_rules;
pub mod shell;
pub mod trust;
mod workspace;

pub use policy::{
    ActiveRule, CommandSandbox, Condition, Decision, DecisionReason, DeniedPathsError, Document,
    DocumentError, Explanation, ExplanationPart, FileFacts, KnownTool, PatternRoots, Policy, PolicyError,
    PolicyGate, PolicySource, PolicyTrust, ReadOnlyGate, Rule, RuleChange, RuleEntry, RuleError, RuleKind,
    RulePlace, RuleSink, RuleSource, Rules, SandboxRefusals, SandboxedCommands, ShellAnalyzer,
    ShellDirectory, ShellFacts, ToolKind, UserRules, excerpt, known_tool, mode_name, tool_name,
};
pub use saved_rules::{ProjectRules, SavedRules};
pub use workspace::{Access, DisplayPath, PathError, ResolvedPath, Workspace, names_directory};

#[cfg(test)]
mod workspace_tests;
