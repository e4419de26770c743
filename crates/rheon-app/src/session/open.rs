//! `OpenSession`: a session that is ready for prompts. Everything that is configured comes together here.

use std::sync::Arc;

use rheon_agent::{Agent, TokenCounter};
use rheon_providers::ResolvedModel;
use rheon_tools::Toolkit;
use rheon_tools::hooks::{CommandHooks, SessionEndReason, SessionSource};
use rheon_types::event::Ledger;
use rheon_types::{Event, Hook, InputFilter, OutputSchema, SessionId};

use super::client::{Asking, ClientParts, LocalClient};
use super::error::OpenError;
use super::machine::Surroundings;
use super::notice::SessionNotice;
use super::services::{registry, variables};
use super::wiring::{self, Wired};
use crate::config::Config;
use crate::context::Loaded;
use crate::keeping::{ForkAt, Keeper, KeeperParts, KeptSession};
use crate::models::{Because, Chosen, choose};

/// Who is told what the user should know.
pub type Tell = Arc<dyn Fn(SessionNotice) + Send + Sync>;

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

/// What the caller adds to a session.
#[derive(Default)]
pub struct Extras {
    /// Asked and told after all other hooks.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// See every event.
    pub observers: Vec<Box<dyn Fn(&Event) + Send + Sync>>,
    /// The form that answers must have.
    pub output_schema: Option<OutputSchema>,
}

/// A session that is ready for prompts.
pub struct OpenSession {
    client: LocalClient,
    kept: KeptSession,
    keeper: Keeper,
    toolkit: Toolkit,
    loaded: Loaded,
    chosen: Chosen,
    model: ResolvedModel,
    hooks: Option<CommandHooks>,
}

impl OpenSession {
    /// Opens a session. What is odd is told and does not keep it from running.
    pub async fn open(opening: Opening, tell: Tell) -> Result<Self, OpenError> {
        let Opening { surroundings, config, task, which, asking, extras } = opening;
        let settings = &config.settings;
        for warning in &config.warnings {
            tell(SessionNotice::Config(warning.clone()));
        }
        let registry = registry(&settings.services, &surroundings)?;
        let said = settings.model.name.as_deref();
        let chosen = choose(said, &registry, &variables(&surroundings)).await?;
        let model = wiring::resolve(&registry, &chosen, settings.model.fallback.as_deref()).await?;
        let keeper = keeper(&surroundings, &config, &tell)?;
        let counter = TokenCounter::for_model(&model.model);
        let inputs = wiring::context_inputs(&surroundings, &config, task.as_deref(), counter);
        let (kept, loaded) = tokio::join!(kept(&keeper, &which), Loaded::load(inputs));
        let kept = kept?;
        for doubt in kept.doubts() {
            tell(SessionNotice::Doubt(doubt.clone()));
        }
        for warning in &loaded.warnings {
            tell(SessionNotice::Context(warning.clone()));
        }
        let toolkit = wiring::toolkit(&surroundings, &config, &loaded, &tell).await?;
        let hooks =
            wiring::hooks(&surroundings, &config, &toolkit, (kept.session_id(), source(&which)), &tell);
        let wired = Wired { config: &config, model: &model, loaded: &loaded, toolkit: &toolkit, kept: &kept };
        let mut builder = wired.builder(&surroundings);
        if let Some(hooks) = &hooks {
            builder = builder
                .shared_hook(Arc::new(hooks.clone()) as Arc<dyn Hook>)
                .shared_input_filter(Arc::new(hooks.clone()) as Arc<dyn InputFilter>);
        }
        builder = extras.hooks.into_iter().fold(builder, |builder, hook| builder.shared_hook(hook));
        builder = extras.observers.into_iter().fold(builder, |builder, observer| builder.on_event(observer));
        if let Some(schema) = extras.output_schema {
            builder = builder.output_schema(schema);
        }
        let agent = builder.build()?;
        let client = client(agent, &toolkit, &keeper, &kept, asking);
        Ok(Self { client, kept, keeper, toolkit, loaded, chosen, model, hooks })
    }

    /// How the session is reached.
    pub fn client(&self) -> &LocalClient {
        &self.client
    }

    /// The session's id.
    pub fn session_id(&self) -> &SessionId {
        self.kept.session_id()
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
        &self.chosen.name
    }

    /// Why this model.
    pub fn because(&self) -> &Because {
        &self.chosen.because
    }

    /// The model.
    pub fn model(&self) -> &ResolvedModel {
        &self.model
    }

    /// What earlier runs of the session spent.
    pub fn spent_before(&self) -> Ledger {
        self.kept.state().ledger()
    }

    /// Ends the session in order: a run that is under way is cancelled, hooks are told, and all that happened is kept.
    pub async fn close(self, reason: SessionEndReason) {
        self.client.agent().abort();
        self.client.agent().wait_until_idle().await;
        if let Some(hooks) = &self.hooks {
            hooks.session_end(reason).await;
        }
        self.kept.close().await;
    }
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
