//! Which files hold rules: `AGENTS.md` and its kin, from the root of the repository down to the working directory.

use std::path::{Path, PathBuf};

/// Where to look for rules. Nothing here is read from the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RulePaths {
    /// The directory that the agent works in.
    pub working_dir: PathBuf,
    /// The directories of the user in which an `AGENTS.md` may lie, the most general first: `~/.config`, `~/.config/rheon`.
    pub user_dirs: Vec<PathBuf>,
    /// The user's own directory, in which the user's rules and their imports may lie; `~` in their imports.
    pub home: Option<PathBuf>,
}

/// What marks the root of a repository.
const ROOT_MARK: &str = ".git";
/// The names of files with rules: in each directory the first that can be read counts.
const NAMES: [&str; 4] = ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"];
/// Files in the user's Rheon directories, which other programs do not share.
const USER_NAMES: [&str; 2] = ["AGENTS.override.md", "AGENTS.md"];
/// How many directories are searched, nearest first.
pub(super) const DIRS_MAX: usize = 64;

/// The directories of a project that may have rules, the nearest first.
pub(super) struct ProjectDirs {
    /// The root of the project; nothing outside it is read.
    pub(super) root: PathBuf,
    pub(super) nearest_first: Vec<PathBuf>,
    /// Whether some directories were not searched.
    pub(super) is_cut: bool,
}

/// The root of the repository that the canonical `working_dir` is in; outside of one, the directory itself.
pub fn project_root(working_dir: &Path) -> PathBuf {
    let has_mark = |dir: &&Path| dir.join(ROOT_MARK).symlink_metadata().is_ok();
    working_dir.ancestors().find(has_mark).unwrap_or(working_dir).to_owned()
}

/// The directories from the canonical `working_dir` up to the root of its repository; outside of one, only the directory itself.
pub(super) fn project_dirs(working_dir: &Path) -> ProjectDirs {
    let root = project_root(working_dir);
    let beneath = working_dir.ancestors().take_while(|dir| dir.starts_with(&root));
    let mut nearest_first: Vec<PathBuf> = beneath.take(DIRS_MAX + 1).map(Path::to_owned).collect();
    let is_cut = nearest_first.len() > DIRS_MAX;
    nearest_first.truncate(DIRS_MAX);
    ProjectDirs { root, nearest_first, is_cut }
}

/// The files of a project's directory that may hold its rules, the one that counts first. A link that leads nowhere is there too.
pub(super) fn candidates(dir: &Path) -> Vec<PathBuf> {
    there(dir, &NAMES)
}

/// The same for a directory of the user.
pub(super) fn user_candidates(dir: &Path) -> Vec<PathBuf> {
    there(dir, &USER_NAMES)
}

fn there(dir: &Path, names: &[&str]) -> Vec<PathBuf> {
    let paths = names.iter().map(|name| dir.join(name));
    paths.filter(|path| path.symlink_metadata().is_ok()).collect()
}
