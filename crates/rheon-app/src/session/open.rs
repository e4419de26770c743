//! `OpenSession`: a session that is ready for prompts, built from the configuration.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rheon_agent::{Agent, AgentBuilder, BudgetPool, TokenCounter, Toolbox};
use rheon_providers::ResolvedModel;
use rheon_tools::Toolkit;
use rheon_tools::hooks::{CommandHooks, HookSettings, SessionStartSource};
use rheon_types::event::{Notice, NoticeTopic, PermissionMode, RulesChange, Scope};
use rheon_types::protocol::{CloseReason, ResumePoint, SessionChoice};
use rheon_types::{
    ClientError, Hook, InputFilter, OutputSchema, SessionEvent, SessionId, ThinkingLevel, Tool, ToolSource,
};
use tokio::task::spawn_blocking;

use super::answering::{Answering, ChosenModel, Others};
use super::attention::AttentionHooks;
use super::calls::ClientCalls;
use super::error::OpenError;
use super::hub::Hub;
use super::mcp::SessionServers;
use super::notices::Notices;
use super::past::logs;
use super::published::PublishedPorts;
use super::sandbox_control::SandboxControl;
use super::services::{registry, variables};
use super::wiring::{self, ClientHooks, ContextSubject, SessionBeginning, Wired};
use crate::config::Config;
use crate::context::{ExtensionPaths, Extensions, LoadedContext, ProjectTrust};
use crate::models::{ModelChoice, choose};
use crate::observe::Observability;
use crate::sessions::{ForkAt, SessionError, SessionHandle, SessionManager, SessionManagerParts};
use crate::system::{NoticeSink, Observer, SystemContext};

/// What a session is opened with.
pub(crate) struct Opening {
    /// The machine, the user and the time.
    pub(crate) system: SystemContext,
    pub(crate) config: Config,
    /// What the user wants first, if it is known: notes and learnings are chosen by it.
    pub(crate) task: Option<String>,
    pub(crate) choice: SessionChoice,
    /// Where the conversation continues.
    pub(crate) resume_at: Option<ResumePoint>,
    /// What the caller chose, before what a resumed session remembers.
    pub(crate) overrides: SessionOverrides,
    pub(crate) extras: HostExtensions,
    /// Functions of the client that are hooks.
    pub(crate) hooks: HookSettings,
    /// MCP servers inside the client.
    pub(crate) client_servers: Vec<String>,
}

/// What the caller of an opening chose for this session.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionOverrides {
    pub(crate) model: Option<String>,
    pub(crate) mode: Option<PermissionMode>,
}

/// What the caller adds to all sessions of a host.
#[derive(Clone, Default)]
pub struct HostExtensions {
    /// Run after all other hooks.
    pub hooks: Vec<Arc<dyn Hook>>,
    pub observers: Vec<Observer>,
    /// Tools that are offered behind the session's own, and that may change between turns.
    pub tool_sources: Vec<Arc<dyn ToolSource>>,
    /// Tools of the caller, besides those of the session.
    pub added_tools: Vec<Arc<dyn Tool>>,
    /// The form that answers must have.
    pub output_schema: Option<OutputSchema>,
    /// The only tools to offer, by the names that rules have for them.
    pub tools: Option<Vec<String>>,
    /// The thinking level, independent of the effort.
    pub thinking: Option<ThinkingLevel>,
    /// A model to use instead of the configured one.
    pub model: Option<ProvidedModel>,
}

impl HostExtensions {
    /// With this thinking level, unless the caller chose one.
    fn thinking_or(self, level: Option<ThinkingLevel>) -> Self {
        Self { thinking: self.thinking.or(level), ..self }
    }
}

/// A model that the caller provides.
#[derive(Clone)]
pub struct ProvidedModel {
    pub name: String,
    pub model: ResolvedModel,
}

/// A session that is ready for prompts.
pub(crate) struct OpenSession {
    pub(super) agent: Agent,
    pub(super) hub: Hub,
    pub(super) handle: SessionHandle,
    pub(super) manager: SessionManager,
    pub(super) toolkit: Toolkit,
    pub(super) loaded: LoadedContext,
    pub(super) answering: tokio::sync::Mutex<Answering>,
    pub(super) calls: ClientCalls,
    /// The budget of the session, if limited.
    pub(super) budget: Option<BudgetPool>,
    pub(super) extensions: LazyExtensions,
    pub(super) setup: SessionSetup,
    closing: Mutex<Option<Closing>>,
}

/// What a session was opened with and still answers questions about.
pub(super) struct SessionSetup {
    pub(super) system: SystemContext,
    pub(super) config: Config,
    pub(super) servers: Option<Arc<SessionServers>>,
}

/// The parts needed to close a session, once.
struct Closing {
    hooks: Vec<CommandHooks>,
    notices: Arc<Notices>,
    observing: Observability,
    /// Servers of the session at ports of the machine.
    published: Arc<PublishedPorts>,
}

/// Loads the context of a session, and reports what could not be loaded.
async fn load_context(
    system: &SystemContext,
    config: &Config,
    subject: ContextSubject<'_>,
    counter: TokenCounter,
    tell: &NoticeSink,
) -> LoadedContext {
    let (inputs, odd) = wiring::context_inputs(system, config, subject, counter).await;
    let loaded = LoadedContext::load(inputs).await;
    for warning in odd.iter().chain(&loaded.warnings) {
        tell(Notice::warning(NoticeTopic::Context, warning.to_string()));
    }
    loaded
}

impl OpenSession {
    /// Opens a session. Minor problems become notices and do not stop it.
    pub(crate) async fn open(
        opening: Opening,
        notices: Arc<Notices>,
        mut observing: Observability,
    ) -> Result<Self, OpenError> {
        // Needed for the agent at the end, and long enough to be done beside everything else.
        drop(spawn_blocking(Toolbox::prepare));
        let tell = notices.tell();
        let Opening {
            system,
            config,
            task,
            choice,
            resume_at,
            overrides,
            extras,
            hooks: client_hooks,
            client_servers,
        } = opening;
        tell_warnings(&config, &tell);
        let manager = manager(&system, &config, &tell)?;
        let handle = handle(&manager, &choice, resume_at.as_ref()).await?;
        let (chosen, model, others) = match extras.model.clone() {
            Some(ProvidedModel { name, model }) => (ModelChoice::configured(name), model, None),
            None => asked_for(&config, &system, &handle, &overrides, &tell).await?,
        };
        let counter = TokenCounter::for_model(&model.model);
        let policy = wiring::policy(&system, &config, &tell)?;
        tell_doubts(&handle, &tell);
        let mut subject = ContextSubject::new(task.as_deref(), handle.session_id(), &policy);
        subject.parent = manager.parent_of(handle.session_id()).await;
        let mut loaded = load_context(&system, &config, subject, counter, &tell).await;
        let mut toolkit = wiring::toolkit(&system, &config, policy, loaded.skills.clone(), &tell).await?;
        wiring::offer(&mut toolkit, &mut loaded, extras.tools.as_deref(), &tell);
        let began = SessionBeginning { handle: &handle, source: source(&choice) };
        let calls = ClientCalls::default();
        let of_client = ClientHooks { calls: calls.clone(), settings: client_hooks };
        let hooks = wiring::hooks(&system, &config, &toolkit, &began, of_client, &tell);
        let wired =
            Wired { config: &config, model: &model, loaded: &loaded, toolkit: &toolkit, handle: &handle };
        let (builder, budget) = wired.builder(&system);
        let servers = wired.servers(&system, client_servers, &calls, &tell);
        let extras = extras.thinking_or(handle.state().chosen.thinking);
        let observers = observers(&observing, handle.session_id(), &hooks, &calls);
        let builder = extended(builder, &hooks, extras, observers);
        let builder = with_servers(builder, servers.as_ref());
        let hub = hub_of(&manager, &handle);
        let agent = built(builder, &hub)?;
        calls.open(&agent);
        notices.open(&agent);
        observing.opened(handle.session_id(), &chosen.name, &system.working_dir);
        let extensions = extensions(&system, &config);
        let answering = Answering::new(ChosenModel { choice: chosen, model }, agent.thinking(), others);
        let session = Self {
            agent,
            hub,
            handle,
            manager,
            toolkit,
            loaded,
            answering: tokio::sync::Mutex::new(answering),
            calls,
            budget,
            extensions,
            setup: SessionSetup { system, config, servers },
            closing: Mutex::new(Some(Closing { hooks, notices, observing, published: Arc::default() })),
        };
        session.restore(&overrides, &tell);
        Ok(session)
    }

    /// Restores the choices saved in the session's log, and records the caller's new ones.
    fn restore(&self, overrides: &SessionOverrides, tell: &NoticeSink) {
        let (state, gate) = (self.handle.state(), self.toolkit.gate());
        for change in &state.chosen.rules {
            // Rules for all sessions were saved when they were made.
            let change = RulesChange { scope: Scope::Session, ..RulesChange::clone(change) };
            if let Err(error) = super::changes::apply_rules(&gate, &change) {
                tell(Notice::warning(NoticeTopic::Policy, error.to_string()));
            }
        }
        self.sandbox().restore(&state.chosen, tell);
        let set = |mode| {
            if let Err(error) = gate.set_mode(mode) {
                tell(Notice::warning(NoticeTopic::Policy, error.to_string()));
            }
        };
        match (overrides.mode, state.mode) {
            (None, None) => {}
            (Some(mode), before) => {
                set(mode);
                if before.is_some_and(|before| before != mode) {
                    self.agent.record_fact(SessionEvent::Mode { mode });
                }
            }
            // The mode bypassPermissions must be set again each time.
            (None, Some(PermissionMode::BypassPermissions)) => tell(Notice::info(
                NoticeTopic::Policy,
                "mode bypassPermissions is not restored; set it again with --permission-mode bypassPermissions",
            )),
            (None, Some(mode)) => set(mode),
        }
        if let Some(model) = &overrides.model
            && state.chosen.model.as_deref() != Some(model)
            && state.seq > 0
        {
            self.agent.record_fact(SessionEvent::Model {
                model: model.as_str().into(),
                thinking: state.chosen.thinking,
            });
        }
    }

    /// Ends the session in order: cancels a run in progress, runs the hooks, and saves everything.
    pub(crate) async fn close(&self, reason: CloseReason) -> Result<(), ClientError> {
        let closing = self.closing.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Closing { hooks, notices, observing, published }) = closing else {
            return Err(super::hub::closed());
        };
        self.agent.abort();
        self.agent.wait_until_idle().await;
        if let Some(servers) = &self.setup.servers {
            servers.close().await;
        }
        for hooks in &hooks {
            hooks.session_end(end_reason(reason)).await;
        }
        published.close();
        let saved = self.handle.save().await;
        self.handle.close().await;
        notices.close();
        self.calls.close();
        self.hub.close();
        observing.end().await;
        // Everything is closed now, but the end of the session may be lost.
        let id = self.handle.session_id();
        saved.map_err(|error| {
            ClientError::failed(format!("the end of session {id} may not be saved: {error}"))
        })
    }

    /// What the user may change about the sandbox of commands.
    pub(super) fn sandbox(&self) -> SandboxControl<'_> {
        SandboxControl { toolkit: &self.toolkit, config: &self.setup.config }
    }

    /// The servers that are published until the session is closed.
    pub(super) fn published(&self) -> Result<Arc<PublishedPorts>, ClientError> {
        let closing = self.closing.lock().unwrap_or_else(PoisonError::into_inner);
        closing.as_ref().map(|closing| Arc::clone(&closing.published)).ok_or_else(super::hub::closed)
    }

    pub(super) fn working_dir(&self) -> &Path {
        &self.setup.system.working_dir
    }

    pub(super) fn home(&self) -> Option<PathBuf> {
        self.setup.system.home()
    }

    /// Whether it is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.closing.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        // A session without clients ends its run; everything else was saved as it happened.
        self.agent.abort();
        self.calls.close();
        self.hub.close();
    }
}

/// Those who follow the events of a session besides its clients.
fn observers(
    observing: &Observability,
    session_id: &SessionId,
    hooks: &[CommandHooks],
    calls: &ClientCalls,
) -> Vec<Observer> {
    let attention = AttentionHooks::new(session_id, hooks, calls).map(AttentionHooks::observer);
    observing.observers().into_iter().chain(attention).collect()
}

/// The agent with its hooks, and with what the caller adds.
fn extended(
    mut builder: AgentBuilder,
    hooks: &[CommandHooks],
    extras: HostExtensions,
    observers: Vec<Observer>,
) -> AgentBuilder {
    for hooks in hooks {
        builder = builder
            .hook(Arc::new(hooks.clone()) as Arc<dyn Hook>)
            .input_filter(Arc::new(hooks.clone()) as Arc<dyn InputFilter>);
    }
    builder = extras.hooks.into_iter().fold(builder, AgentBuilder::hook);
    builder = extras.tool_sources.into_iter().fold(builder, AgentBuilder::tool_source);
    builder = builder.tools(extras.added_tools);
    for observer in extras.observers.into_iter().chain(observers) {
        builder = builder.on_event(move |event| observer(event));
    }
    if let Some(level) = extras.thinking {
        builder = builder.thinking(level);
    }
    match extras.output_schema {
        Some(schema) => builder.json_schema(schema),
        None => builder,
    }
}

/// The agent, whose events the hub publishes.
fn built(builder: AgentBuilder, hub: &Hub) -> Result<Agent, OpenError> {
    let shown = hub.clone();
    Ok(builder.on_shared_event(move |event| shown.publish(event)).build()?)
}

/// The agent with the tools of MCP servers.
fn with_servers(builder: AgentBuilder, servers: Option<&Arc<SessionServers>>) -> AgentBuilder {
    let Some(servers) = servers else { return builder };
    let hook = Arc::clone(servers) as Arc<dyn Hook>;
    builder.hook(hook).tool_source(Arc::clone(servers) as Arc<dyn ToolSource>)
}

fn end_reason(reason: CloseReason) -> rheon_tools::hooks::SessionEndReason {
    use rheon_tools::hooks::SessionEndReason;
    match reason {
        CloseReason::Clear => SessionEndReason::Clear,
        CloseReason::Resume => SessionEndReason::Resume,
        CloseReason::Exit => SessionEndReason::PromptInputExit,
        CloseReason::Other => SessionEndReason::Other,
    }
}

/// Commands of the user and of the project: looked for when the first one is typed.
pub(super) struct LazyExtensions {
    places: ExtensionPaths,
    trust: ProjectTrust,
    loaded: OnceLock<Extensions>,
}

impl LazyExtensions {
    pub(super) fn get(&self) -> &Extensions {
        self.loaded.get_or_init(|| Extensions::load(&self.places, self.trust))
    }
}

/// The slash commands there may be, looked for when the first is typed.
fn extensions(system: &SystemContext, config: &Config) -> LazyExtensions {
    let dir = system.dirs.config().ok();
    let home = system.home();
    let places = ExtensionPaths::of(home.as_deref(), dir.as_deref(), &config.project_root);
    LazyExtensions { places, trust: config.trust, loaded: OnceLock::new() }
}

/// The caller's model, else the one saved in the session, else the configured one.
async fn asked_for(
    config: &Config,
    system: &SystemContext,
    handle: &SessionHandle,
    overrides: &SessionOverrides,
    tell: &NoticeSink,
) -> Result<(ModelChoice, ResolvedModel, Option<Others>), OpenError> {
    let remembered = handle.state().chosen.model.clone();
    let wanted = overrides.model.clone().or_else(|| remembered.as_deref().map(str::to_owned));
    let found = match wanted {
        None => asked(config, system).await,
        Some(wanted) => {
            let mut chosen = config.clone();
            chosen.settings.model.name = Some(wanted.clone());
            match asked(&chosen, system).await {
                Err(error) if overrides.model.is_none() => {
                    let message = format!("this session used {wanted}, which is not available now: {error}");
                    tell(Notice::warning(NoticeTopic::Model, message));
                    asked(config, system).await
                }
                asked => asked,
            }
        }
    };
    found.map(|(choice, model, others)| (choice, model, Some(others)))
}

fn tell_warnings(config: &Config, tell: &NoticeSink) {
    for warning in &config.warnings {
        tell(Notice::warning(NoticeTopic::Config, warning.to_string()));
    }
}

/// The configured model, or else the first available one.
pub(super) async fn asked(
    config: &Config,
    system: &SystemContext,
) -> Result<(ModelChoice, ResolvedModel, Others), OpenError> {
    let settings = &config.settings;
    let registry = registry(&settings.services, system)?;
    let said = settings.model.name.as_deref();
    let variables = variables(system);
    let chosen = choose(said, &registry, &variables).await?;
    let (ahead, name) = (registry.clone(), chosen.name.clone());
    // Reading certificates is slow enough to do it in parallel. The first request waits for it.
    drop(spawn_blocking(move || ahead.prepare(&name)));
    let model = wiring::resolve(&registry, &chosen, settings.model.fallback.as_deref()).await?;
    let (services, fallback) = (settings.services.clone(), settings.model.fallback.clone());
    Ok((chosen, model, Others { registry, fallback, services, variables }))
}

pub(super) fn manager(
    system: &SystemContext,
    config: &Config,
    tell: &NoticeSink,
) -> Result<SessionManager, OpenError> {
    let parts = SessionManagerParts {
        dirs: system.dirs.clone(),
        project: system.working_dir.clone(),
        settings: config.settings.sessions.clone(),
        clock: Arc::clone(&system.clock),
        random: Arc::clone(&system.random),
    };
    let tell = Arc::clone(tell);
    let told = move |notice: crate::sessions::SessionNotice| {
        tell(Notice::warning(NoticeTopic::Session, notice.to_string()));
    };
    Ok(SessionManager::new(parts, told)?)
}

async fn handle(
    manager: &SessionManager,
    choice: &SessionChoice,
    at: Option<&ResumePoint>,
) -> Result<SessionHandle, OpenError> {
    Ok(match (choice, at) {
        (SessionChoice::New { .. }, Some(at)) => {
            return Err(SessionError::NoSuchMessage { uuid: at.message.clone() }.into());
        }
        (SessionChoice::New { session_id: None }, None) => manager.start().await?,
        (SessionChoice::New { session_id: Some(session_id) }, None) => {
            manager.start_with_id(session_id.clone()).await?
        }
        (SessionChoice::Latest, None) => manager.resume_latest().await?,
        (SessionChoice::Latest, Some(at)) => manager.resume_at(None, at).await?,
        (SessionChoice::Named { id }, None) => manager.resume(id).await?,
        (SessionChoice::Named { id }, Some(at)) => manager.resume_at(Some(id), at).await?,
        (SessionChoice::ForkOfLatest, None) => manager.fork_latest().await?,
        (SessionChoice::ForkOfLatest, Some(at)) => manager.fork_at(None, at).await?,
        (SessionChoice::ForkOf { id }, None) => manager.fork(id, ForkAt::End).await?,
        (SessionChoice::ForkOf { id }, Some(at)) => manager.fork_at(Some(id), at).await?,
    })
}

/// The hub of the session. Where the session is not saved, the hub keeps what happens.
fn hub_of(manager: &SessionManager, handle: &SessionHandle) -> Hub {
    let past = logs(manager.clone(), handle.unsaved());
    let hub = Hub::new(handle.session_id().clone(), handle.state().clone(), past);
    if handle.is_saved() { hub } else { hub.remembering() }
}

fn tell_doubts(kept: &SessionHandle, tell: &NoticeSink) {
    for doubt in kept.unfinished_calls() {
        let name = &doubt.tool_name;
        tell(Notice::warning(
            NoticeTopic::InDoubt,
            format!("`{name}` was running when this session last ended; it may or may not have finished"),
        ));
    }
}

fn source(choice: &SessionChoice) -> SessionStartSource {
    match choice {
        SessionChoice::New { .. } => SessionStartSource::Startup,
        SessionChoice::Latest | SessionChoice::Named { .. } => SessionStartSource::Resume,
        SessionChoice::ForkOfLatest | SessionChoice::ForkOf { .. } => SessionStartSource::Fork,
    }
}
