//! `TranscriptWriter`: writes durable events as lines that Claude Code can resume.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use rheon_types::event::CompactionTrigger;
use rheon_types::{
    AgentEvent, AgentMessage, Author, ChildEvent, ContextEvent, ContinuationKind, Event, Message,
    MessageEvent, RunEvent, RunId, SessionEvent, SessionId, Timestamp,
};
use serde_json::Value;

use super::chain::Chain;
use super::compose::{Compaction, Composer, ENTRYPOINT, Envelope, Position, tombstone};
use super::conversation::TranscriptMessage;
use super::entry::{Entry, EntryKind, text};
use super::ids::{entry_id, is_derived, transcript_id};
use super::lines::LINE_BYTES_MAX;
use super::list::{find, invalid};
use super::project_dir::project_dir_name;
use super::session_entries::SessionEntries;
use super::tail::{self, Tail};
use super::transcript::{Transcript, TranscriptError};

/// The note for people when one of several parallel runs was selected.
const SELECTED_NOTE: &str = "This answer was selected from several parallel runs.";

/// The note for people where a conversation went back to an earlier message.
const REWOUND_NOTE: &str = "The conversation continues from an earlier message.";

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
    position: Position,
    /// The entries of the session's messages.
    entries: SessionEntries,
    /// Whether `entries` has the whole conversation. Otherwise the file was continued without its events.
    is_whole: bool,
    /// Parallel runs of one prompt, until one of them is selected: where the next entry of each is attached.
    branches: HashMap<RunId, Position>,
    trigger: CompactionTrigger,
    file: Option<File>,
    /// The file may end with an incomplete line.
    is_torn: bool,
    /// While the events of a resumed session are gone through.
    replay: Option<Replay>,
}

/// The file beside the events that it should hold.
#[derive(Default)]
struct Replay {
    /// The entries in the file.
    known: HashMap<String, EntryWriter>,
    /// The entries that the events are.
    ours: HashSet<String>,
    /// The lines after the last one that the file has.
    pending: Vec<Value>,
}

/// Who wrote an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryWriter {
    Rheon,
    /// Rheon, before entries were named by their events.
    OldRheon,
    Other,
}

/// What another program added to a session.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignPart {
    /// The number of our messages that it continues, if it went back to an earlier one.
    pub kept: Option<usize>,
    pub messages: Vec<TranscriptMessage>,
    /// The model that answered last.
    pub model: Option<String>,
}

impl TranscriptWriter {
    /// A writer for the session at `location`. It continues an existing transcript, in any project and from either
    /// program.
    pub fn open(location: TranscriptLocation) -> io::Result<Self> {
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
            position: Position::default(),
            entries: SessionEntries::default(),
            is_whole: !found,
            branches: HashMap::new(),
            trigger: CompactionTrigger::Auto,
            file: None,
            is_torn: false,
            replay: None,
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
        self.follow(event)
    }

    /// Begins to compare the file with the events of the session, which follow one by one, those of its ancestors first.
    pub fn begin_replay(&mut self) -> io::Result<()> {
        let mut replay = Replay::default();
        if self.path.try_exists()? {
            let mut add = |uuid, writer| {
                replay.known.insert(uuid, writer);
            };
            self.is_torn = scan_entries(&self.path, &mut add)?;
        }
        self.position = Position::default();
        self.entries = SessionEntries::default();
        self.is_whole = true;
        self.branches.clear();
        self.replay = Some(replay);
        Ok(())
    }

    /// Whether the file has entries of another program.
    pub fn has_foreign_entries(&self) -> bool {
        let known = self.replay.iter().flat_map(|replay| replay.known.values());
        known.into_iter().any(|writer| *writer == EntryWriter::Other)
    }

    /// Takes the next event. Writes nothing yet.
    pub fn replay(&mut self, event: &Event) -> io::Result<()> {
        self.follow(event)
    }

    /// What another program added to the transcript since, in the conversation that the transcript leads to now. Call it
    /// between the last event and [`Self::end_replay`].
    pub fn foreign(&self) -> io::Result<Option<ForeignPart>> {
        let Some(replay) = &self.replay else { return Ok(None) };
        let is_other = |uuid: &String| {
            !replay.ours.contains(uuid) && replay.known.get(uuid) == Some(&EntryWriter::Other)
        };
        if !replay.known.keys().any(is_other) {
            return Ok(None);
        }
        let transcript = self.read()?;
        let is_foreign =
            |said: &TranscriptMessage| !said.uuids.is_empty() && said.uuids.iter().all(&is_other);
        let said = transcript.entries();
        let Some(first) = said.iter().position(is_foreign) else { return Ok(None) };
        let before = first.checked_sub(1).and_then(|index| said.get(index)?.uuids.last());
        let kept = before.and_then(|uuid| self.entries.find(uuid)).map(|index| index + 1);
        // Messages that the file does not have were not left out on purpose.
        let is_dropped = |kept: &usize| {
            *kept < self.entries.len()
                && self.entries.uuids_from(*kept).all(|uuid| replay.known.contains_key(uuid))
        };
        Ok(Some(ForeignPart {
            kept: kept.filter(is_dropped),
            messages: said.iter().skip(first).filter(|said| is_foreign(said)).cloned().collect(),
            model: transcript.facts().model.clone(),
        }))
    }

    /// Writes the messages that the file lacks at its end, and goes on from there.
    pub fn end_replay(&mut self) -> io::Result<()> {
        let Some(replay) = self.replay.take() else { return Ok(()) };
        let is_old = |(uuid, writer): (&String, &EntryWriter)| {
            *writer == EntryWriter::OldRheon && !replay.ours.contains(uuid)
        };
        if replay.known.iter().any(is_old) {
            // The names of its entries do not distinguish them; it was up to date when it was written.
            (self.entries, self.is_whole) = (SessionEntries::default(), false);
            return self.continue_existing();
        }
        replay.pending.iter().try_for_each(|line| self.write_line(line))
    }

    fn follow(&mut self, event: &Event) -> io::Result<()> {
        let added = self.entries.apply(event);
        if let Some(replay) = &mut self.replay {
            replay.ours.extend(added.iter().flatten().cloned());
        }
        match &event.kind {
            AgentEvent::Message(MessageEvent::End { message }) => {
                let uuids = added.into_iter().next().unwrap_or_default();
                self.in_run(event.run_id.as_ref(), |writer| writer.message(message, uuids))
            }
            AgentEvent::Run(RunEvent::Start { history: Some(history), .. }) => {
                // A conversation from elsewhere: a tree of its own.
                self.position = Position::default();
                let mut messages = history.iter().zip(added);
                messages.try_for_each(|(message, uuids)| self.message(message, uuids))
            }
            AgentEvent::Run(RunEvent::Start { continuation, .. }) => match continuation {
                Some(ContinuationKind::Rerun { .. } | ContinuationKind::Branch { .. }) => {
                    self.in_run(event.run_id.as_ref(), Self::return_to_last_prompt)?;
                    let is_parallel =
                        event.run_id.as_ref().is_some_and(|run| self.branches.contains_key(run));
                    if is_parallel { Ok(()) } else { self.note_rewound(event) }
                }
                Some(ContinuationKind::Default) | None => Ok(()),
            },
            AgentEvent::Session(SessionEvent::Rewound { .. }) => {
                if !self.is_whole {
                    return Ok(());
                }
                self.branch_from(self.entries.tip().cloned());
                self.note_rewound(event)
            }
            AgentEvent::Child(ChildEvent::ParallelStart { run_ids }) => {
                self.branches.extend(run_ids.iter().map(|run| (run.clone(), self.position.clone())));
                Ok(())
            }
            AgentEvent::Child(ChildEvent::ParallelEnd { selected_run_id, .. }) => {
                self.select_branch(selected_run_id, event)
            }
            AgentEvent::Context(ContextEvent::CompactionStart { trigger, .. }) => {
                self.trigger = *trigger;
                Ok(())
            }
            AgentEvent::Context(ContextEvent::CompactionEnd { .. }) => self.compaction(event),
            _ => Ok(()),
        }
    }

    /// A note makes the entry before it the end of the conversation, before anything more is said.
    fn note_rewound(&mut self, event: &Event) -> io::Result<()> {
        let uuids = vec![entry_id(&event.session_id, event.seq, 0)];
        self.compose(uuids, |composer| composer.note(REWOUND_NOTE, event.at))
    }

    fn message(&mut self, message: &AgentMessage, uuids: Vec<String>) -> io::Result<()> {
        self.compose(uuids, |composer| composer.message(message))
    }

    /// A compaction that hides messages ends the conversation before it.
    fn compaction(&mut self, event: &Event) -> io::Result<()> {
        let AgentEvent::Context(ContextEvent::CompactionEnd {
            tokens_before,
            tokens_after,
            summary,
            cuts,
            messages_dropped,
            ..
        }) = &event.kind
        else {
            return Ok(());
        };
        // Old logs have no cuts.
        let is_old = cuts.is_empty() && *messages_dropped > 0;
        if !self.entries.compacted(cuts) && !is_old {
            return Ok(());
        }
        let preserved = if self.is_whole && !is_old { self.entries.preserved() } else { Vec::new() };
        let compaction = Compaction {
            trigger: self.trigger,
            tokens_before: *tokens_before,
            tokens_after: *tokens_after,
            summary: summary.as_deref(),
            preserved,
            at: event.at,
        };
        let uuids = (0..2).map(|nth| entry_id(&event.session_id, event.seq, nth)).collect();
        self.compose(uuids, |composer| composer.compaction(&compaction))
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
    fn select_branch(&mut self, selected: &RunId, event: &Event) -> io::Result<()> {
        let Some(selected) = self.branches.remove(selected) else { return Ok(()) };
        self.position = selected;
        self.branches.clear();
        let uuids = vec![entry_id(&event.session_id, event.seq, 0)];
        self.compose(uuids, |composer| composer.note(SELECTED_NOTE, event.at))
    }

    /// A rerun is attached to the last user message.
    fn return_to_last_prompt(&mut self) -> io::Result<()> {
        if self.position.tip.is_none() {
            return Ok(());
        }
        if self.is_whole {
            // The conversation ends with that message now.
            self.branch_from(self.entries.tip().cloned());
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
        self.position = Position { tip: uuid, ..Position::default() };
    }

    fn read(&self) -> io::Result<Transcript> {
        Transcript::open(&self.path).map_err(|error| match error {
            TranscriptError::Open { source, .. } | TranscriptError::Read { source, .. } => source,
        })
    }

    /// Composes lines and writes them. The position changes only after all are written, so that nothing is attached
    /// to half an answer.
    fn compose(&mut self, uuids: Vec<String>, compose: impl FnOnce(&mut Composer<'_>)) -> io::Result<()> {
        let envelope = self.envelope.clone();
        let last = uuids.last().cloned();
        let is_known = |replay: &Replay| uuids.iter().all(|uuid| replay.known.contains_key(uuid));
        let is_written = self.replay.as_ref().is_some_and(|replay| last.is_some() && is_known(replay));
        let mut composer = Composer::new(&envelope, uuids, self.position.clone());
        compose(&mut composer);
        let Composer { mut position, lines, .. } = composer;
        match &mut self.replay {
            // Another program may have split the message into other entries.
            Some(replay) if is_written => {
                replay.pending.clear();
                position.tip = last;
            }
            Some(replay) => lines.into_iter().for_each(|line| replay.add(line)),
            None => lines.iter().try_for_each(|line| self.write_line(line))?,
        }
        self.position = position;
        Ok(())
    }

    fn write_line(&mut self, line: &Value) -> io::Result<()> {
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

impl Replay {
    /// Takes the next line. Lines before one that the file has are not written any more: as the last lines of the file they
    /// would be where the conversation ends.
    fn add(&mut self, line: Value) {
        let uuid = text(&line, "uuid").unwrap_or_default();
        self.ours.insert(uuid.to_owned());
        if self.known.contains_key(uuid) {
            self.pending.clear();
        } else {
            self.pending.push(line);
        }
    }
}

/// Passes the entries of a file to `add`, each with who wrote it. Returns whether the file ends with an incomplete line.
fn scan_entries(path: &Path, add: &mut dyn FnMut(String, EntryWriter)) -> io::Result<bool> {
    #[derive(serde::Deserialize)]
    struct Head {
        uuid: String,
        #[serde(default)]
        entrypoint: Option<String>,
        #[serde(default, rename = "forkedFrom")]
        forked_from: Option<serde::de::IgnoredAny>,
    }
    let mut reader = BufReader::with_capacity(256 * 1024, File::open(path)?);
    let mut line = Vec::new();
    let mut is_torn = false;
    loop {
        line.clear();
        if reader.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line)? == 0 {
            return Ok(is_torn);
        }
        is_torn = line.last() != Some(&b'\n');
        let Ok(head) = serde_json::from_slice::<Head>(&line) else { continue };
        let writer = match (head.entrypoint.as_deref(), head.forked_from) {
            (Some(ENTRYPOINT), None) if is_derived(&head.uuid) => EntryWriter::Rheon,
            (Some(ENTRYPOINT), None) => EntryWriter::OldRheon,
            (Some(_) | None, _) => EntryWriter::Other,
        };
        add(head.uuid, writer);
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
