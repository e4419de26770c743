//! `Folders`: where a command line begins, and what the model is told where that is not what it expects.

use std::path::{Path, PathBuf};

use rheon_types::ToolError;

use rheon_policy::{DisplayPath, ShellDirectory, Workspace};

/// Where command lines of a session begin.
pub(super) struct Folders {
    workspace: Workspace,
    next: ShellDirectory,
}

impl Folders {
    /// Begins in the root of the workspace.
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { next: ShellDirectory::new(workspace.root()), workspace }
    }

    /// Where the next command begins.
    pub(super) fn next(&self) -> &ShellDirectory {
        &self.next
    }

    /// Where a command begins now, and a note if that is not where the last one ended. Refused if it was judged for another
    /// folder.
    pub(super) fn begin(&self, judged: Option<&Path>) -> Result<(PathBuf, Option<String>), ToolError> {
        let now = self.next.current();
        if let Some(then) = judged.filter(|then| *then != now) {
            return Err(ToolError::Denied(format!(
                "not run: the folder changed from {} to {} since this command was checked; call it again",
                shown(then),
                shown(&now)
            )));
        }
        let gone = self.next.enter(now.clone());
        let note =
            (gone != now).then(|| format!("{} is gone; the command began in {}", shown(&gone), shown(&now)));
        Ok((now, note))
    }

    /// Keeps the folder for the next line if it is in the workspace; else the root, and a note.
    pub(super) fn carry(&self, ended_in: Option<&Path>) -> Option<String> {
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
                Some(format!("{left} is outside the workspace; the next command begins in {root}"))
            }
        }
    }
}

fn shown(path: &Path) -> DisplayPath<'_> {
    DisplayPath(path.as_os_str())
}

#[cfg(test)]
#[path = "folders_tests.rs"]
mod tests;
