//! `TranscriptObserver`: events become transcripts of Claude Code on the way. A transcript that cannot be written fails no run.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rheon_fleet::git::{Head, read_head};
use rheon_store::claude::{ForeignPart, TranscriptLocation, TranscriptWriter};
use rheon_store::sessions::SessionFileError;
use rheon_types::{Event, SessionId};

use super::notice::SessionNotice;
use super::notice_sink::SessionNoticeSink;

/// How many sessions of one program are written at a time. The least recently used one makes room.
const WRITERS_MAX: usize = 64;

/// Writes transcripts of the sessions of one project.
pub(super) struct TranscriptObserver {
    projects: PathBuf,
    project: PathBuf,
    tell: SessionNoticeSink,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    writers: HashMap<SessionId, (u64, TranscriptWriter)>,
    /// Counts what was written, to know who was silent longest.
    turn: u64,
    /// After the first failure nothing more is written: a transcript must not have gaps.
    has_failed: bool,
}

impl TranscriptObserver {
    pub(super) fn new(projects: PathBuf, project: PathBuf, tell: SessionNoticeSink) -> Self {
        Self { projects, project, tell, state: Mutex::default() }
    }

    /// Writes what `event` adds to the conversation of its session.
    pub(super) fn record(&self, event: &Event) {
        self.with(&event.session_id, |writer| writer.record(event));
    }

    /// The transcript of a session, which may not exist yet. `None` if nothing is written.
    pub(super) fn path(&self, session_id: &SessionId) -> Option<PathBuf> {
        let mut path = None;
        self.with(session_id, |writer| {
            path = Some(writer.path().to_owned());
            Ok(())
        });
        path
    }

    /// Brings the transcript of a session up to date with its log: a resumed session may have none, or one that was cut
    /// short with the program. `read` passes all events of the session, those of its ancestors first.
    pub(super) fn catch_up(
        &self,
        session_id: &SessionId,
        read: impl FnOnce(&mut dyn FnMut(&Event)) -> Result<(), SessionFileError>,
    ) {
        self.with(session_id, |writer| {
            writer.begin_replay()?;
            let mut followed = Ok(());
            let outcome = read(&mut |event| {
                if followed.is_ok() {
                    followed = writer.replay(event);
                }
            });
            outcome.map_err(io::Error::other)?;
            followed?;
            writer.end_replay()
        });
    }

    fn with(&self, session_id: &SessionId, write: impl FnOnce(&mut TranscriptWriter) -> io::Result<()>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.has_failed {
            return;
        }
        let outcome = self.writer(&mut state, session_id).and_then(write);
        if let Err(error) = outcome {
            state.has_failed = true;
            state.writers.clear();
            let why = format!("cannot write in {}: {error}", self.projects.display());
            drop(state);
            self.tell.tell(SessionNotice::NoTranscript { why });
        }
    }

    fn writer<'a>(
        &self,
        state: &'a mut State,
        session_id: &SessionId,
    ) -> io::Result<&'a mut TranscriptWriter> {
        state.turn += 1;
        if !state.writers.contains_key(session_id) {
            if state.writers.len() >= WRITERS_MAX {
                let silent =
                    state.writers.iter().min_by_key(|(_, (turn, _))| *turn).map(|(id, _)| id.clone());
                silent.and_then(|id| state.writers.remove(&id));
            }
            let place = TranscriptLocation {
                projects_dir: self.projects.clone(),
                cwd: self.project.clone(),
                session_id: session_id.clone(),
                git_branch: git_branch(&self.project),
            };
            let writer = TranscriptWriter::open(place)?;
            state.writers.insert(session_id.clone(), (state.turn, writer));
        }
        let turn = state.turn;
        let (last, writer) = state
            .writers
            .get_mut(session_id)
            .ok_or_else(|| io::Error::other("the transcript was removed"))?;
        *last = turn;
        Ok(writer)
    }
}

/// What another program added to the transcript of a session in `projects`. Nothing is written.
pub(super) fn foreign_part(
    projects: &Path,
    session_id: &SessionId,
    read: impl FnOnce(&mut dyn FnMut(&Event)) -> Result<(), SessionFileError>,
) -> io::Result<Option<(PathBuf, ForeignPart)>> {
    let mut writer = TranscriptWriter::open(TranscriptLocation {
        projects_dir: projects.to_owned(),
        cwd: PathBuf::new(),
        session_id: session_id.clone(),
        git_branch: None,
    })?;
    writer.begin_replay()?;
    if !writer.has_foreign_entries() {
        return Ok(None);
    }
    let mut followed = Ok(());
    let outcome = read(&mut |event| {
        if followed.is_ok() {
            followed = writer.replay(event);
        }
    });
    outcome.map_err(io::Error::other)?;
    followed?;
    Ok(writer.foreign()?.map(|part| (writer.path().to_owned(), part)))
}

/// The branch of git that a directory is on, if it is on one.
fn git_branch(dir: &Path) -> Option<String> {
    match read_head(dir)? {
        Head::Branch(branch) => Some(branch),
        Head::Commit => None,
    }
}
