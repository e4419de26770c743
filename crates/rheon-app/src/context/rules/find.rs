//! Which files hold rules: `AGENTS.md` and its kin, from the root of the repository down to the working folder.

use std::path::{Path, PathBuf};

/// Where to look for rules. Nothing here is read from the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RulePaths {
    /// The folder that the agent works in.
    pub working_folder: PathBuf,
    /// The folders of the user in which an `AGENTS.md` may lie, the most general first: `~/.config`, `~/.config/rheon`.
    pub user_folders: Vec<PathBuf>,
    /// The user's own folder, in which the user's rules and their imports may lie; `~` in their imports.
    pub home: Option<PathBuf>,
}

/// What marks the root of a repository.
const ROOT_MARK: &str = ".git";
/// The names of files with rules: in each folder the first that can be read counts.
const NAMES: [&str; 4] = ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"];
/// Files in the user's Rheon directories, which other programs do not share.
const USER_NAMES: [&str; 2] = ["AGENTS.override.md", "AGENTS.md"];
/// How many directories are searched, nearest first.
pub(super) const FOLDERS_MAX: usize = 64;

/// The folders of a project that may have rules, the nearest first.
pub(super) struct ProjectFolders {
    /// The root of the project; nothing outside it is read.
    pub(super) root: PathBuf,
    pub(super) nearest_first: Vec<PathBuf>,
    /// Whether some directories were not searched.
    pub(super) is_cut: bool,
}

/// The root of the repository that the canonical `working_folder` is in; outside of one, the folder itself.
pub fn project_root(working_folder: &Path) -> PathBuf {
    let has_mark = |folder: &&Path| folder.join(ROOT_MARK).symlink_metadata().is_ok();
    working_folder.ancestors().find(has_mark).unwrap_or(working_folder).to_owned()
}

/// The folders from the canonical `working_folder` up to the root of its repository; outside of one, only the folder itself.
pub(super) fn project_folders(working_folder: &Path) -> ProjectFolders {
    let root = project_root(working_folder);
    let beneath = working_folder.ancestors().take_while(|folder| folder.starts_with(&root));
    let mut nearest_first: Vec<PathBuf> = beneath.take(FOLDERS_MAX + 1).map(Path::to_owned).collect();
    let is_cut = nearest_first.len() > FOLDERS_MAX;
    nearest_first.truncate(FOLDERS_MAX);
    ProjectFolders { root, nearest_first, is_cut }
}

/// The files of a project's folder that may hold its rules, the one that counts first. A link that leads nowhere is there too.
pub(super) fn candidates(folder: &Path) -> Vec<PathBuf> {
    there(folder, &NAMES)
}

/// The same for a folder of the user.
pub(super) fn user_candidates(folder: &Path) -> Vec<PathBuf> {
    there(folder, &USER_NAMES)
}

fn there(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
    let paths = names.iter().map(|name| folder.join(name));
    paths.filter(|path| path.symlink_metadata().is_ok()).collect()
}
