//! Flags of programs that were written for Claude Code. What means nothing here is accepted, so that they run unchanged.

use std::path::PathBuf;

use clap::ValueEnum;
use rheon_app::session::thinking_level;
use rheon_types::ThinkingLevel;
use serde_json::Value;

use crate::failure::Failure;

/// What programs that were written for Claude Code ask for.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct CallerFlags {
    /// Whether the model thinks
    #[arg(long, value_name = "KIND", hide = true)]
    pub(crate) thinking: Option<ThinkingFlag>,

    /// The most tokens the model may think with in one answer; 0 turns thinking off
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) max_thinking_tokens: Option<u32>,

    /// How much of the thinking is shown
    #[arg(long, value_name = "KIND", hide = true)]
    pub(crate) thinking_display: Option<String>,

    /// Tokens that the model is told to make do with
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) task_budget: Option<u64>,

    /// Features of the service that are not out yet
    #[arg(long, value_name = "NAMES", num_args = 1.., action = clap::ArgAction::Append, hide = true)]
    pub(crate) betas: Vec<String>,

    /// Go on from this message
    #[arg(long, value_name = "ID", hide = true)]
    pub(crate) resume_session_at: Option<String>,

    /// The turn that is left out when the session goes on
    #[arg(long, value_name = "ID", hide = true)]
    pub(crate) resume_drops_turn: Option<String>,

    /// Write what is kept to the calling program, too
    #[arg(long, hide = true)]
    pub(crate) session_mirror: bool,

    /// A folder with a plugin
    #[arg(long, value_name = "FOLDER", action = clap::ArgAction::Append, hide = true)]
    pub(crate) plugin_dir: Vec<PathBuf>,

    /// Definitions of sub-agents
    #[arg(long, value_name = "JSON", hide = true)]
    pub(crate) agents: Option<String>,
}

/// Whether the model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThinkingFlag {
    /// As the task needs it
    Adaptive,
    /// As --max-thinking-tokens says
    Enabled,
    /// Not at all
    Disabled,
}

impl CallerFlags {
    /// How much the model is to think, where the caller says so.
    pub(crate) fn thinking_level(&self) -> Option<ThinkingLevel> {
        match (self.thinking, self.max_thinking_tokens) {
            (Some(ThinkingFlag::Disabled), _) | (_, Some(0)) => Some(ThinkingLevel::Off),
            (Some(ThinkingFlag::Adaptive), _) | (_, None) => None,
            (_, Some(tokens)) => Some(thinking_level(tokens.into())),
        }
    }

    /// What cannot be what the caller means, though it has no effect.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let Some(text) = &self.agents else { return Ok(()) };
        let wrong = |problem: &dyn std::fmt::Display| {
            Failure::usage(format_args!(
                "--agents needs JSON, such as {{\"reviewer\": {{\"description\": \"…\", \"prompt\": \"…\"}}}}: {problem}"
            ))
        };
        let agents: Value = serde_json::from_str(text).map_err(|error| wrong(&error))?;
        let agents = agents.as_object().ok_or_else(|| wrong(&"this is no object"))?;
        for (name, agent) in agents {
            for key in ["description", "prompt"] {
                if agent.get(key).and_then(Value::as_str).is_none() {
                    return Err(wrong(&format_args!("{name:?} has no text {key:?}")));
                }
            }
        }
        Ok(())
    }

    fn has_agents(&self) -> bool {
        let is_empty = |text: &String| {
            serde_json::from_str::<Value>(text)
                .is_ok_and(|agents| agents == Value::Object(Default::default()))
        };
        self.agents.as_ref().is_some_and(|text| !is_empty(text))
    }

    /// What the caller would else believe to have an effect. Where nothing else happens than without the flag, nothing is said.
    pub(crate) fn passed_over(&self) -> Vec<String> {
        let flags = [
            (self.task_budget.is_some(), "--task-budget", "limit tokens with --max-tokens"),
            (!self.betas.is_empty(), "--betas", "what the service offers to all is used"),
            (
                self.resume_session_at.is_some(),
                "--resume-session-at",
                "the session goes on from its end; `rheon sessions fork` goes on from an earlier event",
            ),
            (self.resume_drops_turn.is_some(), "--resume-drops-turn", "the whole session is kept"),
            (
                self.session_mirror,
                "--session-mirror",
                "the session is kept by rheon alone; `rheon sessions export` writes it for others",
            ),
            (!self.plugin_dir.is_empty(), "--plugin-dir", "plugins are not supported"),
            (self.has_agents(), "--agents", "sub-agents are not run yet; the model works alone"),
        ];
        let given = flags.into_iter().filter(|(is_given, ..)| *is_given);
        given.map(|(_, flag, instead)| format!("{flag} is passed over: {instead}")).collect()
    }
}

#[cfg(test)]
#[path = "caller_tests.rs"]
mod tests;
