//! Builds the parts of a session from the configuration.

use std::sync::Arc;
use std::time::Duration;

use rheon_agent::{Agent, AgentBuilder, BudgetPool, Caps, TokenCounter, base_prompt};
use rheon_policy::{PatternRoots, Policy, ProjectRules, SavedRules, ShellAnalyzer, UserRules};
use rheon_providers::{Registry, ResolvedModel};
use rheon_sandbox::{CacheReports, CacheSettings, CacheUsage, CleanReport, clean_caches, list_caches};
use rheon_tools::builtin::AddressRule;
use rheon_tools::hooks::{
    CommandHooks, HookContext, HookEnvironment, HookFacts, HookMessage, HookSettings, SessionStartSource,
};
use rheon_tools::skills::SkillSet;
use rheon_tools::{CommandSettings, OwnPaths, Toolkit, ToolkitSettings};
use rheon_types::SessionId;
use rheon_types::event::{Notice, NoticeTopic};

use super::calls::ClientCalls;
use super::error::OpenError;
use super::mcp::{ServerParts, SessionServers};
use crate::config::{Config, LimitSettings, PROJECT_RULES, Settings};
use crate::context::{
    CodeMapFilter, CodeMapOptions, ContextInputs, ContextWarning, LoadedContext, SessionStart,
};
use crate::models::{ModelChoice, ModelChoiceReason, full_name};
use crate::sessions::{SessionHandle, UserDirsError};
use crate::system::{NoticeSink, SystemContext};

/// How long a local server may take to say how large its context is.
const PROBE_TIME_MAX: Duration = Duration::from_secs(2);

/// The model, and who answers where it is overloaded.
pub(super) async fn resolve(
    registry: &Registry,
    chosen: &ModelChoice,
    fallback: Option<&str>,
) -> Result<ResolvedModel, OpenError> {
    if let ModelChoiceReason::LocalServer(_) = chosen.reason {
        // Servers of the user's own run models with smaller windows than they were made for.
        tokio::time::timeout(PROBE_TIME_MAX, registry.probe(&chosen.name)).await.ok();
    }
    Ok(match fallback {
        Some(fallback) => registry.resolve_with_fallback(&chosen.name, &full_name(fallback, registry)?)?,
        None => registry.resolve(&chosen.name)?,
    })
}

/// What a context is made for.
pub(super) struct ContextSubject<'a> {
    /// The first prompt, if it is known.
    pub(super) task: Option<&'a str>,
    pub(super) session_id: &'a SessionId,
    /// The session that it was forked from.
    pub(super) parent: Option<SessionId>,
    pub(super) policy: &'a Policy,
}

impl<'a> ContextSubject<'a> {
    /// A session that is not a fork.
    pub(super) fn new(task: Option<&'a str>, session_id: &'a SessionId, policy: &'a Policy) -> Self {
        Self { task, session_id, parent: None, policy }
    }
}

/// The inputs of the context.
pub(super) async fn context_inputs(
    system: &SystemContext,
    config: &Config,
    subject: ContextSubject<'_>,
    counter: TokenCounter,
) -> (ContextInputs, Vec<ContextWarning>) {
    let settings = &config.settings;
    let base = settings.context.system_prompt.clone().unwrap_or_else(|| base_prompt().to_owned());
    let base = match &settings.context.append_system_prompt {
        Some(appended) => format!("{}\n\n{appended}", base.trim_end()),
        None => base,
    };
    let ContextSubject { task, session_id, parent, policy } = subject;
    let start = SessionStart {
        task: task.unwrap_or_default().to_owned(),
        working_dir: system.working_dir.clone(),
        session_id: session_id.clone(),
        parent,
        trust: config.trust,
        persistence: settings.sessions.persistence,
        code_map: CodeMapOptions { left_out: Some(left_out(policy)), ..CodeMapOptions::default() },
        environment: system.environment.clone(),
        clock: Arc::clone(&system.clock),
    };
    let (inputs, warnings) = ContextInputs::find(start).await;
    let effort = settings.model.effort;
    let sources = settings.context.sources.clone();
    (ContextInputs { base: Some(base), effort, sources, counter, ..inputs }, warnings)
}

/// Files that rules forbid to read are not in the code map either.
fn left_out(policy: &Policy) -> CodeMapFilter {
    let policy = policy.clone();
    Arc::new(move |path| policy.hides(path))
}

/// The rules.
pub(super) fn policy(
    system: &SystemContext,
    config: &Config,
    tell: &NoticeSink,
) -> Result<Policy, OpenError> {
    let places = PatternRoots { working_dir: system.working_dir.clone(), home: system.home() };
    let permissions = config.settings.permissions.clone();
    let policy = Policy::new(permissions.sources, places, permissions.trust, ShellAnalyzer::default())?
        .with_outside(&config.settings.sandbox.outside)?;
    for warning in policy.warnings() {
        tell(Notice::warning(NoticeTopic::Policy, warning.clone()));
    }
    Ok(policy)
}

/// The tools with their gate.
pub(super) async fn toolkit(
    system: &SystemContext,
    config: &Config,
    policy: Policy,
    skills: SkillSet,
    tell: &NoticeSink,
) -> Result<Toolkit, OpenError> {
    let settings = &config.settings;
    let toolkit = Toolkit::new(ToolkitSettings {
        variables: system.environment.texts().collect(),
        commands: CommandSettings {
            environment: settings.sandbox.environment.clone(),
            limits: settings.sandbox.limits,
        },
        sandbox: settings.sandbox.require,
        network: settings.sandbox.network.clone(),
        caches: cache_settings(system, settings, tell),
        own_paths: own_paths(system),
        sandboxed_commands: settings.sandbox.held,
        web: settings.web.fetch.then_some(AddressRule::Public),
        skills: Arc::new(skills),
        rule_sink: Some(Arc::new(saved_rules(config, tell))),
        ..ToolkitSettings::new(policy, Arc::clone(&system.clock))
    })
    .await?;
    if let Some(shortfall) = toolkit.sandbox().shortfall() {
        let level = toolkit.sandbox().level();
        let message = format!("commands run in a weaker sandbox ({level}): {shortfall}");
        tell(Notice::warning(NoticeTopic::Sandbox, message));
    }
    tell_failed_layers(&toolkit, tell);
    Ok(toolkit)
}

/// Where the user's answers for later sessions are saved.
fn saved_rules(config: &Config, tell: &NoticeSink) -> SavedRules {
    let tell = Arc::clone(tell);
    let project = config
        .project_answers
        .as_ref()
        .map(|answers| ProjectRules::new(&answers.project, PROJECT_RULES, &answers.trust_store));
    SavedRules {
        user: config.user_rules.clone().map(UserRules::new),
        project,
        on_failure: Box::new(move |problem| tell(Notice::warning(NoticeTopic::Policy, problem))),
    }
}

/// What to know before a session starts in the home directory, or in one that contains it.
pub fn home_warning(system: &SystemContext) -> Option<String> {
    let dir = system.working_dir.canonicalize().ok()?;
    if dir.parent().is_none() {
        let warning = "/ is the whole file system: edits can change every file that you can change, and commands in the \
                       sandbox can change none. A project directory is a better place to start";
        return Some(warning.to_owned());
    }
    let home = system.home()?.canonicalize().ok()?;
    home.starts_with(&dir).then(|| {
        format!(
            "{} is {} home directory: the agent could change every file of yours there, except for names with a dot and \
             bin, which hold the settings of your programs and stay read-only for commands. A project directory is a \
             better place to start",
            dir.display(),
            if home == dir { "your" } else { "above your" },
        )
    })
}

/// Rheon's own files: commands must not change settings, nor read the logs of sessions.
fn own_paths(system: &SystemContext) -> OwnPaths {
    let dirs = &system.dirs;
    let (state, data) = (dirs.state().ok(), dirs.data().ok());
    OwnPaths {
        sandbox_cache: state.as_ref().map(|dir| dir.join("sandbox.json")),
        quarantine: state.as_ref().map(|dir| dir.join("quarantine")),
        protected: dirs.config().ok().into_iter().chain(state).chain(data.clone()).collect(),
        hidden: data.into_iter().chain(dirs.claude_projects().ok()).collect(),
    }
}

/// The user's package caches, if it is known where they are and where their layers go.
fn cache_settings(system: &SystemContext, settings: &Settings, tell: &NoticeSink) -> Option<CacheSettings> {
    let (home, state) = (system.home()?, system.dirs.state().ok()?);
    let tell = Arc::clone(tell);
    Some(CacheSettings {
        mode: settings.sandbox.caches,
        home,
        dir: state.join(CACHE_LAYERS),
        project: system.working_dir.canonicalize().unwrap_or_else(|_| system.working_dir.clone()),
        bytes_max: settings.sandbox.cache_bytes_max,
        reports: CacheReports::new(move |problem| tell(Notice::warning(NoticeTopic::Sandbox, problem))),
    })
}

/// The directory of the cache layers, in the user's state directory.
const CACHE_LAYERS: &str = "caches";

/// Tells which package caches have no layer. The helper of the session knows once it has started.
fn tell_failed_layers(toolkit: &Toolkit, tell: &NoticeSink) {
    let Some(helper) = toolkit.sandbox().helper() else { return };
    let tell = Arc::clone(tell);
    drop(tokio::task::spawn_blocking(move || {
        // Where there is no helper, the first command says so.
        for (path, problem) in helper.failed_overlays().unwrap_or_default() {
            let message = format!(
                "the package cache {} cannot have a layer ({problem}); commands use one of their own for this project",
                path.display()
            );
            tell(Notice::info(NoticeTopic::Sandbox, message));
        }
    }));
}

/// What sandboxed commands wrote to package caches, by project.
pub(crate) fn sandbox_caches(system: &SystemContext) -> Vec<CacheUsage> {
    system.dirs.state().map(|state| list_caches(&state.join(CACHE_LAYERS))).unwrap_or_default()
}

/// Removes what sandboxed commands wrote to package caches, except for running sessions.
pub fn clean_sandbox_caches(system: &SystemContext) -> Result<CleanReport, UserDirsError> {
    Ok(clean_caches(&system.dirs.state()?.join(CACHE_LAYERS)))
}

/// Limits the tools that the model sees, including those of the context: all, or the ones that the caller names.
pub(super) fn offer(
    toolkit: &mut Toolkit,
    loaded: &mut LoadedContext,
    names: Option<&[String]>,
    tell: &NoticeSink,
) {
    let unknown = names.map(|names| toolkit.restrict_to(names)).unwrap_or_default();
    for name in unknown {
        let message = format!("unknown tool {name:?} in --tools; it is ignored");
        tell(Notice::warning(NoticeTopic::Policy, message));
    }
    loaded.withhold_tools(|name| toolkit.offers(name));
}

/// The session that begins, and how.
pub(super) struct SessionBeginning<'a> {
    pub(super) handle: &'a SessionHandle,
    pub(super) source: SessionStartSource,
}

/// The session as hooks see it.
fn hook_context(
    system: &SystemContext,
    config: &Config,
    toolkit: &Toolkit,
    began: &SessionBeginning<'_>,
    calls: &ClientCalls,
) -> HookContext {
    let (gate, calls) = (toolkit.gate(), calls.clone());
    let facts = move || {
        let agent = calls.agent();
        HookFacts {
            permission_mode: gate.mode(),
            model: agent.as_ref().map(|agent| agent.model().to_string()),
            thinking: agent.map(|agent| agent.thinking()).unwrap_or_default(),
        }
    };
    HookContext {
        session_id: began.handle.session_id().clone(),
        transcript_path: began.handle.transcript_path(),
        cwd: system.working_dir.clone(),
        project: config.project_root.clone(),
        home: system.home(),
        source: began.source,
        facts: Arc::new(facts),
        environment: HookEnvironment::new(system.environment.texts()),
        clock: Arc::clone(&system.clock),
    }
}

/// Functions of the client that are hooks.
pub(super) struct ClientHooks {
    pub(super) calls: ClientCalls,
    pub(super) settings: HookSettings,
}

/// The user's own hooks, the project's where it is trusted, and functions of the client.
pub(super) fn hooks(
    system: &SystemContext,
    config: &Config,
    toolkit: &Toolkit,
    began: &SessionBeginning<'_>,
    client: ClientHooks,
    tell: &NoticeSink,
) -> Vec<CommandHooks> {
    let told = || {
        let tell = Arc::clone(tell);
        move |message: &HookMessage| tell(Notice::warning(NoticeTopic::Hook, message.to_string()))
    };
    let ClientHooks { calls, settings: of_client } = client;
    let configured = &config.settings.hooks;
    for warning in configured.warnings.iter().chain(&of_client.warnings) {
        tell(Notice::warning(NoticeTopic::Hook, warning.clone()));
    }
    if configured.is_empty() && of_client.is_empty() {
        return Vec::new();
    }
    let context = hook_context(system, config, toolkit, began, &calls);
    let configured = Some(configured)
        .filter(|settings| !settings.is_empty())
        .map(|settings| CommandHooks::with_messages(settings.clone(), context.clone(), told()))
        .map(|hooks| hooks.in_sandbox(toolkit.sandbox().clone()));
    let of_client = Some(of_client)
        .filter(|settings| !settings.is_empty())
        .map(|settings| CommandHooks::with_callbacks(settings, context, Arc::new(calls), told()));
    configured.into_iter().chain(of_client).collect()
}

/// The parts of a session, ready to become an agent.
pub(super) struct Wired<'a> {
    pub(super) config: &'a Config,
    pub(super) model: &'a ResolvedModel,
    pub(super) loaded: &'a LoadedContext,
    pub(super) toolkit: &'a Toolkit,
    pub(super) handle: &'a SessionHandle,
}

impl Wired<'_> {
    /// The agent, as far as the configuration has a say, and what it may spend.
    pub(super) fn builder(&self, system: &SystemContext) -> (AgentBuilder, Option<BudgetPool>) {
        let settings = &self.config.settings;
        let tools = self.toolkit.tools();
        let builder = Agent::builder()
            .provider(Arc::clone(&self.model.provider))
            .model(&self.model.model)
            .tools(tools.clone())
            .permission_policy(self.toolkit.gate());
        let builder =
            self.loaded.wire(builder).window(settings.context.window).limits(settings.limits.execution());
        let builder = self.handle.wire(builder, &tools);
        let builder = match settings.limits.output_tokens_max {
            Some(tokens) => builder.max_tokens(tokens),
            None => builder,
        };
        match self.budget(system) {
            Some(budget) => (builder.budget(budget.clone()), Some(budget)),
            None => (builder, None),
        }
    }

    /// The MCP servers, which connect from now on.
    pub(super) fn servers(
        &self,
        system: &SystemContext,
        client_servers: Vec<String>,
        calls: &ClientCalls,
        tell: &NoticeSink,
    ) -> Option<Arc<SessionServers>> {
        SessionServers::start(ServerParts {
            system,
            config: self.config,
            client_servers,
            calls: calls.clone(),
            gate: self.toolkit.gate(),
            window_tokens: self.model.info.context_tokens,
            tell: Arc::clone(tell),
        })
    }

    /// What the whole session may spend, with what it has spent.
    fn budget(&self, system: &SystemContext) -> Option<BudgetPool> {
        let LimitSettings { budget, tokens_max, .. } = self.config.settings.limits;
        let caps = Caps { tokens: tokens_max, cost: budget, wall: None };
        let spent = self.handle.state().ledger();
        (caps != Caps::default()).then(|| BudgetPool::resume(caps, spent, Arc::clone(&system.clock)))
    }
}
