//! `SessionStart`: what a program knows when a session begins, from which everything else follows by convention.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_agent::TokenCounter;
use rheon_fleet::git::GIT_TIME_MAX;
use rheon_types::{Clock, SessionId};

use super::code_map::{CodeMap, CodeMapOptions, CodeMapSource};
use super::extensions::{ExtensionPaths, ProjectTrust};
use super::inputs::{ContextInputs, Machine, ProvidedContext};
use super::rules::{RulePaths, project_root};
use super::sources::ContextSources;
use super::warning::ContextWarning;
use crate::memory::{MemoryPaths, MemoryStore};
use crate::sessions::{EnvVars, Persistence, UserDirs};

/// What a program knows when a session begins.
#[derive(Clone)]
pub struct SessionStart {
    pub task: String,
    /// The directory that the agent works in.
    pub working_dir: PathBuf,
    pub session_id: SessionId,
    /// The session that it was forked from, whose goal it has at first.
    pub parent: Option<SessionId>,
    /// Whether the user trusts the project.
    pub trust: ProjectTrust,
    /// Whether the session is saved. If not, nothing is learned or remembered, and the model has no memory tool.
    pub persistence: Persistence,
    /// Options of the code map: wait time, size, and files to exclude.
    pub code_map: CodeMapOptions,
    pub environment: EnvVars,
    pub clock: Arc<dyn Clock>,
}

impl ContextInputs {
    /// Everything where convention has it: rules, skills, notes, the memory and the map of the project. Change what you like of it, then
    /// load it. What cannot be found is a warning.
    pub async fn find(start: SessionStart) -> (Self, Vec<ContextWarning>) {
        let mut warnings = Vec::new();
        // A missing directory is reported elsewhere; here it has no rules and no map.
        let working_dir = start.working_dir.canonicalize().unwrap_or(start.working_dir);
        let root = project_root(&working_dir);
        let dirs = UserDirs::of(&start.environment);
        let home = start.environment.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let config = dirs.config().ok();
        let extensions = ExtensionPaths::of(home.as_deref(), config.as_deref(), &root);
        let places = match MemoryPaths::of(&dirs, &root) {
            Ok(places) => Some(places),
            Err(error) => {
                warnings.push(ContextWarning::Memory(error.to_string()));
                None
            }
        };
        let memory = match (&places, start.persistence) {
            (Some(places), Persistence::On) => {
                let store = open(places, start.session_id, &mut warnings).await;
                store.map(|store| MemoryStore { parent: start.parent, ..store })
            }
            (Some(_), Persistence::Off) | (None, _) => None,
        };
        let map = places.as_ref().and_then(|places| places.code_map.clone());
        let map = map.filter(|_| !holds_home(&root, home.as_deref()));
        let map = map.map(|file| Arc::new(CodeMap::new(&root, file, start.code_map)));
        let inputs = Self {
            task: start.task,
            base: None,
            places: RulePaths {
                working_dir,
                user_dirs: user_dirs(home.as_deref(), config),
                home: home.clone(),
            },
            trust: start.trust,
            skills: extensions.skills,
            notes: places.as_ref().map(|places| places.notes.clone()).unwrap_or_default(),
            memory,
            made: ProvidedContext {
                code_map: map.map_or(CodeMapSource::None, CodeMapSource::Repository),
                ..ProvidedContext::default()
            },
            effort: None,
            sources: ContextSources::default(),
            counter: TokenCounter::default(),
            machine: Machine {
                environment: start.environment,
                clock: start.clock,
                git_time_max: GIT_TIME_MAX,
            },
        };
        (inputs, warnings)
    }
}

/// The directories with rules of the user, the most general first.
fn user_dirs(home: Option<&Path>, config: Option<PathBuf>) -> Vec<PathBuf> {
    let general = match &config {
        // Where the settings are in the usual place, what all programs share is beside them.
        Some(config) if config.ends_with("rheon") => config.parent().map(Path::to_owned),
        Some(_) | None => home.map(|home| home.join(".config")),
    };
    general.into_iter().chain(config).collect()
}

async fn open(
    places: &MemoryPaths,
    session_id: SessionId,
    warnings: &mut Vec<ContextWarning>,
) -> Option<MemoryStore> {
    if !rheon_store::sqlite::IS_COMPILED_IN {
        return None;
    }
    let opening = places.clone();
    let opened = tokio::task::spawn_blocking(move || opening.open());
    let problem = match opened.await {
        Ok(Ok(memory)) => {
            return Some(MemoryStore {
                memory: Arc::new(memory),
                project: places.project.clone(),
                session_id,
                parent: None,
            });
        }
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    warnings.push(ContextWarning::Memory(problem));
    None
}

/// Whether a directory contains the user's home: then it is not a project, and too large to map.
fn holds_home(root: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| home.canonicalize().is_ok_and(|home| home.starts_with(root)))
}
