//! `Catalogue`: which sessions there are: found by id, listed, searched, deleted. All calls block.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_fleet::git::{sibling_directories, worktree_directories};
use rheon_store::SessionName;
use rheon_store::checkpoint::{CheckpointLimits, Checkpoints};
use rheon_store::claude;
use rheon_store::journal::Lease;
use rheon_store::sessions::{SessionFiles, SessionListing};
use rheon_store::sqlite::{DatabaseError, EntryMatch, Index, ListQuery, SearchQuery, SessionRow};
use rheon_types::{SessionId, Timestamp};

use super::entry::SessionEntry;
use super::error::SessionError;
use super::indexing::{Indexing, project_name, source};
use super::notice::SessionNotice;
use super::notice_sink::SessionNoticeSink;

/// The most sessions of one list.
pub const LIST_LINES_MAX: usize = 1_000;

/// How many of the newest journals are searched for the latest session.
const LATEST_MAX: usize = 32;

/// How many sessions are suggested when the requested one does not exist.
const NAMED_MAX: usize = 3;

/// How many journals missing in the index are read for one list.
const TAKEN_MAX: usize = 32;

/// How much later than its last event a journal may have been written without the index being behind.
const SLACK_MS: u64 = 2_000;

/// The largest journal that is read for a list.
const CATCH_UP_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The scope of a list or search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListScope {
    Project,
    Everywhere,
}

/// What a deletion took, and what it left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedSession {
    pub session_id: SessionId,
    pub checkpoints: usize,
    /// How many bytes of payloads and checkpoints are free again. Payloads of the last hour go with a later deletion.
    pub bytes_freed: u64,
    /// The transcript for Claude Code, which is not deleted: Claude Code may have continued it.
    pub transcript: Option<PathBuf>,
}

/// A requested session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SessionMatch {
    Ours(SessionName),
    ClaudeCode { id: SessionName, path: PathBuf },
}

/// Whether all journals are in the index.
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
    pub(super) claude_projects: Option<PathBuf>,
    pub(super) tell: SessionNoticeSink,
}

impl Catalogue {
    /// The session of this project that was active last, in whichever program.
    pub(super) fn latest(&self) -> Result<SessionMatch, SessionError> {
        let newest = self.sessions.newest(&self.project, LATEST_MAX);
        let ours = newest.into_iter().filter(|listed| listed.header.is_ok());
        let ours = ours.map(|listed| (listed.modified_ms, SessionMatch::Ours(listed.name))).next();
        let claude =
            self.claude_projects.as_deref().map(|projects| claude::list(projects, &self.project, LATEST_MAX));
        let theirs = claude.and_then(Result::ok).unwrap_or_default().into_iter();
        // A session of ours that was deleted has left its transcript.
        let theirs = theirs.filter(|listed| listed.facts.first_prompt.is_some() && !listed.facts.is_by_rheon);
        let theirs = theirs.map(|listed| {
            let found = match self.sessions.listed(&listed.id) {
                Ok(own) => SessionMatch::Ours(own.name),
                Err(_) => SessionMatch::ClaudeCode { id: listed.id, path: listed.path },
            };
            (listed.modified.as_millis(), found)
        });
        // Where both were active at the same time, ours comes first.
        let latest =
            ours.into_iter().chain(theirs).reduce(|best, next| if next.0 > best.0 { next } else { best });
        latest
            .map(|(_, found)| found)
            .ok_or_else(|| SessionError::NoSession { project: self.project.clone() })
    }

    /// The working directory of a session, if known.
    pub(super) fn dir_of(&self, name: &SessionName) -> Result<Option<PathBuf>, SessionError> {
        let listed = self.sessions.listed(name);
        let listed = listed.map_err(|error| SessionError::of(&name.session_id(), error))?;
        Ok(listed.header.ok().and_then(|header| header.project).map(PathBuf::from))
    }

    /// That of `dirs` in which a session was written to last.
    pub(super) fn latest_dir(&self, dirs: Vec<PathBuf>) -> Option<PathBuf> {
        let written = |dir: &PathBuf| {
            let newest = self.sessions.newest(dir, LATEST_MAX);
            newest.into_iter().find(|listed| listed.header.is_ok()).map(|listed| listed.modified_ms)
        };
        let active = dirs.into_iter().filter_map(|dir| Some((written(&dir)?, dir)));
        active.max_by_key(|(modified_ms, _)| *modified_ms).map(|(_, dir)| dir)
    }

    /// Whether a session with this id exists; an error if the id is invalid.
    pub(super) fn has(&self, session_id: &SessionId) -> Result<bool, SessionError> {
        let name = SessionName::try_from(session_id).map_err(SessionError::Name)?;
        let is_claudes = match &self.claude_projects {
            Some(projects) => claude::find(projects, name.as_str())?.is_some(),
            None => false,
        };
        Ok(is_claudes || self.sessions.listed(&name).is_ok())
    }

    /// The session with the id or unique prefix `wanted`: first this project's, then those of other projects, then those of
    /// Claude Code.
    pub(super) fn find(&self, wanted: &str) -> Result<SessionMatch, SessionError> {
        let missing = || {
            let latest = self.sessions.newest(&self.project, NAMED_MAX);
            let latest = latest.iter().map(|listed| listed.name.session_id()).collect();
            SessionError::NoSuchSession { wanted: wanted.chars().take(128).collect(), latest }
        };
        let name = SessionName::new(wanted).map_err(|_| missing())?;
        if self.sessions.listed(&name).is_ok() {
            return Ok(SessionMatch::Ours(name));
        }
        for project in [Some(self.project.as_path()), None] {
            let mut names = self.sessions.names(project, wanted);
            match (names.pop(), names.is_empty()) {
                (None, _) => {}
                (Some(name), true) => return Ok(SessionMatch::Ours(name)),
                (Some(last), false) => {
                    names.push(last);
                    let candidates = names.iter().map(SessionName::session_id).collect();
                    return Err(SessionError::Ambiguous { wanted: wanted.to_owned(), candidates });
                }
            }
        }
        self.find_claude(wanted)?.ok_or_else(missing)
    }

    fn find_claude(&self, wanted: &str) -> Result<Option<SessionMatch>, SessionError> {
        let Some(projects) = &self.claude_projects else { return Ok(None) };
        if let (Ok(id), Some(path)) = (SessionName::new(wanted), claude::find(projects, wanted)?) {
            return Ok(Some(SessionMatch::ClaudeCode { id, path }));
        }
        let listed = claude::list(projects, &self.project, usize::MAX)?;
        let mut fitting: Vec<_> =
            listed.into_iter().filter(|it| it.id.as_str().starts_with(wanted)).collect();
        if fitting.len() > 1 {
            let candidates = fitting.iter().map(|listed| listed.id.session_id()).collect();
            return Err(SessionError::Ambiguous { wanted: wanted.to_owned(), candidates });
        }
        Ok(fitting.pop().map(|listed| SessionMatch::ClaudeCode { id: listed.id, path: listed.path }))
    }

    /// The most recent sessions, newest first, including Claude Code's in this project, and those of other worktrees of
    /// its repository.
    pub(super) fn list(&self, scope: ListScope, limit: usize) -> Vec<SessionEntry> {
        let limit = limit.clamp(1, LIST_LINES_MAX);
        let mut lines = self.of_dir(scope, limit);
        if scope == ListScope::Project {
            for project in self.other_worktrees() {
                lines.extend(Self { project, ..self.clone() }.of_dir(scope, limit));
            }
        }
        lines.sort_by(|one, other| {
            other.active.cmp(&one.active).then_with(|| one.session_id.cmp(&other.session_id))
        });
        lines.truncate(limit);
        lines
    }

    /// This project in the other worktrees of its repository.
    fn other_worktrees(&self) -> Vec<PathBuf> {
        let rheon = worktree_directories(&self.project).unwrap_or_default();
        let mut dirs: Vec<PathBuf> = rheon.into_iter().chain(sibling_directories(&self.project)).collect();
        dirs.retain(|dir| *dir != self.project);
        dirs.sort();
        dirs.dedup();
        dirs
    }

    fn of_dir(&self, scope: ListScope, limit: usize) -> Vec<SessionEntry> {
        let mut lines = match self.indexed(scope, limit) {
            Ok(Some(lines)) => lines,
            Ok(None) => self.in_dir(scope, limit),
            Err(error) => {
                self.tell.tell(SessionNotice::NoIndex { why: error.to_string() });
                self.in_dir(scope, limit)
            }
        };
        lines.extend(self.claude_lines(limit));
        lines
    }

    /// The rows of the index, each compared with its journal; none while the index is incomplete.
    fn indexed(&self, scope: ListScope, limit: usize) -> Result<Option<Vec<SessionEntry>>, DatabaseError> {
        let Some(index) = self.indexing.open_if_whole()? else { return Ok(None) };
        let silent = match self.take_in_unknown(&index, scope)? {
            Taken::All(silent) => silent,
            Taken::Some => return Ok(None),
        };
        let query = ListQuery { project: self.scope_name(scope), limit, ..ListQuery::default() };
        let rows = index.list(&query)?.sessions.into_iter();
        let rows = rows.filter_map(|row| self.checked(&index, row).transpose());
        let mut lines = rows.map(|row| row.map(SessionEntry::from)).collect::<Result<Vec<_>, _>>()?;
        lines.extend(silent.into_iter().map(SessionEntry::from));
        Ok(Some(lines))
    }

    /// Adds missing journals to the index: a full disk or a kill may have come before it
    /// was updated, and journals may have been copied here. Compares only the names.
    fn take_in_unknown(&self, index: &Index, scope: ListScope) -> Result<Taken, DatabaseError> {
        let project = match scope {
            ListScope::Project => Some(self.project.as_path()),
            ListScope::Everywhere => None,
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

    /// A row updated from its journal; none if the journal was removed.
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

    fn in_dir(&self, scope: ListScope, limit: usize) -> Vec<SessionEntry> {
        self.indexing.rebuild_later();
        let listed: Vec<SessionListing> = match scope {
            ListScope::Project => self.sessions.newest(&self.project, limit),
            ListScope::Everywhere => self.sessions.list(None),
        };
        listed.into_iter().take(limit).map(SessionEntry::from).collect()
    }

    /// Claude Code's sessions in this project, without transcripts written by Rheon.
    fn claude_lines(&self, limit: usize) -> Vec<SessionEntry> {
        let Some(projects) = &self.claude_projects else { return Vec::new() };
        let listed = claude::list(projects, &self.project, limit).unwrap_or_default();
        let is_theirs = |id: &SessionName| self.sessions.listed(id).is_err();
        listed.into_iter().filter(|listed| is_theirs(&listed.id)).map(SessionEntry::from).collect()
    }

    /// Searches for `text`. Completes the index first if necessary.
    pub(super) fn search(
        &self,
        text: &str,
        scope: ListScope,
        limit: usize,
    ) -> Result<Vec<EntryMatch>, SessionError> {
        let query = SearchQuery { text: text.to_owned(), project: self.scope_name(scope), limit };
        Ok(self.indexing.open()?.search(&query)?)
    }

    pub(super) fn scope_name(&self, scope: ListScope) -> Option<String> {
        match scope {
            ListScope::Project => Some(project_name(&self.project)),
            ListScope::Everywhere => None,
        }
    }

    /// Removes a session with its checkpoints, its row, and payloads that no other session has.
    pub(super) fn delete(
        &self,
        name: &SessionName,
        lease: &Lease,
        now: Timestamp,
    ) -> Result<DeletedSession, SessionError> {
        let session_id = name.session_id();
        let failed = |error| SessionError::of(&session_id, error);
        let listed = self.sessions.listed(name).map_err(failed)?;
        self.sessions.delete(name, lease).map_err(failed)?;
        // The session is deleted now; the next list removes a leftover row.
        if let Err(error) = self.indexing.open_if_whole().and_then(|index| match index {
            Some(index) => index.remove_session(&session_id).map(|_| ()),
            None => Ok(()),
        }) {
            self.tell.tell(SessionNotice::NoIndex { why: error.to_string() });
        }
        let project = listed.header.ok().and_then(|header| header.project).map(PathBuf::from);
        let pruned = match project {
            Some(project) if self.checkpoint_dir(&project).exists() && project.exists() => Some(
                Checkpoints::open(&self.checkpoint_dir(&project), &project, CheckpointLimits::default())?,
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
        Ok(DeletedSession { session_id, checkpoints, bytes_freed: bytes.saturating_add(swept), transcript })
    }

    /// Where the checkpoints of a project are.
    pub(super) fn checkpoint_dir(&self, project: &Path) -> PathBuf {
        self.data.join("checkpoints").join(self.sessions.project_name(project))
    }
}
