//! A host with a model that says as much as a benchmark wants, at the pace it wants.

use std::sync::{Arc, Mutex};

use futures::StreamExt as _;
use futures::stream::unfold;
use rheon_app::config::{Config, ConfigInputs, TrustChoice};
use rheon_app::session::{HostExtensions, HostParts, LocalHost, ProvidedModel, SystemContext};
use rheon_app::sessions::EnvVars;
use rheon_providers::ResolvedModel;
use rheon_types::protocol::OpenRequest;
use rheon_types::{
    Chunk, ChunkStream, Client, Command, Content, DeltaText, Host, ModelInfo, Provider, Request, StopReason,
};
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Nothing is ever compacted here.
const WINDOW_TOKENS: u64 = 1_000_000_000;

/// A home, a project and a host.
pub(crate) struct Stage {
    _dir: TempDir,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) model: Arc<Model>,
}

/// What the model answers.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) pieces: usize,
    pub(crate) piece: DeltaText,
    /// How many pieces come at once.
    pub(crate) burst: usize,
    /// One permit per burst; without it, they come one after the other.
    pub(crate) pace: Option<Arc<Semaphore>>,
}

/// A model that gives the answer that was set last.
pub(crate) struct Model {
    answer: Mutex<Arc<Answer>>,
}

impl Model {
    pub(crate) fn will_say(&self, answer: Answer) {
        *self.answer.lock().expect("no thread panicked") = Arc::new(answer);
    }
}

impl Provider for Model {
    fn id(&self) -> &str {
        "bench"
    }

    fn stream(&self, _request: Request, _cancel: CancellationToken) -> ChunkStream {
        let answer = Arc::clone(&self.answer.lock().expect("no thread panicked"));
        let pieces = unfold((answer, 0), |(answer, said)| async move {
            if said == answer.pieces {
                return None;
            }
            if said.is_multiple_of(answer.burst) {
                match &answer.pace {
                    Some(pace) => pace.acquire().await.expect("it is never closed").forget(),
                    None => tokio::task::yield_now().await,
                }
            }
            let chunk = Chunk::Text { delta: answer.piece.clone() };
            Some((Ok(chunk), (answer, said + 1)))
        });
        let done = Chunk::Done { stop_reason: StopReason::Stop };
        Box::pin(pieces.chain(futures::stream::iter([Ok(done)])))
    }
}

impl Stage {
    /// A new one, whose sessions are saved or not.
    pub(crate) fn new(is_saved: bool) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let [home, project] = ["home", "project"].map(|name| dir.path().join(name));
        for place in [&home, &project] {
            std::fs::create_dir(place).expect("a temporary directory can be written");
        }
        let project = project.canonicalize().expect("the directory was just made");
        let variables =
            [("HOME", home.into_os_string()), ("PATH", std::env::var_os("PATH").unwrap_or_default())];
        let environment: EnvVars = variables.into_iter().collect();
        let inputs =
            ConfigInputs { trust: TrustChoice::Nothing, ..ConfigInputs::new(environment.clone(), &project) };
        let inputs = inputs.with_flag("bench", "sandbox.require", "none");
        let inputs = inputs.with_flag("bench", "sessions.keep", is_saved);
        let answer = Answer { pieces: 1, piece: "Hello.".into(), burst: 1, pace: None };
        let model = Arc::new(Model { answer: Mutex::new(Arc::new(answer)) });
        let info = Arc::new(ModelInfo { context_tokens: WINDOW_TOKENS, ..ModelInfo::unknown("bench") });
        let provider = Arc::clone(&model) as Arc<dyn Provider>;
        let given = ProvidedModel {
            name: "bench/bench".into(),
            model: ResolvedModel { provider, model: "bench".into(), info },
        };
        let host = LocalHost::shared(HostParts {
            system: SystemContext::of_process(environment, &project),
            config: Config::load(inputs).expect("the settings are in order"),
            extras: HostExtensions { model: Some(given), ..HostExtensions::default() },
            trace: None,
            version: "0".into(),
        });
        Self { _dir: dir, host, model }
    }
}

/// A new session of `host`.
pub(crate) async fn open(host: &Arc<dyn Host>) -> Arc<dyn Client> {
    host.open(OpenRequest::default()).await.expect("the session can be opened")
}

pub(crate) fn prompt(text: &str) -> Command {
    Command::Prompt { content: vec![Content::text(text)] }
}
