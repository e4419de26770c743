//! `TranscriptObserver`: events become transcripts of Claude Code on the way. A transcript that cannot be written fails no run.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rheon_fleet::git::{Head, read_head};
use rheon_store::claude::{Transcript, TranscriptLocation, TranscriptWriter};
use rheon_types::{AgentMessage, Event, Random, SessionId};

use super::notice::SessionNotice;
use super::notice_sink::SessionNoticeSink;

/// How many sessions of one program are written at a time. The least recently used one makes room.
const WRITERS_MAX: usize = 64;

/// Writes transcripts of the sessions of one project.
pub(super) struct TranscriptObserver {
    projects: PathBuf,
    project: PathBuf,
    random: Arc<dyn Random>,
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
    pub(super) fn new(
        projects: PathBuf,
        project: PathBuf,
        random: Arc<dyn Random>,
        tell: SessionNoticeSink,
    ) -> Self {
        Self { projects, project, random, tell, state: Mutex::default() }
    }

    /// Writes what `event` adds to the conversation of its session.
    pub(super) fn record(&self, event: &Event) {
        self.with(&event.session_id, |writer| writer.record(event));
    }

    /// Brings the transcript of a session up to date with `history`: a resumed session may have none, or one that was
    /// cut short with the program.
    pub(super) fn catch_up(&self, session_id: &SessionId, history: &[Arc<AgentMessage>]) {
        let mut ahead = None;
        let history: Vec<_> = history.iter().filter(|message| message.as_llm().is_some()).collect();
        self.with(session_id, |writer| {
            let known = match writer.path().try_exists()? {
                true => written(writer.path())?,
                false => 0,
            };
            if known > history.len() {
                ahead = Some((writer.path().to_owned(), known - history.len()));
            }
            history.iter().skip(known).try_for_each(|message| writer.record_message(message))
        });
        if let Some((path, messages)) = ahead {
            self.tell.tell(SessionNotice::WentOnElsewhere { path, messages });
        }
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
            let writer = TranscriptWriter::open(place, Arc::clone(&self.random))?;
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

/// The number of messages in a transcript, without those that its reader adds.
fn written(path: &Path) -> io::Result<usize> {
    let transcript = Transcript::open(path).map_err(io::Error::other)?;
    Ok(transcript.entries().iter().filter(|said| !said.uuids.is_empty()).count())
}

/// The branch of git that a folder is on, if it is on one.
fn git_branch(folder: &Path) -> Option<String> {
    match read_head(folder)? {
        Head::Branch(branch) => Some(branch),
        Head::Commit => None,
    }
}
