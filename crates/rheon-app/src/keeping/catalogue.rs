//! `Catalogue`: which sessions there are: found by id, listed, searched, deleted. All calls block.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_store::SessionName;
use rheon_store::checkpoint::{CheckpointLimits, Checkpoints};
use rheon_store::claude;
use rheon_store::journal::Lease;
use rheon_store::sessions::{SessionFiles, SessionListing};
use rheon_store::sqlite::{DatabaseError, EntryMatch, Index, ListQuery, SearchQuery, SessionRow};
use rheon_types::{SessionId, Timestamp};

use super::error::KeepingError;
use super::indexing::{Indexing, project_name, source};
use super::line::SessionLine;
use super::notice::Notice;
use super::tell::Tell;

/// The most sessions of one list.
pub const LIST_LINES_MAX: usize = 1_000;

/// How many of the newest journals are looked at for one to go on with.
const LATEST_MAX: usize = 32;

/// How many sessions are named to somebody who asked for one that is not there.
const NAMED_MAX: usize = 3;

/// How many journals that the index does not know are read while somebody waits for a list.
const TAKEN_MAX: usize = 32;

/// How much later than its last event a journal may have been written without the index being behind.
const SLACK_MS: u64 = 2_000;

/// The largest journal that is read while somebody waits for a list.
const CATCH_UP_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Of which folder sessions are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Of the project's own.
    Project,
    /// Of any.
    Everywhere,
}

/// What a deletion took, and what it left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deleted {
    /// The session.
    pub session_id: SessionId,
    /// How many checkpoints went with it.
    pub checkpoints: usize,
    /// How many bytes of payloads and checkpoints are free again. Payloads of the last hour go with a later deletion.
    pub bytes_freed: u64,
    /// The transcript for Claude Code, which stays: Claude Code may have gone on with it.
    pub transcript: Option<PathBuf>,
}

/// A session that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    Ours(SessionName),
    ClaudeCode { id: SessionName, path: PathBuf },
}

/// Whether the index was told of all journals.
#[derive(Debug)]
enum Taken {
    /// It was, but for these: forks in which nothing was said yet.
    All(Vec<SessionListing>),
    /// There are more than anybody should wait for.
    Some,
}

/// Which sessions there are.
#[derive(Clone)]
pub(super) struct Catalogue {
    pub(super) data: PathBuf,
    pub(super) project: PathBuf,
    pub(super) sessions: SessionFiles,
    pub(super) indexing: Arc<Indexing>,
    /// Where Claude Code keeps its own.
    pub(super) claude_projects: Option<PathBuf>,
    pub(super) tell: Tell,
}

impl Catalogue {
    /// The session of this project that was written to last. Those of Claude Code are listed and resumed by their ids, but never
    /// taken for the last one: to go on with them makes a new session, which nobody should get by surprise.
    pub(super) fn latest(&self) -> Result<SessionName, KeepingError> {
        let newest = self.sessions.newest(&self.project, LATEST_MAX);
        let latest = newest.into_iter().find(|listed| listed.header.is_ok());
        latest.map(|listed| listed.name).ok_or_else(|| KeepingError::NoSession {
            project: self.project.clone(),
            claude_sessions: self.claude_lines(LIST_LINES_MAX).len(),
        })
    }

    /// The folder that a session works in, if that is known.
    pub(super) fn folder_of(&self, name: &SessionName) -> Result<Option<PathBuf>, KeepingError> {
        let listed = self.sessions.listed(name);
        let listed = listed.map_err(|error| KeepingError::of(&name.session_id(), error))?;
        Ok(listed.header.ok().and_then(|header| header.project).map(PathBuf::from))
    }

    /// That of `folders` in which a session was written to last.
    pub(super) fn latest_folder(&self, folders: Vec<PathBuf>) -> Option<PathBuf> {
        let written = |folder: &PathBuf| {
            let newest = self.sessions.newest(folder, LATEST_MAX);
            newest.into_iter().find(|listed| listed.header.is_ok()).map(|listed| listed.modified_ms)
        };
        let active = folders.into_iter().filter_map(|folder| Some((written(&folder)?, folder)));
        active.max_by_key(|(modified_ms, _)| *modified_ms).map(|(_, folder)| folder)
    }

    /// Whether a session of ours has this id; an error if none can have it.
    pub(super) fn has(&self, session_id: &SessionId) -> Result<bool, KeepingError> {
        let name = SessionName::try_from(session_id).map_err(KeepingError::Name)?;
        Ok(self.sessions.listed(&name).is_ok())
    }

    /// The session whose id is `wanted` or alone begins with it: ours of this project first, then ours of others, then those of
    /// Claude Code.
    pub(super) fn find(&self, wanted: &str) -> Result<Found, KeepingError> {
        let missing = || {
            let latest = self.sessions.newest(&self.project, NAMED_MAX);
            let latest = latest.iter().map(|listed| listed.name.session_id()).collect();
            KeepingError::NoSuchSession { wanted: wanted.chars().take(128).collect(), latest }
        };
        let name = SessionName::new(wanted).map_err(|_| missing())?;
        if self.sessions.listed(&name).is_ok() {
            return Ok(Found::Ours(name));
        }
        for project in [Some(self.project.as_path()), None] {
            let mut names = self.sessions.names(project, wanted);
            match (names.pop(), names.is_empty()) {
                (None, _) => {}
                (Some(name), true) => return Ok(Found::Ours(name)),
                (Some(last), false) => {
                    names.push(last);
                    let candidates = names.iter().map(SessionName::session_id).collect();
                    return Err(KeepingError::Ambiguous { wanted: wanted.to_owned(), candidates });
                }
            }
        }
        self.find_claude(wanted)?.ok_or_else(missing)
    }

    fn find_claude(&self, wanted: &str) -> Result<Option<Found>, KeepingError> {
        let Some(projects) = &self.claude_projects else { return Ok(None) };
        if let (Ok(id), Some(path)) = (SessionName::new(wanted), claude::find(projects, wanted)?) {
            return Ok(Some(Found::ClaudeCode { id, path }));
        }
        let listed = claude::list(projects, &self.project, usize::MAX)?;
        let mut fitting: Vec<_> =
            listed.into_iter().filter(|it| it.id.as_str().starts_with(wanted)).collect();
        if fitting.len() > 1 {
            let candidates = fitting.iter().map(|listed| listed.id.session_id()).collect();
            return Err(KeepingError::Ambiguous { wanted: wanted.to_owned(), candidates });
        }
        Ok(fitting.pop().map(|listed| Found::ClaudeCode { id: listed.id, path: listed.path }))
    }

    /// The sessions that were active last, newest first, with those of Claude Code in this project.
    pub(super) fn list(&self, scope: Scope, limit: usize) -> Vec<SessionLine> {
        let limit = limit.clamp(1, LIST_LINES_MAX);
        let mut lines = match self.indexed(scope, limit) {
            Ok(Some(lines)) => lines,
            Ok(None) => self.in_folder(scope, limit),
            Err(error) => {
                self.tell.tell(Notice::NoIndex { why: error.to_string() });
                self.in_folder(scope, limit)
            }
        };
        lines.extend(self.claude_lines(limit));
        lines.sort_by(|one, other| {
            other.active.cmp(&one.active).then_with(|| one.session_id.cmp(&other.session_id))
        });
        lines.truncate(limit);
        lines
    }

    /// What the index says, each row compared with its journal; nothing while the index is not whole.
    fn indexed(&self, scope: Scope, limit: usize) -> Result<Option<Vec<SessionLine>>, DatabaseError> {
        let Some(index) = self.indexing.open_if_whole()? else { return Ok(None) };
        let silent = match self.take_in_unknown(&index, scope)? {
            Taken::All(silent) => silent,
            Taken::Some => return Ok(None),
        };
        let query = ListQuery { project: self.scope_name(scope), limit, ..ListQuery::default() };
        let rows = index.list(&query)?.sessions.into_iter();
        let rows = rows.filter_map(|row| self.checked(&index, row).transpose());
        let mut lines = rows.map(|row| row.map(SessionLine::from)).collect::<Result<Vec<_>, _>>()?;
        lines.extend(silent.into_iter().map(SessionLine::from));
        Ok(Some(lines))
    }

    /// Lets the index know of the journals that it has never heard of: a disk that was full or a kill may have come before it
    /// was told, and journals may have been put here from elsewhere. Only their names are compared with what it knows.
    fn take_in_unknown(&self, index: &Index, scope: Scope) -> Result<Taken, DatabaseError> {
        let project = match scope {
            Scope::Project => Some(self.project.as_path()),
            Scope::Everywhere => None,
        };
        let names = self.sessions.names(project, "");
        let unknown = index.unknown(names.iter().map(SessionName::session_id).collect())?;
        let (mut taken, mut silent) = (0, Vec::new());
        for session_id in unknown {
            let listed =
                SessionName::try_from(&session_id).ok().and_then(|name| self.sessions.listed(&name).ok());
            let Some((listed, source)) = listed.and_then(|listed| source(&listed).map(|it| (listed, it)))
            else {
                continue;
            };
            // A copy under another name is known by its own.
            if index.position(&source.session_id)?.is_some() {
                continue;
            }
            if taken == TAKEN_MAX || listed.bytes > CATCH_UP_BYTES_MAX {
                return Ok(Taken::Some);
            }
            self.indexing.catch_up(index, &source, &listed.name)?;
            if source.parent.is_some() && index.position(&source.session_id)?.is_none() {
                silent.push(listed);
            }
            taken += 1;
        }
        Ok(Taken::All(silent))
    }

    /// A row as its journal has it; nothing if the journal is gone.
    fn checked(&self, index: &Index, row: SessionRow) -> Result<Option<SessionRow>, DatabaseError> {
        let Ok(name) = SessionName::try_from(&row.source.session_id) else { return Ok(None) };
        let Ok(listed) = self.sessions.listed(&name) else {
            index.remove_session(&row.source.session_id)?;
            return Ok(None);
        };
        let is_behind = listed.modified_ms > row.active.as_millis().saturating_add(SLACK_MS);
        let Some(source) = source(&listed).filter(|_| is_behind && listed.bytes <= CATCH_UP_BYTES_MAX) else {
            return Ok(Some(row));
        };
        self.indexing.catch_up(index, &source, &name)?;
        index.session(&source.session_id)
    }

    fn in_folder(&self, scope: Scope, limit: usize) -> Vec<SessionLine> {
        self.indexing.rebuild_later();
        let listed: Vec<SessionListing> = match scope {
            Scope::Project => self.sessions.newest(&self.project, limit),
            Scope::Everywhere => self.sessions.list(None),
        };
        listed.into_iter().take(limit).map(SessionLine::from).collect()
    }

    /// Those of Claude Code in this project that are not transcripts of ours.
    fn claude_lines(&self, limit: usize) -> Vec<SessionLine> {
        let Some(projects) = &self.claude_projects else { return Vec::new() };
        let listed = claude::list(projects, &self.project, limit).unwrap_or_default();
        let is_theirs = |id: &SessionName| self.sessions.listed(id).is_err();
        listed.into_iter().filter(|listed| is_theirs(&listed.id)).map(SessionLine::from).collect()
    }

    /// Where `text` was said. Makes the index whole first, if it is not.
    pub(super) fn search(
        &self,
        text: &str,
        scope: Scope,
        limit: usize,
    ) -> Result<Vec<EntryMatch>, KeepingError> {
        let query = SearchQuery { text: text.to_owned(), project: self.scope_name(scope), limit };
        Ok(self.indexing.open()?.search(&query)?)
    }

    pub(super) fn scope_name(&self, scope: Scope) -> Option<String> {
        match scope {
            Scope::Project => Some(project_name(&self.project)),
            Scope::Everywhere => None,
        }
    }

    /// Removes a session with its checkpoints, its row, and payloads that no other session has.
    pub(super) fn delete(
        &self,
        name: &SessionName,
        lease: &Lease,
        now: Timestamp,
    ) -> Result<Deleted, KeepingError> {
        let session_id = name.session_id();
        let failed = |error| KeepingError::of(&session_id, error);
        let listed = self.sessions.listed(name).map_err(failed)?;
        self.sessions.delete(name, lease).map_err(failed)?;
        // From here on the session is gone; a row that stays is found out by the next list.
        if let Err(error) = self.indexing.open_if_whole().and_then(|index| match index {
            Some(index) => index.remove_session(&session_id).map(|_| ()),
            None => Ok(()),
        }) {
            self.tell.tell(Notice::NoIndex { why: error.to_string() });
        }
        let project = listed.header.ok().and_then(|header| header.project).map(PathBuf::from);
        let pruned = match project {
            Some(project) if self.checkpoint_folder(&project).exists() && project.exists() => Some(
                Checkpoints::open(&self.checkpoint_folder(&project), &project, CheckpointLimits::default())?,
            ),
            Some(_) | None => None,
        };
        let pruned = pruned.map(|checkpoints| checkpoints.forget(|gone| gone == name)).transpose()?;
        let (checkpoints, bytes) = pruned.map_or((0, 0), |pruned| (pruned.checkpoints, pruned.bytes));
        let swept = self.sessions.sweep(now).map_err(failed)?;
        let id = claude::transcript_id(&session_id);
        let transcript = match &self.claude_projects {
            Some(projects) => claude::find(projects, &id)?,
            None => None,
        };
        Ok(Deleted { session_id, checkpoints, bytes_freed: bytes.saturating_add(swept), transcript })
    }

    /// Where the checkpoints of a project are.
    pub(super) fn checkpoint_folder(&self, project: &Path) -> PathBuf {
        self.data.join("checkpoints").join(self.sessions.project_name(project))
    }
}
