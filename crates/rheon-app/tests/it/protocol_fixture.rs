//! A host with a scripted model that speaks when the test lets it, reached directly or over a pipe.

use std::sync::Arc;

use futures::StreamExt as _;
use rheon_app::config::{Config, ConfigInputs, TrustChoice};
use rheon_app::pipe::over_memory;
use rheon_app::session::{HostExtensions, HostParts, LocalHost, ProvidedModel, SystemContext};
use rheon_app::sessions::EnvVars;
use rheon_providers::ResolvedModel;
use rheon_testkit::{Scenario, ScriptedProvider};
use rheon_types::protocol::{OpenRequest, Query, Reply, SessionChoice, SessionInfo, Snapshot, Subscription};
use rheon_types::{
    AgentEvent, ChunkStream, Client, Command, Content, Event, EventStream, FixedTools, Host, MessageEvent,
    ModelInfo, Provider, Request, RunEvent, Tool, ToolSource,
};
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// How the host is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Nothing,
    Pipe,
}

/// Runs each of these functions with a host of this process, and over a pipe.
macro_rules! both_ways {
    ($($name:ident)*) => { $(
        mod $name {
            #[tokio::test]
            async fn directly() {
                super::$name(crate::protocol_fixture::Over::Nothing).await;
            }

            #[tokio::test]
            async fn over_a_pipe() {
                super::$name(crate::protocol_fixture::Over::Pipe).await;
            }
        }
    )* };
}
pub(crate) use both_ways;

/// A home, a project and a host.
pub(crate) struct Stage {
    dir: TempDir,
    over: Over,
    pub(crate) local: Arc<LocalHost>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) model: Speech,
}

/// How much the model may say.
#[derive(Clone)]
pub(crate) struct Speech {
    pieces: Arc<Semaphore>,
}

impl Speech {
    /// The model may send so many more pieces of its answers.
    pub(crate) fn allow(&self, pieces: usize) {
        self.pieces.add_permits(pieces);
    }

    /// The model may say all it has to say.
    pub(crate) fn allow_all(&self) {
        self.allow(10_000_000);
    }
}

struct Held {
    scripted: ScriptedProvider,
    speech: Speech,
}

impl Provider for Held {
    fn id(&self) -> &str {
        self.scripted.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream {
        let pieces = Arc::clone(&self.speech.pieces);
        let cut = cancel.clone();
        Box::pin(self.scripted.stream(request, cancel).then(move |chunk| {
            let (pieces, cut) = (Arc::clone(&pieces), cut.clone());
            async move {
                tokio::select! {
                    permit = pieces.acquire() => permit.unwrap().forget(),
                    () = cut.cancelled() => {}
                }
                chunk
            }
        }))
    }
}

impl Stage {
    /// A model that waits until it may speak.
    pub(crate) fn silent(over: Over, scenario: Scenario) -> Self {
        Self::with_tools(over, scenario, Vec::new())
    }

    /// The same with more tools.
    pub(crate) fn with_tools(over: Over, scenario: Scenario, tools: Vec<Arc<dyn Tool>>) -> Self {
        let speech = Speech { pieces: Arc::new(Semaphore::new(0)) };
        let provider = Held { scripted: ScriptedProvider::new(scenario), speech: speech.clone() };
        let info = Arc::new(ModelInfo::unknown("scripted"));
        let model = ResolvedModel { provider: Arc::new(provider), model: "scripted".into(), info };
        let model = ProvidedModel { name: "test/scripted".into(), model };
        let tool_sources: Vec<Arc<dyn ToolSource>> = vec![Arc::new(FixedTools::new("more", tools))];
        Self::of(
            over,
            HostExtensions { model: Some(model), tool_sources, ..HostExtensions::default() },
            speech,
        )
    }

    /// A model that says what it has to say.
    pub(crate) fn new(over: Over, scenario: Scenario) -> Self {
        let stage = Self::silent(over, scenario);
        stage.model.allow_all();
        stage
    }

    /// With the models that are configured; none of them is asked.
    pub(crate) fn with_services(over: Over) -> Self {
        Self::of(over, HostExtensions::default(), Speech { pieces: Arc::new(Semaphore::new(0)) })
    }

    fn of(over: Over, extras: HostExtensions, speech: Speech) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "project"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let home = dir.path().join("home");
        let project = dir.path().join("project").canonicalize().unwrap();
        let variables = [
            ("HOME", home.as_os_str().to_owned()),
            ("PATH", std::env::var_os("PATH").unwrap_or_default()),
            ("ANTHROPIC_API_KEY", "key".into()),
        ];
        let environment: EnvVars = variables.into_iter().collect();
        let inputs =
            ConfigInputs { trust: TrustChoice::Nothing, ..ConfigInputs::new(environment.clone(), &project) };
        let inputs = inputs
            .with_flag("test", "sandbox.require", "none")
            .with_flag("test", "sessions.on_failure", "in_memory")
            .with_flag("test", "model", "anthropic/claude-sonnet-4-5");
        let parts = HostParts {
            system: SystemContext::of_process(environment, &project),
            config: Config::load(inputs).unwrap(),
            // A name that no tool has becomes a notice.
            extras: HostExtensions {
                tools: Some(vec!["Read".into(), "Write".into(), "Nonsense".into()]),
                ..extras
            },
            trace: None,
            version: "0".into(),
        };
        let local = Arc::new(LocalHost::new(parts));
        let host = Arc::clone(&local) as Arc<dyn Host>;
        let mut stage = Self { dir, over, host, local, model: speech };
        stage.host = stage.peer();
        stage
    }

    /// The host as another program would reach it.
    pub(crate) fn peer(&self) -> Arc<dyn Host> {
        match self.over {
            Over::Nothing => Arc::clone(&self.local) as Arc<dyn Host>,
            Over::Pipe => over_memory(Arc::clone(&self.local) as Arc<dyn Host>),
        }
    }

    /// Whether a file is in the project.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.dir.path().join("project").join(name).exists()
    }

    /// From now on nothing can be saved.
    pub(crate) fn break_disk(&self) {
        let data = self.dir.path().join("home/.local/share/rheon");
        std::fs::remove_dir_all(&data).unwrap();
        std::fs::write(&data, "a file").unwrap();
    }

    pub(crate) async fn open(&self) -> Arc<dyn Client> {
        self.host.open(OpenRequest::default()).await.unwrap()
    }
}

/// The open session as another program joins it, or one that is closed as it is opened again.
pub(crate) async fn open_named(host: &dyn Host, session_id: &str) -> Arc<dyn Client> {
    let session = SessionChoice::Named { id: session_id.to_owned() };
    host.open(OpenRequest { session, ..OpenRequest::default() }).await.unwrap()
}

pub(crate) fn prompt(text: &str) -> Command {
    Command::Prompt { content: vec![Content::text(text)] }
}

pub(crate) async fn facts(client: &dyn Client) -> SessionInfo {
    match client.query(Query::Facts).await.unwrap() {
        Reply::Facts { facts } => *facts,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn snapshot(client: &dyn Client) -> Snapshot {
    match client.query(Query::Snapshot { messages_max: None }).await.unwrap() {
        Reply::Snapshot { snapshot } => *snapshot,
        other => panic!("{other:?}"),
    }
}

/// Everything from the beginning, by one that answers questions.
pub(crate) fn everything(client: &dyn Client) -> EventStream {
    client.events(Subscription::after(0).answering())
}

pub(crate) async fn next(events: &mut EventStream) -> Arc<Event> {
    events.next().await.expect("an event").unwrap()
}

/// What comes up to the first event for which `found` is something, with that.
pub(crate) async fn until<T>(
    events: &mut EventStream,
    mut found: impl FnMut(&AgentEvent) -> Option<T>,
) -> (Vec<Arc<Event>>, T) {
    let mut seen = Vec::new();
    loop {
        let event = next(events).await;
        let wanted = found(&event.kind);
        seen.push(event);
        if let Some(wanted) = wanted {
            return (seen, wanted);
        }
    }
}

/// What comes up to the end of a run, and the text that it left.
pub(crate) async fn run_end(events: &mut EventStream) -> (Vec<Arc<Event>>, String) {
    until(events, |kind| match kind {
        AgentEvent::Run(RunEvent::End { output }) => Some(output.text.clone()),
        _ => None,
    })
    .await
}

/// The deltas of text among these events, as one.
pub(crate) fn written(events: &[Arc<Event>]) -> String {
    let delta = |event: &Arc<Event>| match &event.kind {
        AgentEvent::Message(MessageEvent::TextDelta { delta }) => Some(delta.to_string()),
        _ => None,
    };
    events.iter().filter_map(delta).collect()
}

/// The numbers of the durable events among these.
pub(crate) fn numbers(events: &[Arc<Event>]) -> Vec<u64> {
    events.iter().filter(|event| event.kind.is_durable()).map(|event| event.seq).collect()
}

/// The names of the durable events among these.
pub(crate) fn names(events: &[Arc<Event>]) -> Vec<&str> {
    events.iter().filter(|event| event.kind.is_durable()).map(|event| event.kind.name()).collect()
}
