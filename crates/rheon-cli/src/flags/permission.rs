//! Flags that say what may be done without asking.

use std::path::PathBuf;

use clap::ValueEnum;
use rheon_types::event::PermissionMode;

use crate::ground::Ground;

/// What may be done without asking.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Permissions")]
pub(crate) struct PermissionFlags {
    /// What may run without asking: rules such as "Bash(git *)" or "Edit"; separate several by commas or spaces
    #[arg(long, visible_alias = "allowedTools", value_name = "RULES", num_args = 1.., action = clap::ArgAction::Append)]
    pub(crate) allowed_tools: Vec<String>,

    /// What may not run, or not even be known to the model
    #[arg(long, visible_alias = "disallowedTools", value_name = "RULES", num_args = 1.., action = clap::ArgAction::Append)]
    pub(crate) disallowed_tools: Vec<String>,

    /// The only tools to offer, by name; "default" for all, "" for none
    #[arg(long, value_name = "TOOLS", num_args = 1.., action = clap::ArgAction::Append)]
    pub(crate) tools: Option<Vec<String>>,

    /// How much may be done without asking
    #[arg(long, value_name = "MODE")]
    pub(crate) permission_mode: Option<ModeFlag>,

    /// Ask nothing: the same as --permission-mode bypassPermissions
    #[arg(long, conflicts_with = "permission_mode")]
    pub(crate) dangerously_skip_permissions: bool,

    /// Another folder that tools may work in
    #[arg(long, value_name = "FOLDER", num_args = 1.., action = clap::ArgAction::Append)]
    pub(crate) add_dir: Vec<PathBuf>,

    /// Run commands without a sandbox, where the machine has none
    #[arg(long)]
    pub(crate) no_sandbox: bool,

    /// Let commands reach the network
    #[arg(long)]
    pub(crate) network: bool,

    /// Trust what this project brings along (hooks, skills, commands, MCP servers) for this run
    #[arg(long)]
    pub(crate) trust: bool,
}

impl PermissionFlags {
    /// The same wherever the session works.
    pub(crate) fn seen_from(&self, ground: &Ground) -> Self {
        let add_dir = self.add_dir.iter().map(|folder| ground.user_path(folder)).collect();
        Self { add_dir, ..self.clone() }
    }
}

/// How much may be done without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeFlag {
    /// Looking is free, changes ask
    #[value(name = "default")]
    Default,
    /// Changes to files of the workspace are free too
    #[value(name = "acceptEdits", alias = "accept-edits")]
    AcceptEdits,
    /// Nothing changes until a plan is approved
    #[value(name = "plan")]
    Plan,
    /// What would ask is refused
    #[value(name = "dontAsk", alias = "dont-ask")]
    DontAsk,
    /// Nothing asks; what is forbidden stays forbidden
    #[value(name = "bypassPermissions", alias = "bypass-permissions", alias = "bypass")]
    BypassPermissions,
    /// A mode of Claude Code in which a model decides; here somebody is asked instead
    #[value(name = "auto", hide = true)]
    Auto,
}

impl ModeFlag {
    /// The mode.
    pub(crate) fn mode(self) -> PermissionMode {
        match self {
            Self::Default | Self::Auto => PermissionMode::Default,
            Self::AcceptEdits => PermissionMode::AcceptEdits,
            Self::Plan => PermissionMode::Plan,
            Self::DontAsk => PermissionMode::DontAsk,
            Self::BypassPermissions => PermissionMode::BypassPermissions,
        }
    }

    /// As the configuration writes it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Default | Self::Auto => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}

/// The rules in what was typed: separated by commas or spaces, those within brackets aside.
pub(crate) fn rules(typed: &[String]) -> Vec<String> {
    let mut rules = Vec::new();
    for text in typed {
        let (mut rule, mut depth) = (String::new(), 0_usize);
        for c in text.chars() {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && (c == ',' || c.is_whitespace()) {
                rules.push(std::mem::take(&mut rule));
            } else {
                rule.push(c);
            }
        }
        rules.push(rule);
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

#[cfg(test)]
#[path = "permission_tests.rs"]
mod tests;
