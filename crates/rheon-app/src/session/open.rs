//! `OpenSession`: a session that is ready for prompts. Everything that is configured comes together here.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rheon_agent::{Agent, ContextReport, TokenCounter, Toolbox};
use rheon_providers::ResolvedModel;
use rheon_tools::Toolkit;
use rheon_tools::commands::Part;
use rheon_tools::hooks::{CommandHooks, HookSettings, SessionEndReason, SessionSource};
use rheon_types::{Event, Hook, InputFilter, OutputSchema, SessionId, ThinkingLevel};
use tokio::task::spawn_blocking;

use super::answering::{Answering, Others};
use super::client::{Asking, ClientParts, LocalClient};
use super::error::OpenError;
use super::machine::Surroundings;
use super::notice::{SessionNotice, Tell};
use super::services::{registry, variables};
use super::spent::{Counter, Spent};
use super::tool_tokens::tool_tokens;
use super::wiring::{self, Wired};
use crate::config::Config;
use crate::context::{ExtensionPlaces, Extensions, Loaded, ProjectTrust};
use crate::keeping::{ForkAt, Keeper, KeeperParts, KeptSession};
use crate::models::{Because, Chosen, choose};
use crate::stream_json::Channel;

/// What a session is opened with.
pub struct Opening {
    /// The machine, the user and the time.
    pub surroundings: Surroundings,
    /// What is configured.
    pub config: Config,
    /// What the user wants first, if it is known: notes and learnings are chosen by it.
    pub task: Option<String>,
    /// Which session.
    pub which: Which,
    /// Whether somebody can be asked.
    pub asking: Asking,
    /// What the caller adds.
    pub extras: Extras,
}

/// Which session is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// A new one, with an id of its own or this one.
    New(Option<SessionId>),
    /// The one of this folder that was active last.
    Latest,
    /// The one whose id is this or begins with it.
    Named(String),
    /// A new one that goes on from the one of this folder that was active last.
    ForkOfLatest,
    /// A new one that goes on from another.
    ForkOf(String),
}

/// Sees every event of a session, in order.
pub type Observer = Box<dyn Fn(&Event) + Send + Sync>;

/// What the caller adds to a session.
#[derive(Default)]
pub struct Extras {
    /// Asked and told after all other hooks.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// See every event.
    pub observers: Vec<Observer>,
    /// The form that answers must have.
    pub output_schema: Option<OutputSchema>,
    /// The only tools to offer, by the names that rules have for them.
    pub tools: Option<Vec<String>>,
    /// How much the model is to think, whatever the effort.
    pub thinking: Option<ThinkingLevel>,
    /// A model to be asked instead of any that is configured.
    pub model: Option<GivenModel>,
    /// The program that drives the session, with the functions that it registered as hooks.
    pub driver: Option<(Channel, HookSettings)>,
}

/// A model that the caller brings along.
pub struct GivenModel {
    /// Its whole name.
    pub name: String,
    /// The model.
    pub model: ResolvedModel,
}

/// A session that is ready for prompts.
pub struct OpenSession {
    pub(super) client: LocalClient,
    pub(super) kept: KeptSession,
    pub(super) keeper: Keeper,
    pub(super) toolkit: Toolkit,
    loaded: Loaded,
    pub(super) answering: Answering,
    hooks: Vec<CommandHooks>,
    spent: Counter,
    extensions: LazyExtensions,
    pub(super) working_folder: PathBuf,
}

impl OpenSession {
    /// Opens a session. What is odd is told and does not keep it from running.
    pub async fn open(opening: Opening, tell: Tell) -> Result<Self, OpenError> {
        // Needed for the agent at the end, and long enough to be done beside everything else.
        drop(spawn_blocking(Toolbox::prepare));
        let Opening { surroundings, config, task, which, asking, extras } = opening;
        for warning in &config.warnings {
            tell(SessionNotice::Config(warning.clone()));
        }
        let (chosen, model, others) = match extras.model {
            Some(GivenModel { name, model }) => (Chosen { name, because: Because::Said }, model, None),
            None => {
                let (chosen, model, others) = asked(&config, &surroundings).await?;
                (chosen, model, Some(others))
            }
        };
        let keeper = keeper(&surroundings, &config, &tell)?;
        let counter = TokenCounter::for_model(&model.model);
        let policy = wiring::policy(&surroundings, &config, &tell)?;
        let kept = kept(&keeper, &which).await?;
        let about = (kept.session_id(), &policy);
        let (inputs, odd) =
            wiring::context_inputs(&surroundings, &config, task.as_deref(), about, counter).await;
        let mut loaded = Loaded::load(inputs).await;
        for doubt in kept.doubts() {
            tell(SessionNotice::Doubt(doubt.clone()));
        }
        for warning in odd.iter().chain(&loaded.warnings) {
            tell(SessionNotice::Context(warning.clone()));
        }
        let skills = loaded.skills.clone();
        let mut toolkit = wiring::toolkit(&surroundings, &config, policy, skills, &tell).await?;
        wiring::offer(&mut toolkit, &mut loaded, extras.tools.as_deref(), &tell);
        let about = (kept.session_id(), source(&which));
        let context = wiring::hook_context(&surroundings, &config, &toolkit, about);
        let hooks = wiring::hooks(&config, &context, extras.driver.as_ref(), &tell);
        let wired = Wired { config: &config, model: &model, loaded: &loaded, toolkit: &toolkit, kept: &kept };
        let mut builder = wired.builder(&surroundings);
        for hooks in &hooks {
            builder = builder
                .shared_hook(Arc::new(hooks.clone()) as Arc<dyn Hook>)
                .shared_input_filter(Arc::new(hooks.clone()) as Arc<dyn InputFilter>);
        }
        builder = extras.hooks.into_iter().fold(builder, |builder, hook| builder.shared_hook(hook));
        builder = extras.observers.into_iter().fold(builder, |builder, observer| builder.on_event(observer));
        if let Some(level) = extras.thinking {
            builder = builder.thinking(level);
        }
        if let Some(schema) = extras.output_schema {
            builder = builder.json_schema(schema);
        }
        let spent = Counter::from(&kept.state().ledger());
        let counting = spent.clone();
        let agent = builder.on_event(move |event| counting.observe(event)).build()?;
        let extensions = extensions(&surroundings, &config);
        let client = client(agent, &toolkit, &keeper, &kept, asking);
        let answering = Answering::new((chosen, model), client.agent().thinking(), others);
        let working_folder = surroundings.working_folder;
        Ok(Self {
            client,
            kept,
            keeper,
            toolkit,
            loaded,
            answering,
            hooks,
            spent,
            extensions,
            working_folder,
        })
    }

    /// How the session is reached.
    pub fn client(&self) -> &LocalClient {
        &self.client
    }

    /// The session's id.
    pub fn session_id(&self) -> &SessionId {
        self.kept.session_id()
    }

    /// Where it works.
    pub fn working_folder(&self) -> &Path {
        &self.working_folder
    }

    /// How the session is kept.
    pub fn kept(&self) -> &KeptSession {
        &self.kept
    }

    /// What keeps sessions.
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    /// The tools and their gate.
    pub fn toolkit(&self) -> &Toolkit {
        &self.toolkit
    }

    /// What the model is told.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// The model's whole name, `vendor/model`.
    pub fn model_name(&self) -> &str {
        &self.answering.chosen.name
    }

    /// Why this model.
    pub fn because(&self) -> &Because {
        &self.answering.chosen.because
    }

    /// The model.
    pub fn model(&self) -> &ResolvedModel {
        &self.answering.model
    }

    /// What the session has used so far.
    pub fn spent(&self) -> Spent {
        self.spent.now()
    }

    /// What takes how much of the model's window.
    pub fn context_report(&self) -> ContextReport {
        let counter = TokenCounter::for_model(&self.answering.model.model);
        let tools = tool_tokens(counter, &self.toolkit.tools());
        let messages = self.client.agent().messages();
        let messages =
            messages.iter().filter_map(|message| message.as_llm()).map(|message| counter.message(message));
        self.loaded.assembled.report(tools, messages.sum(), self.answering.model.info.context_tokens)
    }

    /// What was typed, if it is a command of the user's or of the project's own: the prompt that it stands for. Files and commands
    /// that its text names are named in the prompt, for the model to look at them through the gate.
    pub fn expand(&self, typed: &str) -> Option<Result<String, String>> {
        if !typed.trim_start().starts_with('/') {
            return None;
        }
        let expanded = self.extensions.get().expand(typed)?;
        let named = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::File(path) => format!("@{} (read this file)", path.display()),
            Part::Command(command) => format!("(run this command and use its output: `{command}`)"),
        };
        Some(expanded.map(|expanded| expanded.prompt(named)).map_err(|error| error.to_string()))
    }

    /// Ends the session in order: a run that is under way is cancelled, hooks are told, and all that happened is kept.
    pub async fn close(self, reason: SessionEndReason) {
        self.client.agent().abort();
        self.client.agent().wait_until_idle().await;
        for hooks in &self.hooks {
            hooks.session_end(reason).await;
        }
        self.kept.close().await;
    }
}

/// Commands of the user and of the project: looked for when the first one is typed.
struct LazyExtensions {
    places: ExtensionPlaces,
    trust: ProjectTrust,
    loaded: OnceLock<Extensions>,
}

impl LazyExtensions {
    fn get(&self) -> &Extensions {
        self.loaded.get_or_init(|| Extensions::load(&self.places, self.trust))
    }
}

/// The slash commands there may be, looked for when the first is typed.
fn extensions(surroundings: &Surroundings, config: &Config) -> LazyExtensions {
    let folder = surroundings.folders.config().ok();
    let home = surroundings.home();
    let places = ExtensionPlaces::of(home.as_deref(), folder.as_deref(), &config.project_root);
    LazyExtensions { places, trust: config.trust, loaded: OnceLock::new() }
}

/// The model that is configured, or else the first that can be asked.
pub(super) async fn asked(
    config: &Config,
    surroundings: &Surroundings,
) -> Result<(Chosen, ResolvedModel, Others), OpenError> {
    let settings = &config.settings;
    let registry = registry(&settings.services, surroundings)?;
    let said = settings.model.name.as_deref();
    let variables = variables(surroundings);
    let chosen = choose(said, &registry, &variables).await?;
    let (ahead, name) = (registry.clone(), chosen.name.clone());
    // Reading certificates takes long enough to do it beside everything else. Whoever asks first waits for it.
    drop(spawn_blocking(move || ahead.prepare(&name)));
    let model = wiring::resolve(&registry, &chosen, settings.model.fallback.as_deref()).await?;
    let (services, fallback) = (settings.services.clone(), settings.model.fallback.clone());
    Ok((chosen, model, Others { registry, fallback, services, variables }))
}

fn keeper(surroundings: &Surroundings, config: &Config, tell: &Tell) -> Result<Keeper, OpenError> {
    let parts = KeeperParts {
        folders: surroundings.folders.clone(),
        project: surroundings.working_folder.clone(),
        settings: config.settings.sessions.clone(),
        clock: Arc::clone(&surroundings.clock),
        random: Arc::clone(&surroundings.random),
    };
    let tell = Arc::clone(tell);
    Ok(Keeper::new(parts, move |notice| tell(SessionNotice::Keeping(notice)))?)
}

async fn kept(keeper: &Keeper, which: &Which) -> Result<KeptSession, OpenError> {
    Ok(match which {
        Which::New(None) => keeper.begin().await?,
        Which::New(Some(session_id)) => keeper.begin_as(session_id.clone()).await?,
        Which::Latest => keeper.resume_latest().await?,
        Which::Named(wanted) => keeper.resume(wanted).await?,
        Which::ForkOfLatest => keeper.fork_latest().await?,
        Which::ForkOf(wanted) => keeper.fork(wanted, ForkAt::End).await?,
    })
}

fn source(which: &Which) -> SessionSource {
    match which {
        Which::New(_) => SessionSource::Startup,
        Which::Latest | Which::Named(_) => SessionSource::Resume,
        Which::ForkOfLatest | Which::ForkOf(_) => SessionSource::Fork,
    }
}

fn client(
    agent: Agent,
    toolkit: &Toolkit,
    keeper: &Keeper,
    kept: &KeptSession,
    asking: Asking,
) -> LocalClient {
    let (keeper, session_id) = (keeper.clone(), kept.session_id().clone());
    LocalClient::new(ClientParts {
        agent,
        gate: Some(toolkit.gate()),
        past: Arc::new(move |after| keeper.events_after(&session_id, after)),
        asking,
    })
}
