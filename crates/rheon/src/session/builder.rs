//! `SessionBuilder`: which session is opened, where, and with what.

use std::collections::BTreeMap;
use std::future::Future;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_app::config::{Config, ConfigInputs, FlagValue, TrustChoice};
use rheon_app::models::{ModelChoiceError, choose, full_name};
use rheon_app::session::{
    HostExtensions, HostParts, LocalHost, ProvidedModel, SystemContext, registry, variables,
};
use rheon_app::sessions::EnvVars;
use rheon_providers::ResolvedModel;
use rheon_types::event::{ApprovalRequest, PermissionMode, PermissionResponse};
use rheon_types::protocol::{HostQuery, HostReply, OpenRequest, SessionChoice, SessionScope, SessionSummary};
use rheon_types::{
    Amendment, Event, Flow, Hook, Host, IntoShared, ModelInfo, Provider, SessionId, ThinkingLevel, Tool,
    ToolCall, ToolResult,
};
use secrecy::SecretString;

use super::handle::{Session, facts, unexpected};
use super::run::Approve;
use crate::engine::check_key;
use crate::error::{Error, ErrorKind, Result};

/// How many sessions a list has at most.
const LISTED_MAX: u32 = 1_000;

/// Describes a session: where it works, its model, what may run, which one it is. What you leave out is as the user has configured it.
pub struct SessionBuilder {
    dir: PathBuf,
    choices: Vec<(&'static str, SessionChoice)>,
    request: OpenRequest,
    settings: Settings,
    environment: Option<EnvVars>,
    keys: BTreeMap<String, SecretString>,
    provider: Option<Arc<dyn Provider>>,
    extras: HostExtensions,
    approve: Option<Approve>,
}

/// What is configured here, over what the files of the user say.
#[derive(Default)]
struct Settings {
    /// Keys of the configuration, each with the method that sets it.
    values: Vec<(&'static str, &'static str, FlagValue)>,
    text: Option<String>,
    trusts_project: bool,
    is_unsaved: bool,
}

impl Session {
    /// Starts describing a session that works in `dir`.
    pub fn builder(dir: impl AsRef<Path>) -> SessionBuilder {
        SessionBuilder::new(dir.as_ref())
    }

    /// Opens a new session in `dir` with everything as the user has configured it.
    pub async fn open(dir: impl AsRef<Path>) -> Result<Self> {
        Self::builder(dir).open().await
    }
}

impl SessionBuilder {
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            choices: Vec::new(),
            request: OpenRequest::default(),
            settings: Settings::default(),
            environment: None,
            keys: BTreeMap::new(),
            provider: None,
            extras: HostExtensions::default(),
            approve: None,
        }
    }

    /// The model, named `vendor/model`. Without it: the one that is configured, or the first for which there is a key.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.request.model = Some(model.into());
        self
    }

    /// A model service of your own. [`model`](Self::model) then names the model as that service does.
    pub fn provider(mut self, provider: impl IntoShared<dyn Provider>) -> Self {
        self.provider = Some(provider.into_shared());
        self
    }

    /// Answers approval requests: `true`, a [`PermissionDecision`](crate::PermissionDecision) or a whole [`PermissionResponse`].
    /// Without it, tool calls that need approval are denied.
    pub fn approve<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(ApprovalRequest) -> A + Send + Sync + 'static,
        A: Future<Output: Into<PermissionResponse>> + Send + 'static,
    {
        self.approve = Some(Arc::new(move |request| {
            let answer = answer(request);
            Box::pin(async move { answer.await.into() })
        }));
        self
    }

    /// Resumes the session with this id or id prefix. Sessions of Claude Code work too.
    pub fn resume(mut self, id: impl Into<String>) -> Self {
        self.choices.push((".resume(..)", SessionChoice::Named { id: id.into() }));
        self
    }

    /// Continues the most recent session of the directory.
    pub fn continue_latest(mut self) -> Self {
        self.choices.push((".continue_latest()", SessionChoice::Latest));
        self
    }

    /// Starts a new session that continues from the end of this one, which stays as it is.
    pub fn fork(mut self, id: impl Into<String>) -> Self {
        self.choices.push((".fork(..)", SessionChoice::ForkOf { id: id.into() }));
        self
    }

    /// Starts a new session with an id of your own, a UUID.
    pub fn session_id(mut self, id: impl Into<SessionId>) -> Self {
        self.choices.push((".session_id(..)", SessionChoice::New { session_id: Some(id.into()) }));
        self
    }

    /// Saves nothing: the session is in memory only.
    pub fn unsaved(mut self) -> Self {
        self.settings.is_unsaved = true;
        self.set(".unsaved()", "sessions.keep", false)
    }

    /// What runs without approval.
    pub fn mode(mut self, mode: PermissionMode) -> Self {
        self.request.mode = Some(mode);
        self
    }

    /// Allows these rules, for example `Bash(cargo test *)`.
    pub fn allow(self, rules: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.set(".allow(..)", "permissions.allow", list(rules))
    }

    /// Denies these rules. A bare tool name hides the tool from the model.
    pub fn deny(self, rules: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.set(".deny(..)", "permissions.deny", list(rules))
    }

    /// Offers the model only these tools.
    pub fn only_tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.extras.tools = Some(list(names));
        self
    }

    /// Adds a tool of your own.
    pub fn tool(mut self, tool: impl IntoShared<dyn Tool>) -> Self {
        self.extras.added_tools.push(tool.into_shared());
        self
    }

    /// Adds a hook: a type that implements [`Hook`], or an async function such as [`hooks::before_run`](crate::hooks::before_run).
    pub fn hook(mut self, hook: impl IntoShared<dyn Hook>) -> Self {
        self.extras.hooks.push(hook.into_shared());
        self
    }

    /// Calls an async function before each tool call, after all approvals. A veto, or `false`, skips the call.
    pub fn before_tool<F, A>(self, function: F) -> Self
    where
        F: Fn(ToolCall) -> A + Send + Sync + 'static,
        A: Future<Output: Into<Flow>> + Send + 'static,
    {
        self.hook(rheon_agent::before_tool(function))
    }

    /// Calls an async function after each tool call, with its result and whether it failed. It may change what the model reads.
    pub fn after_tool<F, A>(self, function: F) -> Self
    where
        F: Fn(ToolCall, ToolResult, bool) -> A + Send + Sync + 'static,
        A: Future<Output: Into<Amendment>> + Send + 'static,
    {
        self.hook(rheon_agent::after_tool(function))
    }

    /// Calls `callback` for every event of every run, in order. It runs inside the loop, so it should return soon.
    pub fn on_event(mut self, callback: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.extras.observers.push(Arc::new(callback));
        self
    }

    /// Replaces the built-in system prompt.
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.request.system_prompt = Some(text.into());
        self
    }

    /// Adds text at the end of the system prompt.
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.request.append_system_prompt = Some(text.into());
        self
    }

    /// How much the model thinks.
    pub fn thinking(mut self, level: ThinkingLevel) -> Self {
        self.extras.thinking = Some(level);
        self
    }

    /// The most turns of one run.
    pub fn max_turns(self, turns: u32) -> Self {
        self.set(".max_turns(..)", "limits.turns_max", u64::from(turns))
    }

    /// The most money, in US dollars, that the session may spend.
    pub fn max_budget_usd(self, dollars: f64) -> Self {
        self.set(".max_budget_usd(..)", "limits.budget_usd", FlagValue::Number(dollars.to_string()))
    }

    /// An API key of a vendor; it goes before the environment's.
    pub fn key(mut self, vendor: impl Into<String>, key: impl Into<String>) -> Self {
        self.keys.insert(vendor.into(), SecretString::from(key.into()));
        self
    }

    /// More settings, as a file of the user would have them: TOML or JSON, or the name of such a file.
    pub fn settings(mut self, text: impl Into<String>) -> Self {
        self.settings.text = Some(text.into());
        self
    }

    /// Trusts the project's own hooks, skills, commands and allow rules for this session.
    pub fn trust_project(mut self) -> Self {
        self.settings.trusts_project = true;
        self
    }

    /// Other variables than those of the process. `HOME` says where sessions and settings are.
    pub fn environment<N, V>(mut self, variables: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<std::ffi::OsString>,
        V: Into<std::ffi::OsString>,
    {
        self.environment = Some(variables.into_iter().collect());
        self
    }

    /// Lists the sessions of the directory, most recent first.
    pub async fn sessions(self) -> Result<Vec<SessionSummary>> {
        let (host, ..) = self.host()?;
        match host.query(HostQuery::Sessions { scope: SessionScope::Project, limit: LISTED_MAX }).await? {
            HostReply::Sessions { sessions } => Ok(sessions),
            _ => Err(unexpected().into()),
        }
    }

    /// Opens the session.
    pub async fn open(mut self) -> Result<Session> {
        let approve = self.approve.take();
        let session = self.choice()?;
        let (host, mut request, parts) = self.host()?;
        let is_new = matches!(session, SessionChoice::New { .. });
        request.session = session;
        check_model(&parts, &mut request, is_new).await?;
        let client = host.open(request).await?;
        let id = facts(&*client).await?.session_id;
        Ok(Session { client, id, approve })
    }

    fn set(mut self, method: &'static str, key: &'static str, value: impl Into<FlagValue>) -> Self {
        self.settings.values.push((method, key, value.into()));
        self
    }

    fn choice(&self) -> Result<SessionChoice> {
        match self.choices.as_slice() {
            [] => Ok(SessionChoice::default()),
            [(method, SessionChoice::Named { .. } | SessionChoice::Latest)] if self.settings.is_unsaved => {
                Err(Error::conflict(".unsaved()", method))
            }
            [(_, choice)] => Ok(choice.clone()),
            [(one, _), (other, _), ..] => Err(Error::conflict(one, other)),
        }
    }

    /// The host that opens the session.
    fn host(self) -> Result<(Arc<dyn Host>, OpenRequest, HostParts)> {
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(Error::no_runtime());
        }
        if self.provider.is_some() && !self.keys.is_empty() {
            return Err(Error::conflict(".provider(..)", ".key(..)"));
        }
        let dir = dir(&self.dir)?;
        let environment = self.environment.unwrap_or_else(EnvVars::of_process);
        let inputs = ConfigInputs::new(environment.clone(), &dir);
        let Settings { values, text, trusts_project, .. } = self.settings;
        let trust = if trusts_project { TrustChoice::ThisSession } else { TrustChoice::AsGiven };
        let inputs = ConfigInputs { settings: text, trust, ..inputs };
        let set = |inputs: ConfigInputs, (method, key, value)| inputs.with_flag(method, key, value);
        let mut config = Config::load(values.into_iter().fold(inputs, set))?;
        config.settings.services.keys.extend(self.keys);
        let (mut request, mut extras) = (self.request, self.extras);
        if let Some(provider) = self.provider {
            extras.model = Some(given(provider, request.model.take()));
        }
        let system = SystemContext::of_process(environment, dir);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let parts = HostParts { system, config, extras, trace: None, version };
        Ok((LocalHost::shared(parts.clone()), request, parts))
    }
}

fn list(texts: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    texts.into_iter().map(Into::into).collect()
}

fn given(provider: Arc<dyn Provider>, model: Option<String>) -> ProvidedModel {
    let name = model.unwrap_or_else(|| "model".to_owned());
    let whole = format!("{}/{name}", provider.id());
    let info = Arc::new(ModelInfo::unknown(name.as_str()));
    ProvidedModel { name: whole, model: ResolvedModel { provider, model: name.into(), info } }
}

/// The directory as a whole path, which the session is known by.
fn dir(dir: &Path) -> Result<PathBuf> {
    let shown = dir.display();
    let wrong = |problem: &dyn std::fmt::Display| {
        Error::new(ErrorKind::Directory, format_args!("cannot work in {shown}: {problem}"))
    };
    let whole = dir.canonicalize().map_err(|error| match error.kind() {
        IoErrorKind::NotFound => {
            wrong(&"the directory does not exist").help("create it, or pass another path to Session::builder")
        }
        _ => wrong(&error).help("pass another path to Session::builder").because(error),
    })?;
    if whole.is_dir() {
        return Ok(whole);
    }
    Err(wrong(&"it is not a directory").help("pass the directory that it is in to Session::builder"))
}

/// An error if the model that would be asked is unknown or has no key, before anything is opened.
async fn check_model(parts: &HostParts, request: &mut OpenRequest, is_new: bool) -> Result<()> {
    if parts.extras.model.is_some() {
        return Ok(());
    }
    let HostParts { system, config, .. } = parts;
    let registry = registry(&config.settings.services, system).map_err(rheon_types::ClientError::from)?;
    let named = request.model.as_deref().or(config.settings.model.name.as_deref().filter(|_| is_new));
    let named = match named {
        Some(named) => full_name(named, &registry).map_err(unknown)?,
        // A resumed session remembers its model.
        None if !is_new => return Ok(()),
        None => choose(None, &registry, &variables(system)).await.map_err(unknown)?.name,
    };
    check_key(&registry, &named)
}

fn unknown(error: ModelChoiceError) -> Error {
    match error {
        ModelChoiceError::Registry(error) => error.into(),
        ModelChoiceError::Nothing => {
            Error::new(ErrorKind::MissingKey, "no API key is set, and no local model server answers").help(
                "set ANTHROPIC_API_KEY, OPENAI_API_KEY or another vendor's key, or pass one with .key(vendor, ..)",
            )
        }
        ModelChoiceError::Empty => crate::error::no_model(),
        ModelChoiceError::Unknown { name, advice } => {
            let advice = advice.trim_end_matches(';').to_owned();
            Error::new(ErrorKind::UnknownModel, format_args!("unknown model {name:?}")).help(advice)
        }
        ModelChoiceError::Unloaded { vendor, address } => {
            let message = format!("{vendor} answers at {address}, but has no model loaded");
            Error::new(ErrorKind::UnknownModel, message).help("load a model there, or name one with .model(..)")
        }
        ModelChoiceError::Fixed => Error::new(ErrorKind::Settings, error),
    }
}
