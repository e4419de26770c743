//! Flags that programs written for Claude Code pass. Those without a meaning here are accepted, so that the programs run unchanged.

use std::path::PathBuf;

use clap::ValueEnum;
use rheon_app::session::thinking_level;
use rheon_types::ThinkingLevel;
use rheon_types::protocol::ResumePoint;
use serde_json::Value;

use crate::failure::Failure;

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct CallerFlags {
    /// Set whether the model thinks
    #[arg(long, value_name = "KIND", hide = true)]
    pub(crate) thinking: Option<ThinkingFlag>,

    /// Limit the thinking tokens of an answer; 0 disables thinking
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) max_thinking_tokens: Option<u32>,

    /// Set how thinking is shown
    #[arg(long, value_name = "KIND", hide = true)]
    pub(crate) thinking_display: Option<String>,

    /// Set the token budget the model plans with
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) task_budget: Option<u64>,

    /// Enable beta features of the service
    #[arg(long, value_name = "NAMES", num_args = 1.., action = clap::ArgAction::Append, hide = true)]
    pub(crate) betas: Vec<String>,

    /// Resume from this message
    #[arg(long, value_name = "ID", hide = true)]
    pub(crate) resume_session_at: Option<String>,

    /// Drop this turn when resuming
    #[arg(long, value_name = "ID", hide = true)]
    pub(crate) resume_drops_turn: Option<String>,

    /// Also send the saved session to the calling program
    #[arg(long, hide = true)]
    pub(crate) session_mirror: bool,

    /// Load a plugin from this directory
    #[arg(long, value_name = "DIR", action = clap::ArgAction::Append, hide = true)]
    pub(crate) plugin_dir: Vec<PathBuf>,

    /// Show what the program does; Rheon has --trace and --log-level
    #[arg(long, value_name = "FILTER", num_args = 0..=1, require_equals = true, default_missing_value = "", hide = true)]
    pub(crate) debug: Option<String>,

    /// Answer as this agent
    #[arg(long, value_name = "NAME", hide = true)]
    pub(crate) agent: Option<String>,

    /// Define sub-agents
    #[arg(long, value_name = "JSON", hide = true)]
    pub(crate) agents: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThinkingFlag {
    /// Chosen by the model
    Adaptive,
    /// Limited by --max-thinking-tokens
    Enabled,
    /// No thinking
    Disabled,
}

impl CallerFlags {
    /// The thinking level, if the caller sets one.
    pub(crate) fn thinking_level(&self) -> Option<ThinkingLevel> {
        match (self.thinking, self.max_thinking_tokens) {
            (Some(ThinkingFlag::Disabled), _) | (_, Some(0)) => Some(ThinkingLevel::Off),
            (Some(ThinkingFlag::Adaptive), _) | (_, None) => None,
            (_, Some(tokens)) => Some(thinking_level(tokens.into())),
        }
    }

    /// Where a resumed session continues, if not at its end.
    pub(crate) fn resume_point(&self) -> Option<ResumePoint> {
        let drops_turn = self.resume_drops_turn.clone();
        self.resume_session_at.clone().map(|message| ResumePoint { message, drops_turn })
    }

    /// Rejects invalid values of flags that have no effect, and flags that would have none without others. What would
    /// remove something is never ignored.
    pub(crate) fn check(&self, is_resumed: bool) -> Result<(), Failure> {
        if self.resume_session_at.is_some() && !is_resumed {
            return Err(Failure::usage("--resume-session-at needs --resume or --continue"));
        }
        if self.resume_drops_turn.is_some() && self.resume_session_at.is_none() {
            return Err(Failure::usage("--resume-drops-turn needs --resume-session-at"));
        }
        let Some(text) = &self.agents else { return Ok(()) };
        let wrong = |problem: &dyn std::fmt::Display| {
            Failure::usage(format_args!(
                "--agents needs JSON, such as {{\"reviewer\": {{\"description\": \"…\", \"prompt\": \"…\"}}}}: {problem}"
            ))
        };
        let agents: Value = serde_json::from_str(text).map_err(|error| wrong(&error))?;
        let agents = agents.as_object().ok_or_else(|| wrong(&"not an object"))?;
        for (name, agent) in agents {
            for key in ["description", "prompt"] {
                if agent.get(key).and_then(Value::as_str).is_none() {
                    return Err(wrong(&format_args!("{name:?} has no {key:?} text")));
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

    /// Notes about ignored flags whose absence the caller would notice.
    pub(crate) fn ignored(&self) -> Vec<String> {
        let flags = [
            (self.task_budget.is_some(), "--task-budget", "limit tokens with --max-tokens"),
            (!self.betas.is_empty(), "--betas", "beta features are not supported"),
            (self.session_mirror, "--session-mirror", "use `rheon sessions export` to copy the session"),
            (!self.plugin_dir.is_empty(), "--plugin-dir", "plugins are not supported"),
            (self.agent.is_some(), "--agent", "named agents are not supported yet"),
            (self.has_agents(), "--agents", "sub-agents are not supported yet"),
        ];
        let given = flags.into_iter().filter(|(is_given, ..)| *is_given);
        given.map(|(_, flag, instead)| format!("ignoring {flag}: {instead}")).collect()
    }
}

#[cfg(test)]
#[path = "caller_tests.rs"]
mod tests;
