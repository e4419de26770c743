//! `WorkingDir`: the directory in which commands of a session start.

use std::path::{Path, PathBuf};

use rheon_types::ToolError;

use rheon_policy::{DisplayPath, ShellDirectory, Workspace};

/// The directory in which commands of a session start.
pub(super) struct WorkingDir {
    workspace: Workspace,
    next: ShellDirectory,
}

impl WorkingDir {
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { next: ShellDirectory::new(workspace.root()), workspace }
    }

    pub(super) fn next(&self) -> &ShellDirectory {
        &self.next
    }

    /// The directory in which a command starts, and a note if it is not where the last one ended. Denied if the gate
    /// checked the command for another directory.
    pub(super) fn start(&self, checked: Option<&Path>) -> Result<(PathBuf, Option<String>), ToolError> {
        let now = self.next.current();
        if let Some(then) = checked.filter(|then| *then != now) {
            return Err(ToolError::Denied(format!(
                "not run: the working directory changed from {} to {} since this command was checked; call it again",
                shown(then),
                shown(&now)
            )));
        }
        let removed = self.next.enter(now.clone());
        let note = (removed != now)
            .then(|| format!("{} no longer exists; the command started in {}", shown(&removed), shown(&now)));
        Ok((now, note))
    }

    /// Keeps the directory for the next command if it is in the workspace. Otherwise returns to the root, with a note.
    pub(super) fn finish_in(&self, ended_in: Option<&Path>) -> Option<String> {
        let ended_in = ended_in?;
        let resolved = self.workspace.resolve_path(ended_in).ok();
        match resolved.filter(|resolved| resolved.inside && resolved.path.is_dir()) {
            Some(resolved) => {
                self.next.enter(resolved.path);
                None
            }
            None => {
                let root = self.workspace.root();
                self.next.enter(root.to_path_buf());
                let (left, root) = (shown(ended_in), shown(root));
                Some(format!("{left} is outside the workspace; the next command starts in {root}"))
            }
        }
    }
}

fn shown(path: &Path) -> DisplayPath<'_> {
    DisplayPath(path.as_os_str())
}

#[cfg(test)]
#[path = "working_dir_tests.rs"]
mod tests;
