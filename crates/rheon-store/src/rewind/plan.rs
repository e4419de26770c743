//! `RewindPlan`: what a rewind would do, before anything is done.

use std::path::{Path, PathBuf};

use rheon_types::{AgentMessage, Message, ToolName};

use super::error::RewindError;
use super::history::{FilesAt, RewindHistory};
use super::point::{said, shortened};
use crate::checkpoint::{ChangeKind, Checkpoints, PathChange, RestorePlan, RestoreSelection};
use crate::session_name::SessionName;
use crate::sessions::SessionFiles;

/// Where to rewind to. Messages are named by the event that ended them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewindTo {
    /// Before something that the user said, which can then be said again, or something else.
    Before(u64),
    /// After any message.
    After(u64),
}

/// What to rewind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreScope {
    /// The conversation alone: the files stay as they are.
    Conversation,
    /// The files alone: the conversation goes on as it is.
    Files,
    /// Both, or neither if one of them fails.
    Both,
}

/// What a rewind would do.
#[derive(Debug, Clone)]
pub struct RewindPlan {
    /// The session.
    pub name: SessionName,
    /// The last event that stays.
    pub seq: u64,
    /// What becomes of the conversation, if that is wanted.
    pub conversation: Option<ConversationPlan>,
    /// What becomes of the files, if that is wanted.
    pub files: Option<FilesPlan>,
    /// The sessions that it goes on from, and itself.
    pub(super) family: Vec<SessionName>,
}

/// What becomes of a conversation. The session stays as it is; another goes on without these messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationPlan {
    /// How many messages go.
    pub count: usize,
    /// The first of them.
    pub gone: Vec<RemovedMessage>,
    /// What the user said there, whole, to be offered again.
    pub prompt: Option<String>,
}

/// A message that goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedMessage {
    /// The event that ended it.
    pub seq: u64,
    /// Who said it.
    pub speaker: Speaker,
    /// The beginning of it, on one line.
    pub text: String,
}

/// Who said a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The user, or somebody in the user's name.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// The program, not to the model.
    App,
}

/// What becomes of the files.
#[derive(Debug, Clone, Default)]
pub struct FilesPlan {
    /// What is restored; nothing if the session changed nothing after that point.
    pub restore: Option<RestorePlan>,
    /// How many files, links and folders come back that are not there.
    pub created: usize,
    /// How many get the content, the mode or the kind that they had.
    pub modified: usize,
    /// How many go that were not there.
    pub removed: usize,
    /// The first of all these.
    pub changes: Vec<PathChange>,
    /// How many of them somebody else changed after the session's last call: the user, or another session.
    pub conflicts_count: usize,
    /// The first of these.
    pub others: Vec<PathBuf>,
    /// Tools that ran after that point before anything was captured. What they changed stays as it is.
    pub unguarded: Vec<ToolName>,
}

/// How many messages and files are named. All are counted.
const SHOWN_MAX: usize = 200;

/// What rewinding `what` of a session would do. Nothing is touched. To be asked between runs: what a run does meanwhile, it
/// does to the files as they will be.
pub fn plan_rewind(
    sessions: &SessionFiles,
    checkpoints: &Checkpoints,
    name: &SessionName,
    to: RewindTo,
    scope: RestoreScope,
) -> Result<RewindPlan, RewindError> {
    let history = RewindHistory::read(sessions, name)?;
    let (seq, prompt) = cut(&history, name, to)?;
    let mut family: Vec<_> = history.sessions().filter_map(|id| SessionName::try_from(id).ok()).collect();
    family.push(name.clone());
    let (conversation, files) = match scope {
        RestoreScope::Conversation => (Some(conversation(&history, seq, prompt)), None),
        RestoreScope::Files => (None, Some(files(&history, checkpoints, &family, seq)?)),
        RestoreScope::Both => {
            (Some(conversation(&history, seq, prompt)), Some(files(&history, checkpoints, &family, seq)?))
        }
    };
    Ok(RewindPlan { name: name.clone(), seq, conversation, files, family })
}

/// The last event that stays, and what the user may say again.
fn cut(
    history: &RewindHistory,
    name: &SessionName,
    to: RewindTo,
) -> Result<(u64, Option<String>), RewindError> {
    let seq = match to {
        RewindTo::Before(seq) | RewindTo::After(seq) => seq,
    };
    let found = history.state.numbered_messages().find(|(found, _)| *found == seq);
    let missing = || RewindError::NoSuchMessage { name: name.clone(), seq };
    let (_, message) = found.ok_or_else(missing)?;
    let place = history.place(seq).ok_or_else(missing)?;
    match to {
        RewindTo::After(_) => Ok((place.after, None)),
        RewindTo::Before(_) => match said(message) {
            Some((prompt, _)) => Ok((place.before, Some(prompt))),
            None => Err(RewindError::NotAPrompt { name: name.clone(), seq }),
        },
    }
}

fn conversation(history: &RewindHistory, cut: u64, prompt: Option<String>) -> ConversationPlan {
    let gone = || history.state.numbered_messages().filter(|(seq, _)| *seq > cut);
    let shown = gone().take(SHOWN_MAX).map(|(seq, message)| shown(seq, message));
    ConversationPlan { count: gone().count(), gone: shown.collect(), prompt }
}

fn shown(seq: u64, message: &AgentMessage) -> RemovedMessage {
    let (speaker, text) = match message.as_llm() {
        Some(said @ Message::User(_)) => (Speaker::User, said.text()),
        Some(said @ Message::Assistant(_)) => (Speaker::Assistant, said.text()),
        Some(said @ Message::ToolResult(_)) => (Speaker::Tool, said.text()),
        None => (Speaker::App, String::new()),
    };
    RemovedMessage { seq, speaker, text: shortened(&text) }
}

fn files(
    history: &RewindHistory,
    checkpoints: &Checkpoints,
    family: &[SessionName],
    cut: u64,
) -> Result<FilesPlan, RewindError> {
    let unguarded = history.unguarded(cut);
    let id = match history.kept(cut, &checkpoints.list()?) {
        FilesAt::Unchanged => return Ok(FilesPlan { unguarded, ..FilesPlan::default() }),
        FilesAt::Saved(id) => id,
        FilesAt::Pruned(id) => return Err(RewindError::Lost { id }),
    };
    let restore = checkpoints.plan_restore(&id, RestoreSelection::All)?;
    let others = checkpoints.changed_by_others(family, restore.overwritten());
    let mut plan = FilesPlan {
        conflicts_count: others.len(),
        others: others.into_iter().take(SHOWN_MAX).map(Path::to_owned).collect(),
        unguarded,
        ..FilesPlan::default()
    };
    for change in restore.changes() {
        match change.kind {
            ChangeKind::Added => plan.created += 1,
            ChangeKind::Removed => plan.removed += 1,
            ChangeKind::Modified | ChangeKind::Mode | ChangeKind::Kind | ChangeKind::Skipped => {
                plan.modified += 1;
            }
        }
        if plan.changes.len() < SHOWN_MAX {
            plan.changes.push(change);
        }
    }
    plan.restore = Some(restore);
    Ok(plan)
}
