//! `OpenRepository`: a repository that a command of git may change, and what of it stays shut nevertheless.
//!
//! Hooks and filters run with the command, so any program may do with the repository what git does. What would make git run
//! programs outside the sandbox, or take its settings from elsewhere, is mounted to be read only; where it is missing,
//! something stands in its place. Every folder above such a mount is a mount too, because others could be moved away with all
//! that is in them. What cannot be a mount, because git replaces it, is put right when the command has ended.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::boundary::Boundary;
use super::placeholder::Placeholder;
use crate::process::PathView;

/// What stays shut: settings, where they are looked for, and programs; those of submodules and other worktrees included.
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

/// Those of them that are files.
const SHUT_FILES: [&str; 3] = ["config", "config.worktree", "commondir"];

/// What is mounted to be written: the repository, and the folders without which git would take it for none.
const OPEN: [&str; 3] = ["", "objects", "refs"];

/// The most entries that are looked through for links. A repository with more stays shut.
const ENTRIES_MAX: usize = 100_000;

/// The most that is read of a small file of git.
const SMALL_BYTES_MAX: u64 = 1024 * 1024;

/// Where an interrupted rebase keeps what it does when it goes on.
const REBASE_STEPS: &str = "rebase-merge/git-rebase-todo";

/// A repository that a command may change.
#[derive(Debug)]
pub(super) struct OpenRepository {
    folder: PathBuf,
    /// What is checked out, as the command found it.
    head: Vec<u8>,
    /// The programs that an interrupted rebase was to run already.
    rebase_programs: Vec<String>,
    placeholders: Vec<Placeholder>,
}

/// Those of the workspace that can be opened; why not, if there is none.
pub(super) fn open_all(boundary: &Boundary) -> Result<Vec<OpenRepository>, String> {
    let mut opened = Vec::new();
    let mut problem = "the workspace has no folder".to_owned();
    for root in boundary.roots().iter().rev() {
        let folder = root.join(".git");
        if boundary.forbids_writing(&folder) {
            problem = format!("a rule forbids to change {}", folder.display());
            continue;
        }
        match OpenRepository::open(&folder) {
            Ok(repository) => opened.push(repository),
            Err(why) => problem = why,
        }
    }
    if opened.is_empty() { Err(problem) } else { Ok(opened) }
}

/// Every place in repositories of the workspace that is shut while they are open.
pub(super) fn shut_in(boundary: &Boundary) -> impl Iterator<Item = PathBuf> {
    let repositories = boundary.roots().iter().map(|root| root.join(".git"));
    repositories.flat_map(|folder| SHUT.map(|name| folder.join(name)))
}

impl OpenRepository {
    fn open(folder: &Path) -> Result<Self, String> {
        let shown = folder.display();
        match Found::at(folder) {
            Found::Folder if Placeholder::is_at(folder) => return Err(missing(folder)),
            Found::Folder => {}
            Found::Nothing => return Err(missing(folder)),
            Found::File => {
                return Err(format!(
                    "{shown} leads to a repository elsewhere (this is a linked worktree or a submodule), which is closed"
                ));
            }
            Found::Other => return Err(format!("{shown} is a link")),
        }
        if OPEN.iter().any(|name| Found::at(&folder.join(name)) != Found::Folder) {
            return Err(format!("{shown} is no repository"));
        }
        let head = small(&folder.join("HEAD")).filter(|head| is_head(head));
        let head = head.ok_or_else(|| format!("{shown} has no HEAD that git would take"))?;
        let mut placeholders = Vec::new();
        for name in SHUT {
            let path = folder.join(name);
            match (Found::at(&path), SHUT_FILES.contains(&name)) {
                _ if Placeholder::is_at(&path) => placeholders.extend(Placeholder::at(&path)),
                (Found::File, true) if name != "commondir" => {}
                (Found::Folder, false) => {}
                (Found::Nothing, _) if name != "config" => placeholders.extend(Placeholder::at(&path)),
                _ => return Err(format!("{} is not what git makes of it", path.display())),
            }
            let wanted = if SHUT_FILES.contains(&name) { Found::File } else { Found::Folder };
            if Found::at(&path) != wanted {
                return Err(format!("{} cannot be shut", path.display()));
            }
        }
        for name in ["config", "config.worktree"] {
            let settings = small(&folder.join(name)).unwrap_or_default();
            if leads_into_repository(&String::from_utf8_lossy(&settings)) {
                return Err(format!(
                    "its settings ({shown}/{name}) name files that commands of git could change"
                ));
            }
        }
        match links(folder, ENTRIES_MAX) {
            Some(links) if links.is_empty() => {}
            Some(_) => return Err(format!("{shown} has links in it")),
            None => return Err(format!("{shown} has too many files for a look through them")),
        }
        let rebase_programs = programs(&small(&folder.join(REBASE_STEPS)).unwrap_or_default());
        Ok(Self { folder: folder.to_path_buf(), head, rebase_programs, placeholders })
    }

    /// The repository itself.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// How it looks to the command.
    pub(super) fn places(&self) -> impl Iterator<Item = (PathBuf, PathView)> {
        let path = |name: &str| if name.is_empty() { self.folder.clone() } else { self.folder.join(name) };
        let open = OPEN.map(|name| (path(name), PathView::Writable(path(name))));
        open.into_iter().chain(SHUT.map(|name| (path(name), PathView::ReadOnly)))
    }

    /// Puts right what could not be shut, after the command: without a proper HEAD git would look for another repository;
    /// through a link it would write elsewhere; and a rebase that goes on runs the programs among its steps. What is
    /// needed no longer is returned.
    pub(super) fn settle(self) -> Vec<Placeholder> {
        let head = self.folder.join("HEAD");
        if !small(&head).is_some_and(|head| is_head(&head)) {
            replace(&head, &self.head);
        }
        for link in links(&self.folder, ENTRIES_MAX).unwrap_or_default() {
            drop(fs::remove_file(link));
        }
        let steps = self.folder.join(REBASE_STEPS);
        let text = small(&steps).unwrap_or_default();
        if programs(&text).iter().any(|program| !self.rebase_programs.contains(program)) {
            let text = String::from_utf8_lossy(&text);
            let harmless = text.lines().map(|line| match is_program(line) {
                true if !self.rebase_programs.iter().any(|known| known == line) => format!("# {line}\n"),
                true | false => format!("{line}\n"),
            });
            replace(&steps, harmless.collect::<String>().as_bytes());
        }
        self.placeholders
    }
}

fn missing(folder: &Path) -> String {
    format!(
        "there is no {}; a repository further up is outside the workspace, and a new one is the user's to make",
        folder.display()
    )
}

/// What is at a path, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    File,
    Folder,
    Other,
}

impl Found {
    fn at(path: &Path) -> Self {
        match path.symlink_metadata() {
            Ok(found) if found.is_file() => Self::File,
            Ok(found) if found.is_dir() => Self::Folder,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::Nothing,
            Ok(_) | Err(_) => Self::Other,
        }
    }
}

/// A small file, which is no link.
fn small(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let is_file = Found::at(path) == Found::File;
    let file = fs::File::open(path).ok().filter(|_| is_file)?;
    file.take(SMALL_BYTES_MAX).read_to_end(&mut bytes).ok().map(|_| bytes)
}

/// Whether git takes this for a HEAD: the name of a branch or of a commit.
fn is_head(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let text = text.trim_end();
    text.strip_prefix("ref:").is_some_and(|name| name.trim_start().starts_with("refs/"))
        || (matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether settings take in files by a path that counts from the repository, or name files in it as programs or hooks. Those in
/// `hooks` are shut anyway.
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
        // The address of a repository elsewhere ends so too: `https://example.com/name.git/`.
        !before.is_ascii_alphanumeric() && !matches!(before, '-' | '_') && !after.starts_with("hooks/")
    });
    is_inside
        || ["git_dir", "git-dir", "git-path"].iter().any(|name| settings.contains(name))
        || (includes && settings.lines().any(is_relative))
}

/// Puts a file with this text at the path, whatever is there.
fn replace(path: &Path, text: &[u8]) {
    match Found::at(path) {
        Found::Folder => drop(fs::remove_dir_all(path)),
        Found::Nothing | Found::File | Found::Other => drop(fs::remove_file(path)),
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

/// The links where git writes, except among objects, whose names are not for anybody to choose. Nothing if there are too
/// many files to look at.
fn links(folder: &Path, entries_max: usize) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    let mut entries_seen = 0;
    while let Some(current) = waiting.pop() {
        for entry in fs::read_dir(&current).into_iter().flatten().flatten() {
            entries_seen += 1;
            if entries_seen > entries_max {
                return None;
            }
            let (path, kind) = (entry.path(), entry.file_type().ok()?);
            let is_shut = current == folder && SHUT.iter().any(|name| entry.file_name() == *name);
            let is_object = current.parent() == Some(folder) && current.ends_with("objects");
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
