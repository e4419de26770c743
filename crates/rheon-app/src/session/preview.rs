//! `Preview`: what a session would be told and could do here. No model is asked, and nothing of it is kept.

use rheon_agent::{ContextUsage, TokenCounter};
use rheon_sandbox::Requirement;
use rheon_tools::skills::SkillSet;
use rheon_tools::{Toolkit, ToolkitError};
use rheon_types::SessionId;
use rheon_types::event::{Notice, NoticeTopic};

use super::error::OpenError;
use super::open::asked;
use super::tool_tokens::tool_tokens;
use super::wiring;
use crate::config::Config;
use crate::context::Loaded;
use crate::machine::{Surroundings, Tell};

/// The window that is counted with where no model is chosen.
pub const WINDOW_ASSUMED: u64 = 200_000;

/// What a session would be told here.
pub struct Preview {
    /// The model that would be asked, or why there is none.
    pub model: Result<String, OpenError>,
    /// What it would be told.
    pub loaded: Loaded,
    tools: u64,
    task: u64,
    window: u64,
}

impl Preview {
    /// Loads what a session with this task would be told.
    pub async fn load(
        surroundings: &Surroundings,
        config: &Config,
        task: Option<&str>,
        tell: &Tell,
    ) -> Result<Self, OpenError> {
        let (model, counter, window) = match asked(config, surroundings).await {
            Ok((chosen, model, _)) => {
                let counter = TokenCounter::for_model(&model.model);
                (Ok(chosen.name), counter, model.info.context_tokens)
            }
            Err(why) => (Err(why), TokenCounter::default(), WINDOW_ASSUMED),
        };
        let policy = wiring::policy(surroundings, config, tell)?;
        let session_id = SessionId::from("preview");
        let about = (&session_id, &policy);
        let (inputs, odd) = wiring::context_inputs(surroundings, config, task, about, counter).await;
        let loaded = Loaded::load(inputs).await;
        for warning in odd.iter().chain(&loaded.warnings) {
            tell(Notice::warning(NoticeTopic::Context, warning.to_string()));
        }
        let mut tools = toolkit(surroundings, config, loaded.skills.clone(), tell).await?.tools();
        tools.extend(loaded.memory.iter().filter_map(|memory| memory.tool.clone()));
        let task = task.map_or(0, |task| counter.text(task));
        Ok(Self { model, tools: tool_tokens(counter, &tools), loaded, task, window })
    }

    /// What takes how much of the model's window.
    pub fn report(&self) -> ContextUsage {
        self.loaded.assembled.report(self.tools, self.task, self.window)
    }

    /// All that the model is told, as people read it.
    pub fn outline(&self) -> String {
        self.loaded.assembled.outline()
    }
}

/// The tools that a session would have here, with their gate; an error where commands cannot be sandboxed as it is required.
pub(crate) async fn strict_toolkit(
    surroundings: &Surroundings,
    config: &Config,
    tell: &Tell,
) -> Result<Toolkit, OpenError> {
    let policy = wiring::policy(surroundings, config, tell)?;
    wiring::toolkit(surroundings, config, policy, SkillSet::default(), tell).await
}

/// The tools that a session would have here, with their gate. Where commands cannot be held as it is required, that is told, and the
/// tools are those of a session without a sandbox; nothing is to be run with them.
pub async fn toolkit(
    surroundings: &Surroundings,
    config: &Config,
    skills: SkillSet,
    tell: &Tell,
) -> Result<Toolkit, OpenError> {
    // What is odd about rules was told when they were asked for first.
    let quiet: Tell = std::sync::Arc::new(|_| {});
    let policy = wiring::policy(surroundings, config, &quiet)?;
    match wiring::toolkit(surroundings, config, policy.clone(), skills.clone(), tell).await {
        Err(OpenError::Toolkit(ToolkitError::Sandbox(error))) => {
            tell(Notice::warning(NoticeTopic::Sandbox, error.to_string()));
            let mut config = config.clone();
            config.settings.sandbox.require = Requirement::NoSandbox;
            wiring::toolkit(surroundings, &config, policy, skills, tell).await
        }
        made => made,
    }
}
