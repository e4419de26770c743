//! Looking back, and going back: sessions are shown, exported, replayed, counted and rewound.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use rheon_agent::replay::{ReplayError, ReplayUntil, replay};
use rheon_store::SessionName;
use rheon_store::checkpoint::{CheckpointId, CheckpointLimits, Checkpoints, RestoreReport};
use rheon_store::export::{ExportOptions, RedactionReport, write_html, write_json, write_markdown};
use rheon_store::rewind::{
    ConflictPolicy, RestoreScope, RewindError, RewindOutcome, RewindPlan, RewindPoint, RewindRequest,
    RewindTo, plan_rewind, points, rewind, undo,
};
use rheon_store::sqlite::UsageStats;
use rheon_types::{Event, SessionId};

use super::catalogue::{Catalogue, Scope};
use super::error::KeepingError;
use super::keeper::Keeper;
use super::session::KeptSession;
use super::settings::{CheckpointMode, Persistence};

/// How a session is written for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// For people and repositories.
    Markdown,
    /// For programs.
    Json,
    /// One page for a browser.
    Html,
}

/// What a replay showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayReport {
    /// The session.
    pub session_id: SessionId,
    /// How many events came out again.
    pub events: usize,
    /// How many runs there were.
    pub runs: usize,
    /// How many of the events were taken as they were recorded.
    pub taken: usize,
}

/// Whether something is done, or only looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Only say what would happen.
    Plan,
    /// Do it.
    CarryOut,
}

/// What becomes of the files of a session that goes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesRewound {
    /// How many files, links and folders are concerned.
    pub count: usize,
    /// The first of them, as they are called in the workspace.
    pub changed: Vec<PathBuf>,
    /// Those of them that somebody else changed since; with any, nothing is carried out.
    pub others: Vec<PathBuf>,
    /// The first that could not be brought back, and why.
    pub problem: Option<(PathBuf, String)>,
}

/// How much of a name is repeated in an error.
const WANTED_CHARACTERS_MAX: usize = 100;

impl Keeper {
    /// All durable events of a session of ours, those of the sessions it goes on from included.
    pub async fn events(&self, wanted: &str) -> Result<(SessionId, Vec<Event>), KeepingError> {
        let name = self.find_ours(wanted).await?;
        self.blocking(move |catalogue| Ok((name.session_id(), catalogue.events(&name)?))).await
    }

    /// Writes a session of ours for others, without the secrets in it; says what was taken out.
    pub async fn export(
        &self,
        wanted: &str,
        format: ExportFormat,
        options: ExportOptions,
        mut out: impl Write + Send + 'static,
    ) -> Result<RedactionReport, KeepingError> {
        let name = self.find_ours(wanted).await?;
        self.blocking(move |catalogue| {
            let events = catalogue.events(&name)?;
            let written = match format {
                ExportFormat::Markdown => write_markdown(&mut out, &events, &options),
                ExportFormat::Json => write_json(&mut out, &events, &options),
                ExportFormat::Html => write_html(&mut out, &events, &options),
            };
            written.and_then(|report| out.flush().map(|()| report)).map_err(KeepingError::Export)
        })
        .await
    }

    /// Runs the loop again from the journal of a session alone: no model is called, no tool runs. The first event that comes out
    /// differently is the error.
    pub async fn replay(&self, wanted: &str, until: ReplayUntil) -> Result<ReplayReport, KeepingError> {
        let (session_id, events) = self.events(wanted).await?;
        let replayed = self.blocking(move |_| Ok(replay(events, until))).await?;
        let replayed = replayed
            .map_err(|error: ReplayError| KeepingError::Replay { session_id: session_id.clone(), error })?;
        Ok(ReplayReport {
            session_id,
            events: replayed.events.len(),
            runs: replayed.runs,
            taken: replayed.taken,
        })
    }

    /// Sums over sessions: turns, tokens and money by model, calls by tool.
    pub async fn stats(&self, scope: Scope) -> Result<UsageStats, KeepingError> {
        self.blocking(move |catalogue| catalogue.stats(scope)).await
    }

    /// What the user said in a session: the points to which it can be rewound.
    pub async fn points(&self, wanted: &str) -> Result<Vec<RewindPoint>, KeepingError> {
        self.rewinding(wanted, |catalogue, checkpoints, name| points(&catalogue.sessions, checkpoints, name))
            .await
    }

    /// The same for a session that is open.
    pub(crate) async fn points_of(&self, kept: &KeptSession) -> Result<Vec<RewindPoint>, KeepingError> {
        let checkpoints = kept.checkpoints().cloned().ok_or(KeepingError::NoCheckpoints)?;
        let session = kept.session_id().clone();
        self.blocking(move |catalogue| {
            let name =
                SessionName::try_from(&session).map_err(|error| KeepingError::Session(error.into()))?;
            points(&catalogue.sessions, &checkpoints, &name).map_err(KeepingError::Rewind)
        })
        .await
    }

    /// What a rewind would do. Nothing is touched.
    pub async fn plan_rewind(
        &self,
        wanted: &str,
        to: RewindTo,
        what: RestoreScope,
    ) -> Result<RewindPlan, KeepingError> {
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
    ) -> Result<RewindOutcome, KeepingError> {
        let by = RewindRequest { session_id: self.fresh_id(), lease: self.lease(), others };
        let wanted = plan.name.as_str().to_owned();
        self.rewinding(&wanted, move |catalogue, checkpoints, _| {
            rewind(&catalogue.sessions, checkpoints, &plan, &by)
        })
        .await
    }

    /// Brings the files back as they were before a rewind of this session, which said what they are kept as.
    pub async fn undo_rewind(
        &self,
        wanted: &str,
        kept_as: CheckpointId,
        others: ConflictPolicy,
    ) -> Result<Option<RestoreReport>, KeepingError> {
        let at = self.lease().at;
        let restored = self.rewinding(wanted, move |_, checkpoints, name| {
            let (restored, removed, skipped, errors) = Default::default();
            let files = RestoreReport { undo: kept_as, restored, removed, skipped, errors };
            let rewound = RewindOutcome { from: name.clone(), session: None, files: Some(files) };
            undo(checkpoints, &rewound, others, at)
        });
        restored.await
    }

    /// Lets the files of a session that is open be as they were before something that the user said, or only says what that would
    /// change. To be asked between runs.
    pub async fn rewind_files(
        &self,
        kept: &KeptSession,
        wanted: &str,
        is_it: impl Fn(&RewindPoint) -> bool + Send + 'static,
        (doing, others): (Doing, ConflictPolicy),
    ) -> Result<FilesRewound, KeepingError> {
        let checkpoints = kept.checkpoints().cloned().ok_or(KeepingError::NoCheckpoints)?;
        let by = RewindRequest { session_id: self.fresh_id(), lease: self.lease(), others };
        let (wanted, session) =
            (wanted.chars().take(WANTED_CHARACTERS_MAX).collect(), kept.session_id().clone());
        self.blocking(move |catalogue| {
            let name =
                SessionName::try_from(&session).map_err(|error| KeepingError::Session(error.into()))?;
            let sessions = &catalogue.sessions;
            let said = points(sessions, &checkpoints, &name).map_err(KeepingError::Rewind)?;
            let point = said.into_iter().find(is_it).ok_or(KeepingError::NoSuchPrompt { wanted })?;
            let to = RewindTo::Before(point.seq);
            let plan = plan_rewind(sessions, &checkpoints, &name, to, RestoreScope::Files);
            let plan = plan.map_err(KeepingError::Rewind)?;
            let restored = match doing {
                Doing::Plan => None,
                Doing::CarryOut => {
                    rewind(sessions, &checkpoints, &plan, &by).map_err(KeepingError::Rewind)?.files
                }
            };
            let problem = restored.and_then(|restored| restored.errors.into_iter().next());
            let files = plan.files.unwrap_or_default();
            Ok(FilesRewound {
                count: files.created.saturating_add(files.modified).saturating_add(files.removed),
                changed: files.changes.into_iter().map(|change| change.path).collect(),
                others: files.others,
                problem,
            })
        })
        .await
    }

    async fn rewinding<T: Send + 'static>(
        &self,
        wanted: &str,
        work: impl FnOnce(&Catalogue, &Checkpoints, &SessionName) -> Result<T, RewindError> + Send + 'static,
    ) -> Result<T, KeepingError> {
        let settings = self.settings();
        if settings.persistence == Persistence::Off {
            return Err(KeepingError::PersistenceOff);
        }
        let limits = match &settings.checkpoints {
            CheckpointMode::On(limits) => limits.clone(),
            // What was kept before can still be brought back.
            CheckpointMode::Off => CheckpointLimits::default(),
        };
        let name = self.find_ours(wanted).await?;
        self.blocking(move |catalogue| {
            let folder = catalogue.checkpoint_folder(&catalogue.project);
            let checkpoints = Arc::new(Checkpoints::open(&folder, &catalogue.project, limits)?);
            work(catalogue, &checkpoints, &name).map_err(KeepingError::Rewind)
        })
        .await
    }
}

impl Catalogue {
    fn events(&self, name: &SessionName) -> Result<Vec<Event>, KeepingError> {
        let mut events = Vec::new();
        let read = self.sessions.read(name, |event| events.push(event));
        read.map_err(|error| KeepingError::of(&name.session_id(), error))?;
        Ok(events)
    }

    fn stats(&self, scope: Scope) -> Result<UsageStats, KeepingError> {
        Ok(self.indexing.open()?.stats(self.scope_name(scope).as_deref())?)
    }
}
