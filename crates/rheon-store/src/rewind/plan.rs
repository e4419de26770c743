//! `RewindPlan`: what a rewind would do.

use std::path::{Path, PathBuf};

use rheon_types::{AgentMessage, Message, ToolName};

use super::error::RewindError;
use super::history::{FilesAt, RewindHistory};
use super::point::{shortened, user_message};
use crate::checkpoint::{ChangeKind, Checkpoints, PathChange, RestorePlan, RestoreSelection};
use crate::session_name::SessionName;
use crate::sessions::SessionFiles;

/// The message to rewind to, named by the event that ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewindTo {
    /// Before a user message, which can then be edited and sent again.
    Before(u64),
    /// After any message.
    After(u64),
}

/// What to rewind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreScope {
    Conversation,
    Files,
    /// Both, or neither if one of them fails.
    Both,
}

/// What a rewind would do.
#[derive(Debug, Clone)]
pub struct RewindPlan {
    pub name: SessionName,
    /// The last event to keep.
    pub seq: u64,
    pub conversation: Option<ConversationPlan>,
    pub files: Option<FilesPlan>,
    /// The session and its ancestors.
    pub(super) lineage: Vec<SessionName>,
}

/// The messages that a rewind removes. The session stays unchanged; a new one continues without these messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationPlan {
    pub count: usize,
    /// The first of the removed messages.
    pub removed: Vec<RemovedMessage>,
    /// The full text of the user message, so that it can be sent again.
    pub prompt: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedMessage {
    pub seq: u64,
    pub speaker: Speaker,
    /// The start of the message, on one line.
    pub text: String,
}

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The user, or the runtime on the user's behalf.
    User,
    Assistant,
    Tool,
    /// An app message that the model does not see.
    App,
}

/// What a rewind does to the files.
#[derive(Debug, Clone, Default)]
pub struct FilesPlan {
    /// `None` if the session changed no files after that point.
    pub restore: Option<RestorePlan>,
    /// How many files, links and directories are created.
    pub created: usize,
    /// How many get their old content, mode or kind back.
    pub modified: usize,
    /// How many are removed.
    pub removed: usize,
    /// The first of these changes.
    pub changes: Vec<PathChange>,
    /// How many of them the user or another session changed after the session's last call.
    pub conflicts_count: usize,
    /// The first of these conflicts.
    pub others: Vec<PathBuf>,
    /// Tools that ran after that point and before a checkpoint. Their changes stay.
    pub unguarded: Vec<ToolName>,
}

/// How many messages and files are listed. All are counted.
const SHOWN_MAX: usize = 200;

/// Plans a rewind without changing anything. Call it between runs: an active run would keep changing files.
pub fn plan_rewind(
    sessions: &SessionFiles,
    checkpoints: &Checkpoints,
    name: &SessionName,
    to: RewindTo,
    scope: RestoreScope,
) -> Result<RewindPlan, RewindError> {
    let history = RewindHistory::read(sessions, name)?;
    let (seq, prompt) = cut(&history, name, to)?;
    let mut lineage: Vec<_> = history.sessions().filter_map(|id| SessionName::try_from(id).ok()).collect();
    lineage.push(name.clone());
    let (conversation, files) = match scope {
        RestoreScope::Conversation => (Some(conversation(&history, seq, prompt)), None),
        RestoreScope::Files => (None, Some(files(&history, checkpoints, &lineage, seq)?)),
        RestoreScope::Both => {
            (Some(conversation(&history, seq, prompt)), Some(files(&history, checkpoints, &lineage, seq)?))
        }
    };
    Ok(RewindPlan { name: name.clone(), seq, conversation, files, lineage })
}

/// The last event to keep, and the prompt to send again.
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
    let cut_points = history.cut_points(seq).ok_or_else(missing)?;
    match to {
        RewindTo::After(_) => Ok((cut_points.after, None)),
        RewindTo::Before(_) => match user_message(message) {
            Some((prompt, _)) => Ok((cut_points.before, Some(prompt))),
            None => Err(RewindError::NotAPrompt { name: name.clone(), seq }),
        },
    }
}

fn conversation(history: &RewindHistory, cut: u64, prompt: Option<String>) -> ConversationPlan {
    let removed = || history.state.numbered_messages().filter(|(seq, _)| *seq > cut);
    let first = removed().take(SHOWN_MAX).map(|(seq, message)| removed_message(seq, message));
    ConversationPlan { count: removed().count(), removed: first.collect(), prompt }
}

fn removed_message(seq: u64, message: &AgentMessage) -> RemovedMessage {
    let (speaker, text) = match message.as_llm() {
        Some(message @ Message::User(_)) => (Speaker::User, message.text()),
        Some(message @ Message::Assistant(_)) => (Speaker::Assistant, message.text()),
        Some(message @ Message::ToolResult(_)) => (Speaker::Tool, message.text()),
        None => (Speaker::App, String::new()),
    };
    RemovedMessage { seq, speaker, text: shortened(&text) }
}

fn files(
    history: &RewindHistory,
    checkpoints: &Checkpoints,
    lineage: &[SessionName],
    cut: u64,
) -> Result<FilesPlan, RewindError> {
    let unguarded = history.unguarded(cut);
    let id = match history.files_at(cut, &checkpoints.list()?) {
        FilesAt::Unchanged => return Ok(FilesPlan { unguarded, ..FilesPlan::default() }),
        FilesAt::Saved(id) => id,
        FilesAt::Pruned(id) => return Err(RewindError::Lost { id }),
    };
    let restore = checkpoints.plan_restore(&id, RestoreSelection::All)?;
    let others = checkpoints.changed_by_others(lineage, restore.overwritten());
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
