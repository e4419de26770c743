//! Flags for permissions and the sandbox.

use std::path::PathBuf;

use clap::ValueEnum;
use rheon_types::event::PermissionMode;

use crate::target::SessionTarget;

#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Permissions")]
pub(crate) struct PermissionFlags {
    /// Allow these tools or rules without asking, such as "Bash(git *)" or Edit
    #[arg(long, visible_alias = "allowedTools", value_name = "RULES", num_args = 1.., action = clap::ArgAction::Append)]
    pub(crate) allowed_tools: Vec<String>,

    /// Deny these tools or rules; a bare tool name hides it from the model
    #[arg(long, visible_alias = "disallowedTools", value_name = "RULES", num_args = 1.., action = clap::ArgAction::Append)]
    pub(crate) disallowed_tools: Vec<String>,

    /// Offer only these tools; "default" for all, "" for none
    #[arg(long, value_name = "TOOLS", num_args = 1.., action = clap::ArgAction::Append)]
    pub(crate) tools: Option<Vec<String>>,

    /// Set the permission mode
    #[arg(long, value_name = "MODE")]
    pub(crate) permission_mode: Option<ModeFlag>,

    /// Allow everything that would ask (--permission-mode bypassPermissions)
    #[arg(long, conflicts_with = "permission_mode")]
    pub(crate) dangerously_skip_permissions: bool,

    /// Let the mode be set to bypassPermissions later, which it always may
    #[arg(long, hide = true)]
    pub(crate) allow_dangerously_skip_permissions: bool,

    /// Add a directory to the workspace
    #[arg(long, value_name = "DIR", num_args = 1.., action = clap::ArgAction::Append)]
    pub(crate) add_dir: Vec<PathBuf>,

    /// Allow commands to run without a sandbox if none is available
    #[arg(long)]
    pub(crate) no_sandbox: bool,

    /// Allow commands to access the network
    #[arg(long)]
    pub(crate) network: bool,

    /// Trust this project's hooks, skills, commands and MCP servers for this run
    #[arg(long)]
    pub(crate) trust: bool,
}

impl PermissionFlags {
    /// Resolves relative paths against the directory in which the user typed them.
    pub(crate) fn seen_from(&self, target: &SessionTarget) -> Self {
        let add_dir = self.add_dir.iter().map(|dir| target.user_path(dir)).collect();
        Self { add_dir, ..self.clone() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeFlag {
    /// Ask before changes
    #[value(name = "default")]
    Default,
    /// Allow edits in the workspace without asking
    #[value(name = "acceptEdits", alias = "accept-edits")]
    AcceptEdits,
    /// Allow edits in the workspace and commands inside the sandbox; ask about what leaves it
    #[value(name = "auto")]
    Auto,
    /// Queue changes until you approve a plan
    #[value(name = "plan")]
    Plan,
    /// Deny everything that would ask
    #[value(name = "dontAsk", alias = "dont-ask")]
    DontAsk,
    /// Allow everything that would ask; deny rules still apply
    #[value(name = "bypassPermissions", alias = "bypass-permissions", alias = "bypass")]
    BypassPermissions,
}

impl ModeFlag {
    pub(crate) fn mode(self) -> PermissionMode {
        match self {
            Self::Default => PermissionMode::Default,
            Self::Auto => PermissionMode::Auto,
            Self::AcceptEdits => PermissionMode::AcceptEdits,
            Self::Plan => PermissionMode::Plan,
            Self::DontAsk => PermissionMode::DontAsk,
            Self::BypassPermissions => PermissionMode::BypassPermissions,
        }
    }

    /// The value in the configuration.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Auto => "auto",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}

/// Splits typed rules at commas and spaces, except within parentheses.
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
