//! `Folders`: where the next command line of a session begins, and where each call was judged to begin.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rheon_types::{ToolCallId, ToolError};

use rheon_policy::{Shown, Workspace};

/// Where the next command line begins, and where each call was judged to begin.
pub(super) struct Folders {
    workspace: Workspace,
    state: Mutex<State>,
}

struct State {
    /// Where the last command ended; it may be gone by now.
    last: PathBuf,
    judged: VecDeque<(ToolCallId, PathBuf)>,
}

/// Calls that were judged and have not run yet; the oldest is forgotten first.
const JUDGED_MAX: usize = 256;

impl Folders {
    /// Begins in the root of the workspace.
    pub(super) fn new(workspace: Workspace) -> Self {
        let last = workspace.root().to_path_buf();
        Self { workspace, state: Mutex::new(State { last, judged: VecDeque::new() }) }
    }

    /// Where the next command begins.
    pub(super) fn next(&self) -> PathBuf {
        self.next_of(&self.state())
    }

    /// Where the next command begins, remembered as what this call is judged for.
    pub(super) fn judged(&self, call_id: &ToolCallId) -> PathBuf {
        let mut state = self.state();
        let folder = self.next_of(&state);
        state.judged.retain(|(id, _)| id != call_id);
        state.judged.push_back((call_id.clone(), folder.clone()));
        if state.judged.len() > JUDGED_MAX {
            state.judged.pop_front();
        }
        folder
    }

    /// Where this call begins, and a note if that is not where the last one ended. Refused if it was judged for another
    /// folder.
    pub(super) fn begin(&self, call_id: &ToolCallId) -> Result<(PathBuf, Option<String>), ToolError> {
        let mut state = self.state();
        let now = self.next_of(&state);
        let place = state.judged.iter().position(|(id, _)| id == call_id);
        if let Some((_, then)) = place.and_then(|place| state.judged.remove(place))
            && then != now
        {
            return Err(ToolError::Denied(format!(
                "not run: the folder changed from {} to {} since this command was checked; call it again",
                shown(&then),
                shown(&now)
            )));
        }
        let gone = std::mem::replace(&mut state.last, now.clone());
        let note =
            (gone != now).then(|| format!("{} is gone; the command began in {}", shown(&gone), shown(&now)));
        Ok((now, note))
    }

    /// Keeps the folder for the next line if it is in the workspace; else the root, and a note.
    pub(super) fn carry(&self, ended_in: Option<&Path>) -> Option<String> {
        let ended_in = ended_in?;
        let resolved = self.workspace.resolve_path(ended_in).ok();
        let mut state = self.state();
        match resolved.filter(|resolved| resolved.inside && resolved.path.is_dir()) {
            Some(resolved) => {
                state.last = resolved.path;
                None
            }
            None => {
                let root = self.workspace.root();
                state.last = root.to_path_buf();
                let (left, root) = (shown(ended_in), shown(root));
                Some(format!("{left} is outside the workspace; the next command begins in {root}"))
            }
        }
    }

    /// Where the last one ended; the root if that is gone, or if a link was put in its place.
    fn next_of(&self, state: &State) -> PathBuf {
        let is_there = state.last.is_dir() && state.last.canonicalize().is_ok_and(|real| real == state.last);
        if is_there { state.last.clone() } else { self.workspace.root().to_path_buf() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn shown(path: &Path) -> Shown<'_> {
    Shown(path.as_os_str())
}

#[cfg(test)]
#[path = "folders_tests.rs"]
mod tests;
