//! The parts of a session, each made of what is configured.

use std::sync::Arc;
use std::time::Duration;

use rheon_agent::{
    Agent, AgentBuilder, BudgetPool, Caps, Effort, ExecutionLimits, TokenCounter, base_prompt,
};
use rheon_providers::{Registry, ResolvedModel};
use rheon_tools::builtin::AddressRule;
use rheon_tools::hooks::{CommandHooks, HookContext, HookEnvironment, SessionSource};
use rheon_tools::policy::{Document, Places, Policy, PolicySource, Shell, Source as PolicyLayer, UserRules};
use rheon_tools::{Toolkit, ToolkitSettings};
use rheon_types::SessionId;

use super::error::OpenError;
use super::machine::Surroundings;
use super::notice::SessionNotice;
use super::open::Tell;
use crate::config::{Config, LimitSettings};
use crate::context::{ContextInputs, GIT_TIME_MAX, Loaded, Machine, MadeElsewhere, RulePlaces, Source};
use crate::keeping::KeptSession;
use crate::models::{Because, Chosen, full_name};

/// How long a local server may take to say how large its context is.
const PROBE_TIME_MAX: Duration = Duration::from_secs(2);
/// The file of rules that the user answered "always" to, in the folder of what is configured.
const USER_RULES: &str = "rules.json";

/// The model, and who answers where it is overloaded.
pub(super) async fn resolve(
    registry: &Registry,
    chosen: &Chosen,
    fallback: Option<&str>,
) -> Result<ResolvedModel, OpenError> {
    if let Because::Answers(_) = chosen.because {
        // Servers of the user's own run models with smaller windows than they were made for.
        tokio::time::timeout(PROBE_TIME_MAX, registry.probe(&chosen.name)).await.ok();
    }
    Ok(match fallback {
        Some(fallback) => registry.resolve_with_fallback(&chosen.name, &full_name(fallback, registry)?)?,
        None => registry.resolve(&chosen.name)?,
    })
}

/// What the model is told is loaded from these.
pub(super) fn context_inputs(
    surroundings: &Surroundings,
    config: &Config,
    task: Option<&str>,
    counter: TokenCounter,
) -> ContextInputs {
    let settings = &config.settings;
    let base = settings.context.system_prompt.clone().unwrap_or_else(|| base_prompt().to_owned());
    let base = match &settings.context.append_system_prompt {
        Some(appended) => format!("{}\n\n{appended}", base.trim_end()),
        None => base,
    };
    // Nobody knows how hard a task is that was not told yet.
    let effort = settings.model.effort.or(task.is_none().then_some(Effort::Medium));
    ContextInputs {
        task: task.unwrap_or_default().to_owned(),
        base: Some(base),
        places: rule_places(surroundings),
        trust: config.trust,
        skills: Vec::new(),
        notes: Vec::new(),
        learnings: None,
        made: MadeElsewhere::default(),
        effort,
        sources: settings.context.sources.clone(),
        counter,
        machine: Machine {
            environment: surroundings.environment.clone(),
            clock: Arc::clone(&surroundings.clock),
            git_time_max: GIT_TIME_MAX,
        },
    }
}

fn rule_places(surroundings: &Surroundings) -> RulePlaces {
    let config = surroundings.folders.config().ok();
    let general = config.as_ref().and_then(|folder| folder.parent()).map(ToOwned::to_owned);
    RulePlaces {
        working_folder: surroundings.working_folder.clone(),
        user_folders: general.into_iter().chain(config).collect(),
        home: surroundings.home(),
    }
}

/// The tools with their gate.
pub(super) async fn toolkit(
    surroundings: &Surroundings,
    config: &Config,
    loaded: &Loaded,
    tell: &Tell,
) -> Result<Toolkit, OpenError> {
    let settings = &config.settings;
    let places = Places { working_folder: surroundings.working_folder.clone(), home: surroundings.home() };
    let mut permissions = settings.permissions.clone();
    permissions.sources.extend(answered_always(surroundings)?);
    let policy = Policy::new(permissions.sources, places, permissions.trust, Shell::default())?;
    for warning in policy.warnings() {
        tell(SessionNotice::Policy(warning.clone()));
    }
    let on_failure = Arc::clone(tell);
    let rule_sink = surroundings.folders.config().ok().map(|folder| {
        let sink = UserRules::new(folder.join(USER_RULES), move |problem| {
            on_failure(SessionNotice::Policy(problem.to_owned()));
        });
        Arc::new(sink) as Arc<dyn rheon_tools::policy::RuleSink>
    });
    let toolkit = Toolkit::new(ToolkitSettings {
        variables: surroundings.environment.texts().collect(),
        sandbox: settings.sandbox.require,
        network: settings.sandbox.network,
        held_commands: settings.sandbox.held,
        web: settings.web.fetch.then_some(AddressRule::Public),
        skills: Arc::new(loaded.skills.clone()),
        rule_sink,
        ..ToolkitSettings::new(policy, Arc::clone(&surroundings.clock))
    })
    .await?;
    if let Some(shortfall) = toolkit.sandbox().shortfall() {
        let level = toolkit.sandbox().level();
        tell(SessionNotice::Sandbox(format!("commands are held at level {level} only: {shortfall}")));
    }
    Ok(toolkit)
}

/// The rules that the user answered "always" to.
fn answered_always(surroundings: &Surroundings) -> Result<Option<PolicySource>, OpenError> {
    let Ok(folder) = surroundings.folders.config() else { return Ok(None) };
    let file = folder.join(USER_RULES);
    let name = file.display().to_string();
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        // Rules that cannot be read may forbid something.
        Err(error) => return Err(OpenError::Rules { file, error }),
    };
    let document = Document::parse(&name, &text)?;
    Ok(Some(PolicySource { source: PolicyLayer::User, folder, document }))
}

/// The user's own hooks, and the project's where it is trusted.
pub(super) fn hooks(
    surroundings: &Surroundings,
    config: &Config,
    toolkit: &Toolkit,
    (session_id, source): (&SessionId, SessionSource),
    tell: &Tell,
) -> Option<CommandHooks> {
    if config.settings.hooks.is_empty() {
        return None;
    }
    let gate = toolkit.gate();
    let context = HookContext {
        session_id: session_id.clone(),
        transcript_path: None,
        cwd: surroundings.working_folder.clone(),
        project: config.project_root.clone(),
        home: surroundings.home(),
        source,
        permission_mode: Arc::new(move || gate.mode()),
        environment: HookEnvironment::passed_from(surroundings.environment.texts()),
        clock: Arc::clone(&surroundings.clock),
    };
    let tell = Arc::clone(tell);
    let told = move |message: &_| tell(SessionNotice::Hook(Clone::clone(message)));
    Some(CommandHooks::with_messages(config.settings.hooks.clone(), context, told))
}

/// The parts of a session, ready to become an agent.
pub(super) struct Wired<'a> {
    pub(super) config: &'a Config,
    pub(super) model: &'a ResolvedModel,
    pub(super) loaded: &'a Loaded,
    pub(super) toolkit: &'a Toolkit,
    pub(super) kept: &'a KeptSession,
}

impl Wired<'_> {
    /// The agent, as far as the configuration has a say.
    pub(super) fn builder(&self, surroundings: &Surroundings) -> AgentBuilder {
        let settings = &self.config.settings;
        let tools = self.toolkit.tools();
        let builder = Agent::builder()
            .shared_provider(Arc::clone(&self.model.provider))
            .model(&self.model.model)
            .tools(tools.clone())
            .shared_permission_policy(self.toolkit.gate());
        let builder = self.loaded.wire(builder).window(settings.context.window).limits(self.limits());
        let builder = self.kept.wire(builder, &tools);
        let builder = match settings.limits.output_tokens_max {
            Some(tokens) => builder.max_tokens(tokens),
            None => builder,
        };
        match self.budget(surroundings) {
            Some(budget) => builder.budget(budget),
            None => builder,
        }
    }

    /// What the user set goes before what the effort suggests.
    fn limits(&self) -> ExecutionLimits {
        let settings = &self.config.settings;
        let follows_effort = settings.model.effort.is_some() || settings.context.sources.has(Source::Effort);
        let suggested = if follows_effort { self.loaded.plan.limits } else { ExecutionLimits::default() };
        let LimitSettings { turns_max, tokens_max, duration_max, .. } = settings.limits;
        ExecutionLimits {
            turns_max: turns_max.or(suggested.turns_max),
            tokens_max: tokens_max.or(suggested.tokens_max),
            duration_max: duration_max.or(suggested.duration_max),
        }
    }

    /// What the whole session may spend, with what it has spent.
    fn budget(&self, surroundings: &Surroundings) -> Option<BudgetPool> {
        let LimitSettings { budget, tokens_max, .. } = self.config.settings.limits;
        let caps = Caps { tokens: tokens_max, cost: budget, wall: None };
        let spent = self.kept.state().ledger();
        (caps != Caps::default()).then(|| BudgetPool::resumed(caps, spent, Arc::clone(&surroundings.clock)))
    }
}
