//! What changed in the workspace since a session began, or since its last prompt.

use std::path::PathBuf;

use super::error::RewindError;
use super::history::{FilesAt, RewindHistory};
use super::point::user_message;
use crate::checkpoint::{Checkpoints, DiffTarget, TextChange};
use crate::session_name::SessionName;
use crate::sessions::SessionFiles;

/// A file that changed, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Relative to the workspace.
    pub path: PathBuf,
    pub diff: TextChange,
}

/// Since when changes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesSince {
    FirstPrompt,
    LastPrompt,
}

/// The files that differ from how they were before a prompt. Empty if the session has changed nothing since.
pub fn changes(
    sessions: &SessionFiles,
    checkpoints: &Checkpoints,
    name: &SessionName,
    since: ChangesSince,
) -> Result<Vec<ChangedFile>, RewindError> {
    let history = RewindHistory::read(sessions, name)?;
    let mut prompts =
        history.state.numbered_messages().filter(|(_, message)| user_message(message).is_some());
    let prompt = match since {
        ChangesSince::FirstPrompt => prompts.next(),
        ChangesSince::LastPrompt => prompts.last(),
    };
    let Some(cut) = prompt.and_then(|(seq, _)| history.cut_points(seq)) else { return Ok(Vec::new()) };
    let id = match history.files_at(cut.before, &checkpoints.list()?) {
        FilesAt::Unchanged => return Ok(Vec::new()),
        FilesAt::Pruned(id) => return Err(RewindError::Lost { id }),
        FilesAt::Saved(id) => id,
    };
    let changed = checkpoints.changed_since(&id)?.into_iter().map(|change| {
        let diff = checkpoints.diff_text(&id, &DiffTarget::WorkingTree, &change.path)?;
        Ok(ChangedFile { path: change.path, diff })
    });
    changed.collect()
}
