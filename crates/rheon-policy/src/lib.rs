//! Rules and shell lines become verdicts.
//!
//! [`Rule`] is one line in Claude Code's syntax, [`Document`] a file of them, [`Policy`] all files of a session in their order, and
//! [`PolicyGate`] the gate that follows them. [`shell`] says what a line of bash would run, [`Workspace`] where a path really leads,
//! [`hooks`] which programs settings want to run, and [`trust`] whether the user has agreed to those of a project. Nothing here
//! starts a process or changes a file of a project.

pub mod folder;
pub mod hooks;
mod policy;
pub mod shell;
pub mod trust;
mod workspace;

pub use policy::{
    Because, Condition, Decision, Document, DocumentError, Explanation, HeldCommands, Kind, KnownTool, List,
    ListedRule, Part, Places, Policy, PolicyError, PolicyGate, PolicySource, ReadOnly, Rule, RuleChange,
    RuleEntry, RuleError, RuleSink, Rules, Shell, ShellFacts, ShellFolder, Source, Trust, UserRules, brief,
    known, mode_name, tool_name,
};
pub use workspace::{Access, PathError, ResolvedPath, Shown, Workspace, names_folder};

#[cfg(test)]
mod workspace_tests;
