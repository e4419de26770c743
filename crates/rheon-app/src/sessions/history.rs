//! Looking back, and going back: sessions are shown, exported, replayed, counted and rewound.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use rheon_agent::replay::{ReplayError, ReplayUntil, replay};
use rheon_store::SessionName;
use rheon_store::checkpoint::{CheckpointId, CheckpointLimits, Checkpoints, RestoreReport};
use rheon_store::export::{ExportOptions, RedactionReport, write_html, write_json, write_markdown};
use rheon_store::rewind::{
    ChangedFile, ChangesSince, ConflictPolicy, RestoreScope, RewindError, RewindOutcome, RewindPlan,
    RewindPoint, RewindRequest, RewindTo, changes, plan_rewind, points, rewind, undo,
};
use rheon_store::sqlite::UsageStats;
use rheon_types::{Event, SessionId, ToolName};

use super::catalog::{Catalogue, ListScope};
use super::error::SessionError;
use super::manager::SessionManager;
use super::session::SessionHandle;
use super::settings::{CheckpointMode, Persistence};

/// How a session is written for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    Markdown,
    Json,
    Html,
}

/// What a replay showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayReport {
    pub session_id: SessionId,
    pub events: usize,
    pub runs: usize,
    /// How many of the events were taken as they were recorded.
    pub taken: usize,
}

/// What to do with the files of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRewind {
    /// Only report what would change.
    Plan,
    /// Change the files.
    Apply(ConflictPolicy),
}

/// The files of a session after a rewind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRewindReport {
    /// How many files, links and directories are concerned.
    pub count: usize,
    /// The first of them, as they are called in the workspace.
    pub changed: Vec<PathBuf>,
    /// Files that were changed outside the session since; with any of these, nothing is changed.
    pub others: Vec<PathBuf>,
    /// Tools whose changes stay, because no checkpoint was saved before they ran.
    pub unguarded: Vec<ToolName>,
    /// The first file that could not be restored, and why.
    pub problem: Option<(PathBuf, String)>,
}

/// How much of a name is repeated in an error.
const WANTED_CHARACTERS_MAX: usize = 100;

impl SessionManager {
    /// All durable events of a session, including those of its parents.
    pub async fn events(&self, wanted: &str) -> Result<(SessionId, Vec<Event>), SessionError> {
        let name = self.find_ours(wanted).await?;
        self.blocking(move |catalogue| Ok((name.session_id(), catalogue.events(&name)?))).await
    }

    /// Exports a session without secrets; reports the redactions.
    pub async fn export(
        &self,
        wanted: &str,
        format: ExportFormat,
        options: ExportOptions,
        mut out: impl Write + Send + 'static,
    ) -> Result<RedactionReport, SessionError> {
        let name = self.find_ours(wanted).await?;
        self.blocking(move |catalogue| {
            let events = catalogue.events(&name)?;
            let written = match format {
                ExportFormat::Markdown => write_markdown(&mut out, &events, &options),
                ExportFormat::Json => write_json(&mut out, &events, &options),
                ExportFormat::Html => write_html(&mut out, &events, &options),
            };
            written.and_then(|report| out.flush().map(|()| report)).map_err(SessionError::Export)
        })
        .await
    }

    /// Replays a session from its journal: no model is called, no tool runs. The first event that comes out
    /// differently is the error.
    pub async fn replay(&self, wanted: &str, until: ReplayUntil) -> Result<ReplayReport, SessionError> {
        let (session_id, events) = self.events(wanted).await?;
        let replayed = self.blocking(move |_| Ok(replay(events, until))).await?;
        let replayed = replayed
            .map_err(|error: ReplayError| SessionError::Replay { session_id: session_id.clone(), error })?;
        Ok(ReplayReport {
            session_id,
            events: replayed.events.len(),
            runs: replayed.runs,
            taken: replayed.taken,
        })
    }

    /// Sums over sessions: turns, tokens and money by model, calls by tool.
    pub async fn stats(&self, scope: ListScope) -> Result<UsageStats, SessionError> {
        self.blocking(move |catalogue| catalogue.stats(scope)).await
    }

    /// What the user said in a session: the points to which it can be rewound.
    pub async fn points(&self, wanted: &str) -> Result<Vec<RewindPoint>, SessionError> {
        self.rewinding(wanted, |catalogue, checkpoints, name| points(&catalogue.sessions, checkpoints, name))
            .await
    }

    /// The same for a session that is open.
    pub(crate) async fn points_of(&self, kept: &SessionHandle) -> Result<Vec<RewindPoint>, SessionError> {
        let checkpoints = kept.checkpoints().cloned().ok_or(SessionError::NoCheckpoints)?;
        let session = kept.session_id().clone();
        self.blocking(move |catalogue| {
            let name =
                SessionName::try_from(&session).map_err(|error| SessionError::Session(error.into()))?;
            points(&catalogue.sessions, &checkpoints, &name).map_err(SessionError::Rewind)
        })
        .await
    }

    /// What changed in the workspace since an open session began, or since its last prompt.
    pub(crate) async fn changes_of(
        &self,
        kept: &SessionHandle,
        since: ChangesSince,
    ) -> Result<Vec<ChangedFile>, SessionError> {
        let checkpoints = kept.checkpoints().cloned().ok_or(SessionError::NoCheckpoints)?;
        let session = kept.session_id().clone();
        self.blocking(move |catalogue| {
            let name =
                SessionName::try_from(&session).map_err(|error| SessionError::Session(error.into()))?;
            changes(&catalogue.sessions, &checkpoints, &name, since).map_err(SessionError::Rewind)
        })
        .await
    }

    /// What a rewind would do. Nothing is touched.
    pub async fn plan_rewind(
        &self,
        wanted: &str,
        to: RewindTo,
        what: RestoreScope,
    ) -> Result<RewindPlan, SessionError> {
        self.rewinding(wanted, move |catalogue, checkpoints, name| {
            plan_rewind(&catalogue.sessions, checkpoints, name, to, what)
        })
        .await
    }

    /// Carries out what was planned. The session stays as it is; what goes on is a new one.
    pub async fn rewind(
        &self,
        plan: RewindPlan,
        others: ConflictPolicy,
    ) -> Result<RewindOutcome, SessionError> {
        let by = RewindRequest { session_id: self.fresh_id(), lease: self.lease(), others };
        let wanted = plan.name.as_str().to_owned();
        self.rewinding(&wanted, move |catalogue, checkpoints, _| {
            rewind(&catalogue.sessions, checkpoints, &plan, &by)
        })
        .await
    }

    /// Restores the files from before a rewind of this session, by the checkpoint that the rewind reported.
    pub async fn undo_rewind(
        &self,
        wanted: &str,
        kept_as: CheckpointId,
        others: ConflictPolicy,
    ) -> Result<Option<RestoreReport>, SessionError> {
        let at = self.lease().at;
        let restored = self.rewinding(wanted, move |_, checkpoints, name| {
            let (restored, removed, skipped, errors) = Default::default();
            let files = RestoreReport { undo: kept_as, restored, removed, skipped, errors };
            let rewound = RewindOutcome { from: name.clone(), session: None, files: Some(files) };
            undo(checkpoints, &rewound, others, at)
        });
        restored.await
    }

    /// Restores the files of an open session from before a prompt, or only reports what would
    /// change. Call it between runs.
    pub async fn rewind_files(
        &self,
        handle: &SessionHandle,
        wanted: &str,
        is_it: impl Fn(&RewindPoint) -> bool + Send + 'static,
        doing: FileRewind,
    ) -> Result<FileRewindReport, SessionError> {
        let checkpoints = handle.checkpoints().cloned().ok_or(SessionError::NoCheckpoints)?;
        let by = match doing {
            FileRewind::Plan => None,
            FileRewind::Apply(others) => {
                Some(RewindRequest { session_id: self.fresh_id(), lease: self.lease(), others })
            }
        };
        let (wanted, session) =
            (wanted.chars().take(WANTED_CHARACTERS_MAX).collect(), handle.session_id().clone());
        self.blocking(move |catalogue| {
            let name =
                SessionName::try_from(&session).map_err(|error| SessionError::Session(error.into()))?;
            let sessions = &catalogue.sessions;
            let said = points(sessions, &checkpoints, &name).map_err(SessionError::Rewind)?;
            let point = said.into_iter().find(is_it).ok_or(SessionError::NoSuchPrompt { wanted })?;
            let to = RewindTo::Before(point.seq);
            let plan = plan_rewind(sessions, &checkpoints, &name, to, RestoreScope::Files);
            let plan = plan.map_err(SessionError::Rewind)?;
            let restored = match by {
                None => None,
                Some(by) => rewind(sessions, &checkpoints, &plan, &by).map_err(SessionError::Rewind)?.files,
            };
            let problem = restored.and_then(|restored| restored.errors.into_iter().next());
            let files = plan.files.unwrap_or_default();
            Ok(FileRewindReport {
                count: files.created.saturating_add(files.modified).saturating_add(files.removed),
                changed: files.changes.into_iter().map(|change| change.path).collect(),
                others: files.others,
                unguarded: files.unguarded,
                problem,
            })
        })
        .await
    }

    async fn rewinding<T: Send + 'static>(
        &self,
        wanted: &str,
        work: impl FnOnce(&Catalogue, &Checkpoints, &SessionName) -> Result<T, RewindError> + Send + 'static,
    ) -> Result<T, SessionError> {
        let settings = self.settings();
        if settings.persistence == Persistence::Off {
            return Err(SessionError::PersistenceOff);
        }
        let limits = match &settings.checkpoints {
            CheckpointMode::On(limits) => limits.clone(),
            // What was kept before can still be brought back.
            CheckpointMode::Off => CheckpointLimits::default(),
        };
        let name = self.find_ours(wanted).await?;
        self.blocking(move |catalogue| {
            let dir = catalogue.checkpoint_dir(&catalogue.project);
            let checkpoints = Arc::new(Checkpoints::open(&dir, &catalogue.project, limits)?);
            work(catalogue, &checkpoints, &name).map_err(SessionError::Rewind)
        })
        .await
    }
}

impl Catalogue {
    fn events(&self, name: &SessionName) -> Result<Vec<Event>, SessionError> {
        let mut events = Vec::new();
        let read = self.sessions.read(name, |event| events.push(event));
        read.map_err(|error| SessionError::of(&name.session_id(), error))?;
        Ok(events)
    }

    fn stats(&self, scope: ListScope) -> Result<UsageStats, SessionError> {
        Ok(self.indexing.open()?.stats(self.scope_name(scope).as_deref())?)
    }
}
