//! The parts of a session, each made of what is configured.

use std::sync::Arc;
use std::time::Duration;

use rheon_agent::{
    Agent, AgentBuilder, BudgetPool, Caps, Effort, ExecutionLimits, TokenCounter, base_prompt,
};
use rheon_policy::{PatternRoots, Policy, ShellAnalyzer, UserRules};
use rheon_providers::{Registry, ResolvedModel};
use rheon_tools::builtin::AddressRule;
use rheon_tools::hooks::{
    CommandHooks, HookContext, HookEnvironment, HookMessage, HookSettings, SessionStartSource,
};
use rheon_tools::skills::SkillSet;
use rheon_tools::{Toolkit, ToolkitSettings};
use rheon_types::SessionId;
use rheon_types::event::{Notice, NoticeTopic};

use super::calls::ClientCalls;
use super::error::OpenError;
use crate::config::{Config, LimitSettings};
use crate::context::{
    CodeMapOptions, ContextInputs, ContextWarning, LeftOutRule, Loaded, SessionStart, Source,
};
use crate::keeping::KeptSession;
use crate::machine::{Surroundings, Tell};
use crate::models::{Because, Chosen, full_name};

/// How long a local server may take to say how large its context is.
const PROBE_TIME_MAX: Duration = Duration::from_secs(2);

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
pub(super) async fn context_inputs(
    surroundings: &Surroundings,
    config: &Config,
    task: Option<&str>,
    (session_id, policy): (&SessionId, &Policy),
    counter: TokenCounter,
) -> (ContextInputs, Vec<ContextWarning>) {
    let settings = &config.settings;
    let base = settings.context.system_prompt.clone().unwrap_or_else(|| base_prompt().to_owned());
    let base = match &settings.context.append_system_prompt {
        Some(appended) => format!("{}\n\n{appended}", base.trim_end()),
        None => base,
    };
    let start = SessionStart {
        task: task.unwrap_or_default().to_owned(),
        working_folder: surroundings.working_folder.clone(),
        session_id: session_id.clone(),
        trust: config.trust,
        persistence: settings.sessions.persistence,
        code_map: CodeMapOptions { left_out: Some(left_out(policy)), ..CodeMapOptions::default() },
        environment: surroundings.environment.clone(),
        clock: Arc::clone(&surroundings.clock),
    };
    let (inputs, warnings) = ContextInputs::find(start).await;
    // Nobody knows how hard a task is that was not told yet.
    let effort = settings.model.effort.or(task.is_none().then_some(Effort::Medium));
    let sources = settings.context.sources.clone();
    (ContextInputs { base: Some(base), effort, sources, counter, ..inputs }, warnings)
}

/// What nobody may read is not mapped either.
fn left_out(policy: &Policy) -> LeftOutRule {
    let policy = policy.clone();
    Arc::new(move |path| policy.hides(path))
}

/// The rules.
pub(super) fn policy(surroundings: &Surroundings, config: &Config, tell: &Tell) -> Result<Policy, OpenError> {
    let places =
        PatternRoots { working_folder: surroundings.working_folder.clone(), home: surroundings.home() };
    let permissions = config.settings.permissions.clone();
    let policy = Policy::new(permissions.sources, places, permissions.trust, ShellAnalyzer::default())?;
    for warning in policy.warnings() {
        tell(Notice::warning(NoticeTopic::Policy, warning.clone()));
    }
    Ok(policy)
}

/// The tools with their gate.
pub(super) async fn toolkit(
    surroundings: &Surroundings,
    config: &Config,
    policy: Policy,
    skills: SkillSet,
    tell: &Tell,
) -> Result<Toolkit, OpenError> {
    let settings = &config.settings;
    let on_failure = Arc::clone(tell);
    let rule_sink = config.user_rules.clone().map(|file| {
        let sink = UserRules::new(file, move |problem| {
            on_failure(Notice::warning(NoticeTopic::Policy, problem));
        });
        Arc::new(sink) as Arc<dyn rheon_policy::RuleSink>
    });
    let toolkit = Toolkit::new(ToolkitSettings {
        variables: surroundings.environment.texts().collect(),
        sandbox: settings.sandbox.require,
        network: settings.sandbox.network,
        sandbox_cache: surroundings.folders.state().ok().map(|folder| folder.join("sandbox.json")),
        sandboxed_commands: settings.sandbox.held,
        web: settings.web.fetch.then_some(AddressRule::Public),
        skills: Arc::new(skills),
        rule_sink,
        ..ToolkitSettings::new(policy, Arc::clone(&surroundings.clock))
    })
    .await?;
    if let Some(shortfall) = toolkit.sandbox().shortfall() {
        let level = toolkit.sandbox().level();
        let message = format!("commands run in a weaker sandbox ({level}): {shortfall}");
        tell(Notice::warning(NoticeTopic::Sandbox, message));
    }
    Ok(toolkit)
}

/// Leaves the model the tools that it may hear of, those of the context included: all, or the ones that the caller names.
pub(super) fn offer(toolkit: &mut Toolkit, loaded: &mut Loaded, names: Option<&[String]>, tell: &Tell) {
    let unknown = names.map(|names| toolkit.restrict_to(names)).unwrap_or_default();
    for name in unknown {
        let message = format!("there is no tool {name:?}, as in --tools; it is left out");
        tell(Notice::warning(NoticeTopic::Policy, message));
    }
    loaded.withhold_tools(|name| toolkit.offers(name));
}

/// What hooks are told about the session.
pub(super) fn hook_context(
    surroundings: &Surroundings,
    config: &Config,
    toolkit: &Toolkit,
    (session_id, source): (&SessionId, SessionStartSource),
) -> HookContext {
    let gate = toolkit.gate();
    HookContext {
        session_id: session_id.clone(),
        transcript_path: None,
        cwd: surroundings.working_folder.clone(),
        project: config.project_root.clone(),
        home: surroundings.home(),
        source,
        permission_mode: Arc::new(move || gate.mode()),
        environment: HookEnvironment::filtered(surroundings.environment.texts()),
        clock: Arc::clone(&surroundings.clock),
    }
}

/// The user's own hooks, the project's where it is trusted, and functions of the client.
pub(super) fn hooks(
    config: &Config,
    context: &HookContext,
    client: (ClientCalls, HookSettings),
    tell: &Tell,
) -> Vec<CommandHooks> {
    let told = || {
        let tell = Arc::clone(tell);
        move |message: &HookMessage| tell(Notice::warning(NoticeTopic::Hook, message.to_string()))
    };
    let configured = Some(&config.settings.hooks)
        .filter(|settings| !settings.is_empty())
        .map(|settings| CommandHooks::with_messages(settings.clone(), context.clone(), told()));
    let (calls, settings) = client;
    for warning in &settings.warnings {
        tell(Notice::warning(NoticeTopic::Hook, warning.clone()));
    }
    let client = Some(settings)
        .filter(|settings| !settings.is_empty())
        .map(|settings| CommandHooks::with_callbacks(settings, context.clone(), Arc::new(calls), told()));
    configured.into_iter().chain(client).collect()
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
    /// The agent, as far as the configuration has a say, and what it may spend.
    pub(super) fn builder(&self, surroundings: &Surroundings) -> (AgentBuilder, Option<BudgetPool>) {
        let settings = &self.config.settings;
        let tools = self.toolkit.tools();
        let builder = Agent::builder()
            .provider(Arc::clone(&self.model.provider))
            .model(&self.model.model)
            .tools(tools.clone())
            .permission_policy(self.toolkit.gate());
        let builder = self.loaded.wire(builder).window(settings.context.window).limits(self.limits());
        let builder = self.kept.wire(builder, &tools);
        let builder = match settings.limits.output_tokens_max {
            Some(tokens) => builder.max_tokens(tokens),
            None => builder,
        };
        match self.budget(surroundings) {
            Some(budget) => (builder.budget(budget.clone()), Some(budget)),
            None => (builder, None),
        }
    }

    /// What the user set goes before what the effort suggests.
    fn limits(&self) -> ExecutionLimits {
        let settings = &self.config.settings;
        let follows_effort = settings.model.effort.is_some() || settings.context.sources.has(Source::Effort);
        let suggested = if follows_effort { self.loaded.plan.limits } else { ExecutionLimits::default() };
        settings.limits.execution(suggested)
    }

    /// What the whole session may spend, with what it has spent.
    fn budget(&self, surroundings: &Surroundings) -> Option<BudgetPool> {
        let LimitSettings { budget, tokens_max, .. } = self.config.settings.limits;
        let caps = Caps { tokens: tokens_max, cost: budget, wall: None };
        let spent = self.kept.state().ledger();
        (caps != Caps::default()).then(|| BudgetPool::resumed(caps, spent, Arc::clone(&surroundings.clock)))
    }
}
