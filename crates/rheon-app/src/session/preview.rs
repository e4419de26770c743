//! `Preview`: the context and tools a session would have here. Calls no model and saves nothing.

use rheon_agent::{ContextUsage, TokenCounter};
use rheon_sandbox::Requirement;
use rheon_tools::skills::SkillSet;
use rheon_tools::{Toolkit, ToolkitError};
use rheon_types::SessionId;
use rheon_types::event::{Notice, NoticeTopic};

use super::error::OpenError;
use super::open::asked;
use super::tool_tokens::tool_tokens;
use super::wiring::{self, ContextSubject};
use crate::config::Config;
use crate::context::LoadedContext;
use crate::system::{NoticeSink, SystemContext};

/// The assumed context window if no model is chosen.
pub const WINDOW_ASSUMED: u64 = 200_000;

/// The context of a session that would start here.
pub struct Preview {
    /// The model of the session, or why there is none.
    pub model: Result<String, OpenError>,
    pub loaded: LoadedContext,
    tools: u64,
    task: u64,
    window: u64,
}

impl Preview {
    /// Loads the context of a session with this task.
    pub async fn load(
        system: &SystemContext,
        config: &Config,
        task: Option<&str>,
        tell: &NoticeSink,
    ) -> Result<Self, OpenError> {
        let (model, counter, window) = match asked(config, system).await {
            Ok((chosen, model, _)) => {
                let counter = TokenCounter::for_model(&model.model);
                (Ok(chosen.name), counter, model.info.context_tokens)
            }
            Err(why) => (Err(why), TokenCounter::default(), WINDOW_ASSUMED),
        };
        let policy = wiring::policy(system, config, tell)?;
        let session_id = SessionId::from("preview");
        let subject = ContextSubject::new(task, &session_id, &policy);
        let (inputs, odd) = wiring::context_inputs(system, config, subject, counter).await;
        let loaded = LoadedContext::load(inputs).await;
        for warning in odd.iter().chain(&loaded.warnings) {
            tell(Notice::warning(NoticeTopic::Context, warning.to_string()));
        }
        let mut tools = toolkit(system, config, loaded.skills.clone(), tell).await?.tools();
        tools.extend(loaded.memory.iter().filter_map(|memory| memory.tool.clone()));
        let task = task.map_or(0, |task| counter.text(task));
        Ok(Self { model, tools: tool_tokens(counter, &tools), loaded, task, window })
    }

    /// What takes how much of the model's window.
    pub fn report(&self) -> ContextUsage {
        self.loaded.assembled.report(self.tools, self.task, self.window)
    }

    /// The whole context as readable text.
    pub fn outline(&self) -> String {
        self.loaded.assembled.outline()
    }
}

/// The tools that a session would have here, with their gate; an error where commands cannot be sandboxed as it is required.
pub(crate) async fn strict_toolkit(
    system: &SystemContext,
    config: &Config,
    tell: &NoticeSink,
) -> Result<Toolkit, OpenError> {
    let policy = wiring::policy(system, config, tell)?;
    wiring::toolkit(system, config, policy, SkillSet::default(), tell).await
}

/// The tools that a session would have here, with their gate. If the required sandbox is not available, `tell` gets a notice, and the
/// tools are those of a session without a sandbox; nothing is to be run with them.
pub async fn toolkit(
    system: &SystemContext,
    config: &Config,
    skills: SkillSet,
    tell: &NoticeSink,
) -> Result<Toolkit, OpenError> {
    // Rule warnings were already shown by the first attempt.
    let quiet: NoticeSink = std::sync::Arc::new(|_| {});
    let policy = wiring::policy(system, config, &quiet)?;
    match wiring::toolkit(system, config, policy.clone(), skills.clone(), tell).await {
        Err(OpenError::Toolkit(ToolkitError::Sandbox(error))) => {
            tell(Notice::warning(NoticeTopic::Sandbox, error.to_string()));
            let mut config = config.clone();
            config.settings.sandbox.require = Requirement::NoSandbox;
            wiring::toolkit(system, &config, policy, skills, tell).await
        }
        made => made,
    }
}
