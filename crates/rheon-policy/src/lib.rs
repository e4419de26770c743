//! Rules and shell lines become verdicts.
//!
//! [`Rule`] is one line in Claude Code's syntax, [`Document`] a file of them, [`Policy`] all files of a session in their order, and
//! [`PolicyGate`] the gate that follows them. [`shell`] says what a line of bash would run, [`Workspace`] where a path really leads,
//! [`hooks`] which programs settings want to run, and [`trust`] whether the user has agreed to those of a project. Nothing here
//! starts a process or changes a file of a project.

pub mod directory;
pub mod hooks;
mod policy;
pub mod shell;
pub mod trust;
mod workspace;

pub use policy::{
    ActiveRule, Condition, Decision, DecisionReason, Document, DocumentError, Explanation, ExplanationPart,
    KnownTool, PatternRoots, Policy, PolicyError, PolicyGate, PolicySource, PolicyTrust, ReadOnlyGate, Rule,
    RuleChange, RuleEntry, RuleError, RuleKind, RuleSink, RuleSource, Rules, SandboxedCommands,
    ShellAnalyzer, ShellDirectory, ShellFacts, ToolKind, UserRules, excerpt, known_tool, mode_name,
    tool_name,
};
pub use workspace::{Access, DisplayPath, PathError, ResolvedPath, Workspace, names_directory};

#[cfg(test)]
mod workspace_tests;
