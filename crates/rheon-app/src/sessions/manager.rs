//! `SessionManager`: creates, resumes, forks, lists, searches and deletes the sessions of a project.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_store::SessionName;
use rheon_store::checkpoint::Checkpoints;
use rheon_store::claude::Transcript;
use rheon_store::fold::SessionState;
use rheon_store::journal::Lease;
use rheon_store::sessions::{EventPages, JournalStore, ResumeError, ResumedSession, SessionFiles};
use rheon_store::sqlite::EntryMatch;
use rheon_types::protocol::ResumePoint;
use rheon_types::{ClientError, Clock, Random, SessionId, Store as _, Timestamp};
use rustix::fs::{FlockOperation, flock};
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;

use super::catalog::{Catalogue, DeletedSession, ListScope, SessionMatch};
use super::entry::SessionEntry;
use super::error::SessionError;
use super::import::{self, ImportPosition, Origin};
use super::indexing::Indexing;
use super::notice::SessionNotice;
use super::notice_sink::SessionNoticeSink;
use super::persistent_store::{PersistentStore, Standing};
use super::session::{Past, SessionHandle, SessionStorage};
use super::settings::{CheckpointMode, OnStorageFailure, Persistence, PersistenceSettings, Transcripts};
use super::transcripts::TranscriptObserver;
use super::user_dirs::UserDirs;

/// What a manager is made of.
pub struct SessionManagerParts {
    pub dirs: UserDirs,
    pub project: PathBuf,
    pub settings: PersistenceSettings,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

/// Manages the sessions of a project. Clones share the state.
#[derive(Clone)]
pub struct SessionManager {
    inner: Arc<Inner>,
}

struct Inner {
    parts: SessionManagerParts,
    tell: SessionNoticeSink,
    catalogue: Result<Catalogue, super::user_dirs::UserDirsError>,
}

/// Where a fork starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkAt {
    End,
    Event(u64),
}

impl SessionManager {
    /// A manager for the sessions that work in `parts.project`. Problems that do not stop a session go to `tell`.
    /// Nothing is made on the disk yet.
    pub fn new(
        mut parts: SessionManagerParts,
        tell: impl Fn(SessionNotice) + Send + Sync + 'static,
    ) -> Result<Self, SessionError> {
        let canonical = parts.project.canonicalize();
        parts.project =
            canonical.map_err(|source| SessionError::Project { path: parts.project.clone(), source })?;
        let tell = SessionNoticeSink::new(tell);
        let catalogue = parts.dirs.data().map(|data| {
            let sessions = SessionFiles::new(data.join("sessions"), parts.settings.blob_bytes_max);
            Catalogue {
                indexing: Arc::new(Indexing::new(data.join("index.db"), sessions.clone(), tell.clone())),
                project: parts.project.clone(),
                claude_projects: parts.dirs.claude_projects().ok(),
                tell: tell.clone(),
                sessions,
                data,
            }
        });
        survive_size_limit();
        Ok(Self { inner: Arc::new(Inner { parts, tell, catalogue }) })
    }

    /// Starts a new session. If it cannot be saved, this fails or the session is in memory only, depending on the settings.
    pub async fn start(&self) -> Result<SessionHandle, SessionError> {
        self.start_new(self.fresh_id()).await
    }

    /// A new session with this id, which must be a UUID that no session has.
    pub async fn start_with_id(&self, session_id: SessionId) -> Result<SessionHandle, SessionError> {
        let taken = self.blocking({
            let session_id = session_id.clone();
            move |catalogue| catalogue.has(&session_id)
        });
        if taken.await? {
            return Err(SessionError::Taken { session_id });
        }
        self.start_new(session_id).await
    }

    async fn start_new(&self, session_id: SessionId) -> Result<SessionHandle, SessionError> {
        match self.inner.parts.settings.persistence {
            Persistence::Off => Ok(self.in_memory(session_id, Past::default())),
            Persistence::On => match self.ready().await {
                Ok(journals) => self.saved(session_id, Past::default(), journals).await,
                Err(error) => self.after_trouble(session_id, Past::default(), error),
            },
        }
    }

    /// Resumes the most recent session of this project.
    pub async fn resume_latest(&self) -> Result<SessionHandle, SessionError> {
        let found = self.blocking(|catalogue| catalogue.latest()).await?;
        self.resume_found(found, None).await
    }

    /// Resumes the session with the id or unique id prefix `wanted`. One of Claude Code's becomes one of Rheon with the same
    /// id and the same conversation: both programs continue it from now on.
    pub async fn resume(&self, wanted: &str) -> Result<SessionHandle, SessionError> {
        self.resume_found(self.find(wanted).await?, None).await
    }

    /// Like [`Self::resume`], or [`Self::resume_latest`] without an id, but the conversation continues at an earlier message.
    pub async fn resume_at(
        &self,
        wanted: Option<&str>,
        at: &ResumePoint,
    ) -> Result<SessionHandle, SessionError> {
        self.resume_found(self.find_or_latest(wanted).await?, Some(at)).await
    }

    async fn resume_found(
        &self,
        found: SessionMatch,
        at: Option<&ResumePoint>,
    ) -> Result<SessionHandle, SessionError> {
        match found {
            SessionMatch::Ours(name) => self.resume_ours(name, at).await,
            SessionMatch::ClaudeCode { id, path } => {
                let handle = self.import(&id, &path, id.session_id()).await?;
                match at {
                    None => Ok(handle),
                    Some(at) => {
                        handle.close().await;
                        drop(handle);
                        self.resume_ours(id, Some(at)).await
                    }
                }
            }
        }
    }

    /// A new session that continues the one of this project that was active last.
    pub async fn fork_latest(&self) -> Result<SessionHandle, SessionError> {
        let found = self.blocking(|catalogue| catalogue.latest()).await?;
        self.fork_found(found, ForkAt::End, None).await
    }

    /// A fork of `wanted`, or of the latest session, that continues at an earlier message.
    pub async fn fork_at(
        &self,
        wanted: Option<&str>,
        at: &ResumePoint,
    ) -> Result<SessionHandle, SessionError> {
        self.fork_found(self.find_or_latest(wanted).await?, ForkAt::End, Some(at)).await
    }

    /// The session that `wanted` names; without a name, the latest of this project.
    async fn find_or_latest(&self, wanted: Option<&str>) -> Result<SessionMatch, SessionError> {
        match wanted {
            Some(wanted) => self.find(wanted).await,
            None => self.blocking(|catalogue| catalogue.latest()).await,
        }
    }

    /// The durable events of a session in pages; none where it has no journal. Blocks: it looks for the journal.
    pub(crate) fn pages(&self, session_id: &SessionId) -> Result<Option<EventPages>, ClientError> {
        let catalogue = self.inner.catalogue.as_ref().map_err(ClientError::failed)?;
        // An id that cannot be the name of a file has no journal.
        let Ok(name) = SessionName::try_from(session_id) else { return Ok(None) };
        if !catalogue.sessions.contains(&name).map_err(ClientError::failed)? {
            return Ok(None);
        }
        catalogue.sessions.pages(&name).map(Some).map_err(ClientError::failed)
    }

    /// The session that `session_id` was forked from, if it is saved and is a fork.
    pub(crate) async fn parent_of(&self, session_id: &SessionId) -> Option<SessionId> {
        let name = SessionName::try_from(session_id).ok()?;
        let header = self.blocking(move |catalogue| {
            let listed = catalogue.sessions.listed(&name);
            Ok(listed.ok().and_then(|listed| listed.header.ok()))
        });
        header.await.ok()??.parent.map(|parent| parent.session_id)
    }

    /// A new session that continues another. The old one is only read, so it may be in use.
    pub async fn fork(&self, wanted: &str, at: ForkAt) -> Result<SessionHandle, SessionError> {
        self.fork_found(self.find(wanted).await?, at, None).await
    }

    async fn fork_found(
        &self,
        found: SessionMatch,
        at: ForkAt,
        resume_at: Option<&ResumePoint>,
    ) -> Result<SessionHandle, SessionError> {
        let name = match found {
            SessionMatch::Ours(name) => name,
            SessionMatch::ClaudeCode { id, path } => {
                let handle = self.import(&id, &path, self.fresh_id()).await?;
                let Some(resume_at) = resume_at else { return Ok(handle) };
                handle.close().await;
                let name = SessionName::try_from(handle.session_id()).map_err(SessionError::Name)?;
                return self.resume_ours(name, Some(resume_at)).await;
            }
        };
        let seq = match at {
            ForkAt::Event(seq) => seq,
            ForkAt::End => self.state_of(name.clone()).await?.seq,
        };
        if self.inner.parts.settings.persistence == Persistence::Off {
            return Err(SessionError::PersistenceOff);
        }
        let journals = self.ready().await?;
        let to = self.fresh_id();
        let (store, child) = (Arc::clone(&journals), to.clone());
        let resumed = opened(move |runtime| runtime.block_on(store.fork(&name, seq, &child))).await?;
        let past = self.past(&to, resumed.map_err(|error| SessionError::of_resume(&to, error))?);
        let past = match resume_at {
            Some(at) => {
                let name = SessionName::try_from(&to).map_err(SessionError::Name)?;
                self.rewound_to(&name, past, Some(&journals), at).await?
            }
            None => past,
        };
        self.saved(to, past, journals).await
    }

    /// The state of a session. Reads only, so the session may be in use.
    pub async fn read(&self, wanted: &str) -> Result<SessionState, SessionError> {
        let name = self.find_ours(wanted).await?;
        self.state_of(name).await
    }

    /// The `limit` most recent sessions, newest first, including Claude Code's in this project.
    pub async fn list(&self, scope: ListScope, limit: usize) -> Result<Vec<SessionEntry>, SessionError> {
        self.blocking(move |catalogue| Ok(catalogue.list(scope, limit))).await
    }

    /// Where `text` was said, the best first.
    pub async fn search(
        &self,
        text: &str,
        scope: ListScope,
        limit: usize,
    ) -> Result<Vec<EntryMatch>, SessionError> {
        let text = text.to_owned();
        self.blocking(move |catalogue| catalogue.search(&text, scope, limit)).await
    }

    /// Deletes a session with its checkpoints, its index row, and payloads that no other session uses.
    pub async fn delete(&self, wanted: &str) -> Result<DeletedSession, SessionError> {
        if self.inner.parts.settings.persistence == Persistence::Off {
            return Err(SessionError::PersistenceOff);
        }
        let name = self.find_ours(wanted).await?;
        let (lease, now) = (self.lease(), self.inner.parts.clock.now());
        self.blocking(move |catalogue| catalogue.delete(&name, &lease, now)).await
    }

    /// The full id of a session.
    pub async fn id_of(&self, wanted: &str) -> Result<SessionId, SessionError> {
        Ok(self.find_ours(wanted).await?.session_id())
    }

    /// Waits until the index is up to date.
    pub async fn settle(&self) {
        if let Ok(catalogue) = &self.inner.catalogue {
            catalogue.indexing.settle().await;
        }
    }

    /// The working directory of a session, if known.
    pub async fn dir_of(&self, wanted: &str) -> Result<Option<PathBuf>, SessionError> {
        let name = self.find_ours(wanted).await?;
        self.blocking(move |catalogue| catalogue.dir_of(&name)).await
    }

    /// That of `dirs` in which a session was active last, if there is one in any.
    pub async fn latest_dir(&self, dirs: Vec<PathBuf>) -> Result<Option<PathBuf>, SessionError> {
        self.blocking(move |catalogue| Ok(catalogue.latest_dir(dirs))).await
    }

    async fn find(&self, wanted: &str) -> Result<SessionMatch, SessionError> {
        let wanted = wanted.to_owned();
        self.blocking(move |catalogue| catalogue.find(&wanted)).await
    }

    pub(super) async fn find_ours(&self, wanted: &str) -> Result<SessionName, SessionError> {
        match self.find(wanted).await? {
            SessionMatch::Ours(name) => Ok(name),
            SessionMatch::ClaudeCode { .. } => Err(SessionError::ClaudeCodes { wanted: wanted.to_owned() }),
        }
    }

    async fn resume_ours(
        &self,
        name: SessionName,
        at: Option<&ResumePoint>,
    ) -> Result<SessionHandle, SessionError> {
        let session_id = name.session_id();
        if self.inner.parts.settings.persistence == Persistence::Off {
            let past = self.closed(name.clone()).await?;
            return Ok(self.in_memory(session_id, self.current(&name, past, None, at).await?));
        }
        match self.open(&session_id, name.clone()).await {
            Ok((past, journals)) => {
                let past = self.current(&name, past, Some(&journals), at).await?;
                self.saved(session_id, past, journals).await
            }
            Err(error) => {
                let past = match self.inner.parts.settings.on_failure {
                    OnStorageFailure::InMemory if error.is_storage_failure() => self.closed(name).await?,
                    OnStorageFailure::InMemory | OnStorageFailure::Refuse => return Err(error),
                };
                self.after_trouble(session_id, past, error)
            }
        }
    }

    /// A resumed session with what Claude Code added, up to the message that `at` names.
    async fn current(
        &self,
        name: &SessionName,
        past: Past,
        journals: Option<&Arc<JournalStore>>,
        at: Option<&ResumePoint>,
    ) -> Result<Past, SessionError> {
        let past = self.with_foreign_part(name, past, journals).await?;
        match at {
            Some(at) => self.rewound_to(name, past, journals, at).await,
            None => Ok(past),
        }
    }

    async fn open(
        &self,
        session_id: &SessionId,
        name: SessionName,
    ) -> Result<(Past, Arc<JournalStore>), SessionError> {
        let journals = self.ready().await?;
        let store = Arc::clone(&journals);
        let resumed = opened(move |runtime| runtime.block_on(store.resume(&name))).await?;
        let resumed = resumed.map_err(|error| SessionError::of_resume(session_id, error))?;
        Ok((self.past(session_id, resumed), journals))
    }

    /// Makes a session of Claude Code one of ours, with the id `session_id`.
    async fn import(
        &self,
        id: &SessionName,
        path: &Path,
        session_id: SessionId,
    ) -> Result<SessionHandle, SessionError> {
        let from = path.to_owned();
        let transcript = spawn_blocking(move || Transcript::open(&from)).await??;
        let origin = Origin {
            session: id.as_str().to_owned(),
            path: path.display().to_string(),
            model: transcript.facts().model.clone(),
        };
        let position = ImportPosition { seq: 0, runs: 0, at: self.now() };
        let events = import::events(&session_id, position, &origin, transcript.entries().to_vec());
        let mut past = Past { state: SessionState::from_events(&events), unfinished_calls: Vec::new() };
        past.state.session_id = Some(session_id.clone());
        if self.inner.parts.settings.persistence == Persistence::Off {
            return Ok(self.in_memory(session_id, past));
        }
        let journals = match self.ready().await {
            Ok(journals) => journals,
            Err(error) => return self.after_trouble(session_id, past, error),
        };
        let store = Arc::clone(&journals);
        let written = spawn_blocking(move || events.iter().try_for_each(|event| store.append(event))).await?;
        let synced = match written {
            Ok(()) => journals.sync().get().await,
            Err(error) => Err(error),
        };
        match synced {
            Ok(()) => self.saved(session_id, past, journals).await,
            Err(error) => self.after_trouble(session_id, past, error.into()),
        }
    }

    /// Where a session stood at its end, with everything closed that was open, in memory only.
    async fn closed(&self, name: SessionName) -> Result<Past, SessionError> {
        let mut state = self.state_of(name).await?;
        let unfinished_calls = state.unfinished_calls();
        for event in state.closing_events(self.inner.parts.clock.now()) {
            state.apply(&event);
        }
        Ok(Past { state, unfinished_calls })
    }

    async fn state_of(&self, name: SessionName) -> Result<SessionState, SessionError> {
        self.blocking(move |catalogue| {
            let mut state = SessionState::new();
            let read = catalogue.sessions.read(&name, |event| state.apply(&event));
            read.map_err(|error| SessionError::of(&name.session_id(), error))?;
            state.session_id = Some(name.session_id());
            Ok(state)
        })
        .await
    }

    fn past(&self, session_id: &SessionId, resumed: ResumedSession) -> Past {
        if let Some(aside) = resumed.opened.damaged_copy {
            self.inner.tell.tell(SessionNotice::Repaired { session_id: session_id.clone(), aside });
        }
        Past { state: resumed.state, unfinished_calls: resumed.unfinished_calls }
    }

    /// Opens the journals. Tries to write before any model is called.
    async fn ready(&self) -> Result<Arc<JournalStore>, SessionError> {
        let sessions = self
            .blocking(|catalogue| {
                try_out(&catalogue.data)?;
                Ok(catalogue.sessions.clone())
            })
            .await?;
        let project = Some(self.inner.parts.project.clone());
        Ok(Arc::new(JournalStore::new(sessions, project, self.lease())))
    }

    async fn saved(
        &self,
        session_id: SessionId,
        past: Past,
        journals: Arc<JournalStore>,
    ) -> Result<SessionHandle, SessionError> {
        let Inner { parts, tell, catalogue } = &*self.inner;
        let catalogue = catalogue.as_ref().map_err(Clone::clone)?;
        let transcripts = self.transcripts();
        if let Some(transcripts) = transcripts.clone() {
            let name = SessionName::try_from(&session_id).map_err(SessionError::Name)?;
            if past.state.seq > 0 {
                let catch_up = self.blocking(move |catalogue| {
                    transcripts.catch_up(&name.session_id(), |visit| catalogue.visit(&name, visit));
                    Ok(())
                });
                catch_up.await?;
            }
        }
        let standing = if past.state == SessionState::new() { Standing::New } else { Standing::Resumed };
        let on_failure = parts.settings.on_failure;
        let storage = SessionStorage {
            store: Arc::new(PersistentStore::new(Arc::clone(&journals), on_failure, tell.clone(), standing)),
            journals,
            transcripts,
            indexing: Arc::clone(&catalogue.indexing),
            checkpoints: self.checkpoints(catalogue),
        };
        Ok(SessionHandle { storage: Some(storage), ..self.in_memory(session_id, past) })
    }

    fn transcripts(&self) -> Option<Arc<TranscriptObserver>> {
        let Inner { parts, tell, .. } = &*self.inner;
        let projects = match &parts.settings.transcripts {
            Transcripts::WhereUsed if !parts.dirs.has_claude_code() => return None,
            Transcripts::WhereUsed | Transcripts::On => parts.dirs.claude_projects(),
            Transcripts::RedirectedTo(dir) => Ok(dir.clone()),
            Transcripts::Off => return None,
        };
        match projects {
            Ok(projects) => {
                Some(Arc::new(TranscriptObserver::new(projects, parts.project.clone(), tell.clone())))
            }
            Err(error) => {
                tell.tell(SessionNotice::NoTranscript { why: error.to_string() });
                None
            }
        }
    }

    fn checkpoints(&self, catalogue: &Catalogue) -> Option<Arc<Checkpoints>> {
        let limits = match &self.inner.parts.settings.checkpoints {
            CheckpointMode::On(limits) => limits.clone(),
            CheckpointMode::Off => return None,
        };
        let data = catalogue.data.canonicalize().unwrap_or_else(|_| catalogue.data.clone());
        // Restoring files would also restore the journal that is being written.
        let opened = if data.starts_with(&catalogue.project) {
            Err(format!("sessions are saved in {}, which is inside the project", data.display()))
        } else {
            let dir = catalogue.checkpoint_dir(&catalogue.project);
            Checkpoints::open(&dir, &catalogue.project, limits).map_err(|error| error.to_string())
        };
        match opened {
            Ok(checkpoints) => Some(Arc::new(checkpoints)),
            Err(why) => {
                self.inner.tell.tell(SessionNotice::NoCheckpoints { why });
                None
            }
        }
    }

    /// The session in memory, if the settings allow it.
    fn after_trouble(
        &self,
        session_id: SessionId,
        past: Past,
        error: SessionError,
    ) -> Result<SessionHandle, SessionError> {
        match self.inner.parts.settings.on_failure {
            OnStorageFailure::InMemory if error.is_storage_failure() => {
                let why = error.to_string();
                self.inner.tell.tell(SessionNotice::NotKept { session_id: session_id.clone(), why });
                Ok(self.in_memory(session_id, past))
            }
            OnStorageFailure::InMemory | OnStorageFailure::Refuse => Err(error),
        }
    }

    fn in_memory(&self, session_id: SessionId, past: Past) -> SessionHandle {
        let parts = &self.inner.parts;
        SessionHandle {
            session_id,
            past,
            storage: None,
            clock: Arc::clone(&parts.clock),
            random: Arc::clone(&parts.random),
        }
    }

    /// Where the transcripts of this project are, whether or not this session writes one.
    pub(super) fn transcript_dir(&self) -> Option<PathBuf> {
        let parts = &self.inner.parts;
        match &parts.settings.transcripts {
            Transcripts::RedirectedTo(dir) => Some(dir.clone()),
            Transcripts::WhereUsed | Transcripts::On | Transcripts::Off => parts.dirs.claude_projects().ok(),
        }
    }

    pub(super) fn tell(&self, notice: SessionNotice) {
        self.inner.tell.tell(notice);
    }

    pub(super) fn now(&self) -> Timestamp {
        self.inner.parts.clock.now()
    }

    pub(super) fn settings(&self) -> &PersistenceSettings {
        &self.inner.parts.settings
    }

    pub(super) fn fresh_id(&self) -> SessionId {
        let SessionManagerParts { clock, random, .. } = &self.inner.parts;
        SessionId::generate(clock.now(), [random.next_u64(), random.next_u64()])
    }

    pub(super) fn lease(&self) -> Lease {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Lease { pid: std::process::id(), host: Some(host), at: self.inner.parts.clock.now() }
    }

    /// Runs blocking work on a blocking thread.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Catalogue) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, SessionError> {
        let catalogue = self.inner.catalogue.clone()?;
        spawn_blocking(move || work(&catalogue)).await?
    }
}

/// Opens a journal on a blocking thread: it is read completely.
async fn opened(
    open: impl FnOnce(&Handle) -> Result<ResumedSession, ResumeError> + Send + 'static,
) -> Result<Result<ResumedSession, ResumeError>, SessionError> {
    let runtime = Handle::current();
    Ok(spawn_blocking(move || open(&runtime)).await?)
}

/// How much is written for a try: more than the first lines of a journal need.
const TRY_BYTES: usize = 16 * 1024;

/// Makes `dir` if it is missing, and tries in it all that a journal needs: a file that can be written, locked and synced.
/// Nothing is left behind.
fn try_out(dir: &Path) -> Result<(), SessionError> {
    let failed = |action: &'static str| {
        let path = dir.to_owned();
        move |source: io::Error| SessionError::Unkeepable { action, path, source }
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed("create the directory"))?;
    let mut draft = tempfile::Builder::new()
        .prefix(".try-")
        .permissions(fs::Permissions::from_mode(0o600))
        .tempfile_in(dir)
        .map_err(failed("write in"))?;
    flock(draft.as_file(), FlockOperation::NonBlockingLockExclusive)
        .map_err(|error| failed("lock a file in")(error.into()))?;
    draft.write_all(&[b' '; TRY_BYTES]).map_err(failed("write in"))?;
    draft.as_file().sync_all().map_err(failed("write in"))
}

/// A file that grows beyond the limit of the process (`ulimit -f`) is an error to report, and must not end the program. Needs a
/// runtime with signals; without one the default stays.
fn survive_size_limit() {
    if tokio::runtime::Handle::try_current().is_ok() {
        // A listener is enough, and it lasts as long as the process.
        signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).ok();
    }
}
