//! `OpenRepository`: a repository that a git command may change, except for its protected parts.
//!
//! Hooks and filters run as part of the command, so any program can do what git does. Whatever would make git run
//! programs outside the sandbox, or read its settings from elsewhere, is mounted read-only; what appears where nothing was
//! goes to the quarantine when the command ends. Every directory above such a mount is a mount too, because otherwise it could be moved away with its
//! content. What cannot be a mount, because git replaces it, is restored when the command ends.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::boundary::Boundary;
use crate::names::NameWatch;
use crate::process::PathView;

/// The protected parts: settings, where git looks for them, and programs, including those of submodules and other
/// worktrees.
const SHUT: [&str; 10] = [
    "config",
    "config.worktree",
    "commondir",
    "hooks",
    "info",
    "modules",
    "worktrees",
    "branches",
    "remotes",
    "objects/info",
];

/// Those that are files.
const SHUT_FILES: [&str; 3] = ["config", "config.worktree", "commondir"];

/// Mounted writable: the repository, and the directories without which git would not recognize it.
const OPEN: [&str; 3] = ["", "objects", "refs"];

/// Entries to search for symlinks. A larger repository stays read-only.
const ENTRIES_MAX: usize = 100_000;

const SMALL_BYTES_MAX: u64 = 1024 * 1024;

/// Where an interrupted rebase keeps its remaining steps.
const REBASE_STEPS: &str = "rebase-merge/git-rebase-todo";

#[derive(Debug)]
pub(super) struct OpenRepository {
    dir: PathBuf,
    /// `HEAD` before the command.
    head: Vec<u8>,
    /// The programs that an interrupted rebase was already going to run.
    rebase_programs: Vec<String>,
    /// The protected parts that do not exist.
    missing: Vec<PathBuf>,
}

/// Opens the repositories of the workspace. The error says why none can be opened.
pub(super) fn open_all(boundary: &Boundary) -> Result<Vec<OpenRepository>, String> {
    let mut opened = Vec::new();
    let mut problem = "commands can change no directory of the workspace".to_owned();
    for root in boundary.roots().iter().rev() {
        let dir = root.join(".git");
        if boundary.forbids_writing(&dir) {
            problem = format!("a rule denies changes to {}", dir.display());
            continue;
        }
        match OpenRepository::open(&dir) {
            Ok(repository) => opened.push(repository),
            Err(why) => problem = why,
        }
    }
    if opened.is_empty() { Err(problem) } else { Ok(opened) }
}

impl OpenRepository {
    fn open(dir: &Path) -> Result<Self, String> {
        let shown = dir.display();
        match PathKind::at(dir) {
            PathKind::Directory => {}
            PathKind::Nothing => return Err(no_repository(dir)),
            PathKind::File => {
                return Err(format!(
                    "{shown} points to a repository elsewhere (this is a linked worktree or a submodule), which is read-only"
                ));
            }
            PathKind::Other => return Err(format!("{shown} is a symlink")),
        }
        if OPEN.iter().any(|name| PathKind::at(&dir.join(name)) != PathKind::Directory) {
            return Err(format!("{shown} is not a repository"));
        }
        let head = small(&dir.join("HEAD")).filter(|head| is_head(head));
        let head = head.ok_or_else(|| format!("{shown} has no valid HEAD"))?;
        let mut missing = Vec::new();
        for name in SHUT {
            let path = dir.join(name);
            match (PathKind::at(&path), SHUT_FILES.contains(&name)) {
                (PathKind::File, true) if name != "commondir" => {}
                (PathKind::Directory, false) => {}
                (PathKind::Nothing, _) if name != "config" => missing.push(path),
                _ => return Err(format!("{} is not of the type that git creates", path.display())),
            }
        }
        for name in ["config", "config.worktree"] {
            let settings = small(&dir.join(name)).unwrap_or_default();
            if leads_into_repository(&String::from_utf8_lossy(&settings)) {
                return Err(format!(
                    "its settings ({shown}/{name}) name files that git commands could change"
                ));
            }
        }
        match links(dir, ENTRIES_MAX) {
            Some(links) if links.is_empty() => {}
            Some(_) => return Err(format!("{shown} contains symlinks")),
            None => return Err(format!("{shown} has too many files to check")),
        }
        let rebase_programs = programs(&small(&dir.join(REBASE_STEPS)).unwrap_or_default());
        Ok(Self { dir: dir.to_path_buf(), head, rebase_programs, missing })
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The protected parts that do not exist.
    pub(super) fn missing(&self) -> &[PathBuf] {
        &self.missing
    }

    /// The mounts for the command.
    pub(super) fn places(&self) -> impl Iterator<Item = (PathBuf, PathView)> {
        let path = |name: &str| if name.is_empty() { self.dir.clone() } else { self.dir.join(name) };
        let open = OPEN.map(|name| (path(name), PathView::Writable(path(name))));
        open.into_iter().chain(SHUT.map(|name| (path(name), PathView::Guarded)))
    }

    /// Restores what could not be mounted read-only, after the command. Without a valid `HEAD` git would look for
    /// another repository, through a symlink it would write elsewhere, and a continued rebase runs the programs in its
    /// steps. Protected parts that did not exist are put aside.
    pub(super) fn settle(self, watch: &NameWatch) {
        let head = self.dir.join("HEAD");
        if !small(&head).is_some_and(|head| is_head(&head)) {
            replace(&head, &self.head);
        }
        for link in links(&self.dir, ENTRIES_MAX).unwrap_or_default() {
            drop(fs::remove_file(link));
        }
        let steps = self.dir.join(REBASE_STEPS);
        let text = small(&steps).unwrap_or_default();
        if programs(&text).iter().any(|program| !self.rebase_programs.contains(program)) {
            let text = String::from_utf8_lossy(&text);
            let harmless = text.lines().map(|line| match is_program(line) {
                true if !self.rebase_programs.iter().any(|known| known == line) => format!("# {line}\n"),
                true | false => format!("{line}\n"),
            });
            replace(&steps, harmless.collect::<String>().as_bytes());
        }
        for path in self.missing.iter().filter(|path| path.symlink_metadata().is_ok()) {
            watch.remove(path);
        }
    }
}

fn no_repository(dir: &Path) -> String {
    format!(
        "there is no {}; a repository further up is outside the workspace; `git init` creates a new one",
        dir.display()
    )
}

/// What exists at a path, without following symlinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathKind {
    Nothing,
    File,
    Directory,
    Other,
}

impl PathKind {
    fn at(path: &Path) -> Self {
        match path.symlink_metadata() {
            Ok(found) if found.is_file() => Self::File,
            Ok(found) if found.is_dir() => Self::Directory,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::Nothing,
            Ok(_) | Err(_) => Self::Other,
        }
    }
}

/// Reads a small file that is not a symlink.
fn small(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let is_file = PathKind::at(path) == PathKind::File;
    let file = fs::File::open(path).ok().filter(|_| is_file)?;
    file.take(SMALL_BYTES_MAX).read_to_end(&mut bytes).ok().map(|_| bytes)
}

/// Whether git accepts this as `HEAD`: the name of a branch or commit.
fn is_head(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let text = text.trim_end();
    text.strip_prefix("ref:").is_some_and(|name| name.trim_start().starts_with("refs/"))
        || (matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether settings include files by a path relative to the repository, or name files in it as programs or hooks. Those
/// in `hooks` are protected anyway.
fn leads_into_repository(settings: &str) -> bool {
    let settings = settings.to_ascii_lowercase();
    let includes = settings.contains("[include");
    let is_relative = |line: &str| {
        let setting = line.rsplit_once(']').map_or(line, |(_, after)| after);
        let value = setting.trim().strip_prefix("path").and_then(|rest| rest.trim_start().strip_prefix('='));
        value.is_some_and(|value| !value.trim_start_matches([' ', '\t', '"']).starts_with(['/', '~']))
    };
    let is_inside = settings.match_indices(".git/").any(|(at, found)| {
        let before = settings.get(..at).and_then(|text| text.chars().next_back()).unwrap_or(' ');
        let after = settings.get(at + found.len()..).unwrap_or_default();
        // The URL of another repository has the same ending: `https://example.com/name.git/`.
        !before.is_ascii_alphanumeric() && !matches!(before, '-' | '_') && !after.starts_with("hooks/")
    });
    is_inside
        || ["git_dir", "git-dir", "git-path"].iter().any(|name| settings.contains(name))
        || (includes && settings.lines().any(is_relative))
}

/// Replaces whatever is at the path with a file of this text.
fn replace(path: &Path, text: &[u8]) {
    match PathKind::at(path) {
        PathKind::Directory => drop(fs::remove_dir_all(path)),
        PathKind::Nothing | PathKind::File | PathKind::Other => drop(fs::remove_file(path)),
    }
    drop(fs::write(path, text));
}

/// The steps of a rebase that run a program.
fn programs(steps: &[u8]) -> Vec<String> {
    let steps = String::from_utf8_lossy(steps);
    steps.lines().filter(|line| is_program(line)).map(str::to_owned).collect()
}

fn is_program(step: &str) -> bool {
    matches!(step.split_whitespace().next(), Some("exec" | "x"))
}

/// The symlinks where git writes, except among objects, whose names cannot be chosen. `None` if there are too many
/// files.
fn links(dir: &Path, entries_max: usize) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![dir.to_path_buf()];
    let mut entries_seen = 0;
    while let Some(current) = waiting.pop() {
        for entry in fs::read_dir(&current).into_iter().flatten().flatten() {
            entries_seen += 1;
            if entries_seen > entries_max {
                return None;
            }
            let (path, kind) = (entry.path(), entry.file_type().ok()?);
            let is_shut = current == dir && SHUT.iter().any(|name| entry.file_name() == *name);
            let is_object = current.parent() == Some(dir) && current.ends_with("objects");
            if kind.is_symlink() {
                found.push(path);
            } else if kind.is_dir() && !is_shut && !is_object {
                waiting.push(path);
            }
        }
    }
    Some(found)
}

#[cfg(test)]
#[path = "repository_tests.rs"]
mod tests;
