//! `TranscriptWriter`: writes durable events as lines that Claude Code can resume.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_types::event::CompactionTrigger;
use rheon_types::{
    AgentEvent, AgentMessage, Author, ChildEvent, ContextEvent, ContinuationKind, Event, Message,
    MessageEvent, Random, RunEvent, RunId, SessionId, Timestamp,
};

use super::chain::Chain;
use super::compose::{Compaction, Composer, Envelope, Position, tombstone};
use super::entry::{Entry, EntryKind};
use super::ids::transcript_id;
use super::lines::LINE_BYTES_MAX;
use super::list::{find, invalid};
use super::project_dir::project_dir_name;
use super::tail::{self, Tail};
use super::transcript::{Transcript, TranscriptError};

/// The note for people when one of several parallel runs was selected.
const SELECTED_NOTE: &str = "This answer was selected from several parallel runs.";

/// Where a transcript is stored, and the fields its lines repeat.
#[derive(Debug, Clone)]
pub struct TranscriptLocation {
    /// The directory of all projects, usually `~/.claude/projects`.
    pub projects_dir: PathBuf,
    /// The session's working directory.
    pub cwd: PathBuf,
    pub session_id: SessionId,
    /// `None` is written as `HEAD`.
    pub git_branch: Option<String>,
}

/// Writes one transcript: appends complete lines, one `write` each, and never changes existing ones. The file is
/// created with its first line.
pub struct TranscriptWriter {
    path: PathBuf,
    session_id: SessionId,
    envelope: Envelope,
    random: Arc<dyn Random>,
    position: Position,
    /// Parallel runs of one prompt, until one of them is selected: where the next entry of each is attached.
    branches: HashMap<RunId, Position>,
    trigger: CompactionTrigger,
    file: Option<File>,
    /// The file may end with an incomplete line.
    is_torn: bool,
}

impl TranscriptWriter {
    /// A writer for the session at `location`. It continues an existing transcript, in any project and from either
    /// program.
    pub fn open(location: TranscriptLocation, random: Arc<dyn Random>) -> io::Result<Self> {
        let id = transcript_id(&location.session_id);
        let cwd = fs::canonicalize(&location.cwd).unwrap_or(location.cwd);
        let existing = find(&location.projects_dir, &id).map_err(invalid)?;
        let found = existing.is_some();
        let path = existing.unwrap_or_else(|| {
            location.projects_dir.join(project_dir_name(&cwd)).join(format!("{id}.jsonl"))
        });
        let mut writer = Self {
            path,
            session_id: location.session_id,
            envelope: Envelope {
                session_id: id,
                cwd: cwd.to_string_lossy().into_owned(),
                git_branch: location.git_branch.unwrap_or_else(|| "HEAD".to_owned()),
            },
            random,
            position: Position::default(),
            branches: HashMap::new(),
            trigger: CompactionTrigger::Auto,
            file: None,
            is_torn: false,
        };
        if found {
            writer.continue_existing()?;
        }
        Ok(writer)
    }

    /// The path of the transcript, which may not exist yet.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The uuid of the parent of the next entry.
    pub fn tip(&self) -> Option<&str> {
        self.position.tip.as_deref()
    }

    /// Writes what `event` adds to the conversation. Ignores other sessions and events that add nothing.
    pub fn record(&mut self, event: &Event) -> io::Result<()> {
        if event.session_id != self.session_id {
            return Ok(());
        }
        match &event.kind {
            AgentEvent::Message(MessageEvent::End { message }) => {
                self.in_run(event.run_id.as_ref(), |writer| writer.record_message(message))
            }
            AgentEvent::Run(RunEvent::Start { continuation, .. }) => match continuation {
                Some(ContinuationKind::Rerun { .. } | ContinuationKind::Branch { .. }) => {
                    self.in_run(event.run_id.as_ref(), Self::return_to_last_prompt)
                }
                Some(ContinuationKind::Default) | None => Ok(()),
            },
            AgentEvent::Child(ChildEvent::ParallelStart { run_ids }) => {
                self.branches.extend(run_ids.iter().map(|run| (run.clone(), self.position.clone())));
                Ok(())
            }
            AgentEvent::Child(ChildEvent::ParallelEnd { selected_run_id, .. }) => {
                self.select_branch(selected_run_id, event.at)
            }
            AgentEvent::Context(ContextEvent::CompactionStart { trigger, .. }) => {
                self.trigger = *trigger;
                Ok(())
            }
            AgentEvent::Context(ContextEvent::CompactionEnd {
                messages_dropped,
                tokens_before,
                tokens_after,
                summary,
                ..
            }) => {
                let dropped = usize::try_from(*messages_dropped).unwrap_or(usize::MAX);
                let preserved = self.preserved_after(dropped)?;
                let compaction = Compaction {
                    trigger: self.trigger,
                    tokens_before: *tokens_before,
                    tokens_after: *tokens_after,
                    summary: summary.as_deref(),
                    preserved,
                    at: event.at,
                };
                self.compose(|composer| composer.compaction(&compaction))
            }
            _ => Ok(()),
        }
    }

    /// Writes one message, for example of the history that a fork starts with.
    pub fn record_message(&mut self, message: &AgentMessage) -> io::Result<()> {
        self.compose(|composer| composer.message(message))
    }

    /// Calls `write` with the position of a run: the end of the conversation, or of the run's branch.
    fn in_run(
        &mut self,
        run: Option<&RunId>,
        write: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some((run, branch)) = run.and_then(|run| self.branches.remove_entry(run)) else {
            return write(self);
        };
        let end = std::mem::replace(&mut self.position, branch);
        let outcome = write(self);
        let branch = std::mem::replace(&mut self.position, end);
        self.branches.insert(run, branch);
        outcome
    }

    /// Continues one of several branches. A note makes it the one written last, which readers follow. The others
    /// stay in the file.
    fn select_branch(&mut self, selected: &RunId, at: Timestamp) -> io::Result<()> {
        let Some(selected) = self.branches.remove(selected) else { return Ok(()) };
        self.position = selected;
        self.branches.clear();
        self.compose(|composer| composer.note(SELECTED_NOTE, at))
    }

    /// A rerun is attached to the last user message.
    fn return_to_last_prompt(&mut self) -> io::Result<()> {
        if self.position.tip.is_none() {
            return Ok(());
        }
        if self.position.last_prompt.is_none() {
            let is_prompt = |message: &AgentMessage| match message.as_llm() {
                Some(Message::User(user)) => user.author == Author::User,
                Some(Message::Assistant(_) | Message::ToolResult(_)) | None => false,
            };
            let transcript = self.read()?;
            let last_prompt = transcript.entries().iter().rev().find(|entry| is_prompt(&entry.message));
            self.position.last_prompt = last_prompt.and_then(|entry| entry.uuids.last().cloned());
        }
        self.position.tip.clone_from(&self.position.last_prompt);
        self.position.calls.clear();
        Ok(())
    }

    /// Deletes entries: writes a tombstone, and attaches the next entry to one that remains.
    pub fn delete(&mut self, uuids: &[String], at: Timestamp) -> io::Result<()> {
        if uuids.is_empty() {
            return Ok(());
        }
        let line = tombstone(&self.envelope, uuids, at);
        self.write_line(&line)?;
        self.position.tip = self.read()?.tip().map(str::to_owned);
        self.position.last_prompt = None;
        Ok(())
    }

    /// Attaches the next entry to `uuid`, an entry of this transcript, or starts a new root. This is how a
    /// conversation is rewound.
    pub fn branch_from(&mut self, uuid: Option<String>) {
        self.position.tip = uuid;
        self.position.last_prompt = None;
    }

    fn read(&self) -> io::Result<Transcript> {
        Transcript::open(&self.path).map_err(|error| match error {
            TranscriptError::Open { source, .. } | TranscriptError::Read { source, .. } => source,
        })
    }

    /// The entries of the messages that remain after dropping the first ones. A summary counts as one message.
    fn preserved_after(&self, dropped: usize) -> io::Result<Vec<String>> {
        if self.position.tip.is_none() {
            return Ok(Vec::new());
        }
        let transcript = self.read()?;
        Ok(transcript.entries().iter().skip(dropped).flat_map(|entry| entry.uuids.iter().cloned()).collect())
    }

    /// Composes lines and writes them. The position changes only after all are written, so that nothing is attached
    /// to half an answer.
    fn compose(&mut self, compose: impl FnOnce(&mut Composer<'_>)) -> io::Result<()> {
        let random = Arc::clone(&self.random);
        let envelope = self.envelope.clone();
        let mut composer = Composer::new(&envelope, &*random, self.position.clone());
        compose(&mut composer);
        let Composer { position, lines, .. } = composer;
        for line in &lines {
            self.write_line(line)?;
        }
        self.position = position;
        Ok(())
    }

    fn write_line(&mut self, line: &serde_json::Value) -> io::Result<()> {
        let mut text = Vec::new();
        if self.is_torn {
            // This turns an incomplete line into a line of its own, which readers skip.
            text.push(b'\n');
        }
        serde_json::to_writer(&mut text, line).map_err(io::Error::from)?;
        if text.len() > LINE_BYTES_MAX {
            let problem = format!(
                "a line of {} bytes does not fit into the transcript {}: at most {LINE_BYTES_MAX} are read; \
                 the message is kept in the session's journal only",
                text.len(),
                self.path.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        text.push(b'\n');
        let file = match &mut self.file {
            Some(file) => file,
            slot => slot.insert(append_to(&self.path)?),
        };
        self.is_torn = true;
        file.write_all(&text)?;
        self.is_torn = false;
        Ok(())
    }

    /// Finds the end of the conversation in an existing file.
    fn continue_existing(&mut self) -> io::Result<()> {
        let Tail { entries, has_tombstones, is_torn } = tail::read(&self.path)?;
        self.is_torn = is_torn;
        let deleted = HashSet::new();
        let chain = Chain::new(&entries, &deleted);
        self.position.tip = if has_tombstones || chain.tip().is_none() {
            self.read()?.tip().map(str::to_owned)
        } else {
            chain.tip().and_then(|at| entries.get(at)).map(|entry| entry.uuid.clone())
        };
        self.position.calls = entries.iter().flat_map(calls).collect();
        Ok(())
    }
}

/// The tool calls in an entry, each with the entry's uuid.
fn calls(entry: &Entry) -> Vec<(String, String)> {
    match &entry.kind {
        EntryKind::Answer(answer) => answer
            .content
            .iter()
            .filter_map(|block| match block {
                rheon_types::Content::ToolCall(call) => Some((call.id.to_string(), entry.uuid.clone())),
                rheon_types::Content::Text { .. }
                | rheon_types::Content::Image { .. }
                | rheon_types::Content::Thinking { .. } => None,
            })
            .collect(),
        EntryKind::User(_) | EntryKind::Boundary { .. } | EntryKind::Link => Vec::new(),
    }
}

/// Opens a file for appending. New files and directories are readable only by the user.
fn append_to(path: &Path) -> io::Result<File> {
    let mut dirs = DirBuilder::new();
    dirs.recursive(true);
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        dirs.mode(0o700);
        options.mode(0o600);
    }
    if let Some(dir) = path.parent() {
        dirs.create(dir)?;
    }
    options.open(path)
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
