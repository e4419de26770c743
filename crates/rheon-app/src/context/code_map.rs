//! `CodeMap`: the map of the repository for the prompt, made beside everything else and never waited for long.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rheon_agent::TokenCounter;
use rheon_tools::repo_map::{MapQuery, RepoMap, RepoMapLimits, UpdateEnd};
use rheon_types::Hook;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// The default limit of the map in the prompt, in tokens.
pub const CODE_MAP_TOKENS_MAX: u64 = 2_000;
/// How long a session waits for the map by default.
pub const CODE_MAP_WAIT_MAX: Duration = Duration::from_secs(1);

/// Whether an absolute path is excluded from the map.
pub type CodeMapFilter = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// How a project is mapped.
#[derive(Clone)]
pub struct CodeMapOptions {
    /// How much of the project is searched.
    pub limits: RepoMapLimits,
    pub tokens_max: u64,
    /// How long a session waits for the map. A slower map continues in the background and is ready for the next load.
    pub wait_max: Duration,
    /// What the rules of the user forbid to read.
    pub left_out: Option<CodeMapFilter>,
}

impl Default for CodeMapOptions {
    fn default() -> Self {
        Self {
            limits: RepoMapLimits::default(),
            tokens_max: CODE_MAP_TOKENS_MAX,
            wait_max: CODE_MAP_WAIT_MAX,
            left_out: None,
        }
    }
}

/// The code map of one project. Built on first use and updated each time. When the last handle is
/// dropped, reading stops; the result so far is saved, and the next session continues from there.
pub struct CodeMap {
    place: Place,
    map: Arc<Mutex<Option<RepoMap>>>,
    cancel: CancellationToken,
}

/// The map as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeMapText {
    /// What the model reads; empty where there is nothing to map.
    Ready(String),
    /// It was not ready in time, and is made beside the session.
    NotYet,
    Failed(String),
}

/// The source of the map and its options.
#[derive(Clone)]
struct Place {
    root: PathBuf,
    cache_file: PathBuf,
    options: CodeMapOptions,
}

/// What became of an update.
struct Updated {
    text: CodeMapText,
    /// Why the map could not be cached, if so.
    problem: Option<String>,
}

impl CodeMap {
    /// The map of the project at `root`, cached in `cache_file`, which should be outside the project. Nothing is read yet.
    pub fn new(root: impl Into<PathBuf>, cache_file: impl Into<PathBuf>, options: CodeMapOptions) -> Self {
        let place = Place { root: root.into(), cache_file: cache_file.into(), options };
        Self { place, map: Arc::default(), cancel: CancellationToken::new() }
    }

    /// Updates the map and returns the part that matters for `task`, with any problem. Waits no longer than the options allow.
    pub async fn text(&self, task: &str, counter: TokenCounter) -> (CodeMapText, Option<String>) {
        // A text that comes too late is not used.
        let wanted = CancellationToken::new();
        let guard = wanted.clone().drop_guard();
        let (place, cancel, task) = (self.place.clone(), self.cancel.clone(), task.to_owned());
        let work = async {
            let mut slot = Arc::clone(&self.map).lock_owned().await;
            let update = move || {
                let map = slot.get_or_insert_with(|| open(&place));
                updated(map, &cancel, |map| {
                    if wanted.is_cancelled() { None } else { Some(rendered(map, &place, &task, counter)) }
                })
            };
            tokio::task::spawn_blocking(update).await
        };
        let done = tokio::time::timeout(self.place.options.wait_max, work).await;
        drop(guard);
        match done {
            Ok(Ok(updated)) => (updated.text, updated.problem),
            Ok(Err(error)) => (CodeMapText::Failed(format!("cannot map the project: {error}")), None),
            Err(_) => (CodeMapText::NotYet, None),
        }
    }

    /// Stops reading and waits until the result so far is saved. For programs that end the process themselves.
    pub async fn close(&self) {
        self.cancel.cancel();
        drop(self.map.lock().await);
    }

    /// Waits until nothing is being read.
    pub async fn settled(&self) {
        drop(self.map.lock().await);
    }
}

impl Drop for CodeMap {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl fmt::Debug for CodeMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeMap").field("root", &self.place.root).finish_non_exhaustive()
    }
}

fn open(place: &Place) -> RepoMap {
    let map = RepoMap::open(&place.root, &place.cache_file, place.options.limits);
    match place.options.left_out.clone() {
        Some(rule) => map.excluding(move |path| rule(path)),
        None => map,
    }
}

fn updated(
    map: &mut RepoMap,
    cancel: &CancellationToken,
    text: impl FnOnce(&RepoMap) -> Option<String>,
) -> Updated {
    match map.update(cancel) {
        Err(error) => Updated { text: CodeMapText::Failed(error.to_string()), problem: None },
        Ok(report) => {
            let text = match report.end {
                UpdateEnd::Complete | UpdateEnd::Full => text(map),
                UpdateEnd::Cancelled => None,
            };
            let text = text.map_or(CodeMapText::NotYet, CodeMapText::Ready);
            Updated { text, problem: report.cache_problem }
        }
    }
}

fn rendered(map: &RepoMap, place: &Place, task: &str, counter: TokenCounter) -> String {
    let count = |text: &str| counter.text(text);
    map.render(&MapQuery { mentioned: task, focus: &[], tokens_max: place.options.tokens_max, count: &count })
}

/// Where the map of the repository comes from.
#[derive(Debug, Clone, Default)]
pub enum CodeMapSource {
    #[default]
    None,
    Text(String),
    Repository(Arc<CodeMap>),
}

impl From<&str> for CodeMapSource {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for CodeMapSource {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A hook that does nothing but hold the map, so that it is made for as long as the agent lives.
pub(super) struct HoldsMap(#[expect(dead_code, reason = "it is held, not read")] pub(super) Arc<CodeMap>);

impl Hook for HoldsMap {
    fn name(&self) -> &str {
        "code-map"
    }
}
