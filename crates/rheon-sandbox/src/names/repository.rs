//! Checks a repository that a command created. `git init` and `git clone` are ordinary work, so it stays; what would make
//! git run programs outside the sandbox is disabled: hooks go to the quarantine, settings are commented out.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};

use super::config::disarmed;
use super::quarantine::{OpenDir, put_aside};
use super::rules::NameRules;

/// What was found in a new repository.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RepositoryVerdict {
    Harmless,
    /// These settings and hooks were disabled.
    Disarmed(Vec<PathBuf>),
    /// It is not what git creates.
    Refused,
}

/// The nesting of submodules in submodules.
const DEPTH_MAX: usize = 16;

const CONFIG_BYTES_MAX: u64 = 1024 * 1024;

const POINTER_BYTES_MAX: u64 = 8_192;

/// What to do about hooks and settings that run programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartsAction {
    Disable,
    Report,
}

/// Checks the `.git` at `path`.
pub(super) fn check(path: &Path, rules: &NameRules, action: PartsAction) -> io::Result<RepositoryVerdict> {
    let Some((root, parent)) = rules.root_of(path).zip(path.parent()) else {
        return Ok(RepositoryVerdict::Refused);
    };
    let found = path.symlink_metadata()?;
    if found.is_file() {
        return Ok(if leads_into_repository(path, rules) {
            RepositoryVerdict::Harmless
        } else {
            RepositoryVerdict::Refused
        });
    }
    if !found.is_dir() {
        return Ok(RepositoryVerdict::Refused);
    }
    let parent = OpenDir::beneath(root, parent)?;
    let dir = parent.dir(path.file_name().unwrap_or_default())?;
    let mut check = Check { quarantine: rules.quarantine(), action, disarmed: Vec::new() };
    let is_known_form = check.repository(&dir, 0)?;
    Ok(match (is_known_form, check.disarmed.is_empty()) {
        (false, _) => RepositoryVerdict::Refused,
        (true, true) => RepositoryVerdict::Harmless,
        (true, false) => RepositoryVerdict::Disarmed(check.disarmed),
    })
}

struct Check<'a> {
    quarantine: Option<&'a Path>,
    action: PartsAction,
    disarmed: Vec<PathBuf>,
}

impl Check<'_> {
    /// Whether the directory has the form that git creates. Disables what it would run.
    fn repository(&mut self, dir: &OpenDir, depth: usize) -> io::Result<bool> {
        for entry in dir.entries()? {
            let name = entry.name.to_string_lossy().to_ascii_lowercase();
            let is_form = match (name.as_str(), entry.kind) {
                (_, FileType::Symlink) | ("commondir", _) => false,
                ("config" | "config.worktree", FileType::RegularFile) => self.config(dir, &entry.name)?,
                ("hooks", FileType::Directory) => self.hooks(&dir.dir(&entry.name)?)?,
                ("modules", FileType::Directory) => self.modules(&dir.dir(&entry.name)?, depth)?,
                ("worktrees", FileType::Directory) => self.worktrees(&dir.dir(&entry.name)?)?,
                ("config" | "config.worktree" | "hooks" | "modules" | "worktrees", _) => false,
                _ => true,
            };
            if !is_form {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn hooks(&mut self, dir: &OpenDir) -> io::Result<bool> {
        for entry in dir.entries()? {
            let is_sample = entry.name.as_encoded_bytes().ends_with(b".sample");
            if !is_sample {
                if self.action == PartsAction::Disable {
                    put_aside(dir, &entry.name, self.quarantine)?;
                }
                self.disarmed.push(dir.path.join(&entry.name));
            }
        }
        Ok(true)
    }

    /// Repositories of submodules, at any depth because their names may contain slashes.
    fn modules(&mut self, dir: &OpenDir, depth: usize) -> io::Result<bool> {
        if depth > DEPTH_MAX {
            return Ok(false);
        }
        for entry in dir.entries()? {
            if entry.kind != FileType::Directory {
                return Ok(false);
            }
            let module = dir.dir(&entry.name)?;
            let is_repository = module.entries()?.iter().any(|it| it.name == "HEAD");
            let is_form = match is_repository {
                true => self.repository(&module, depth + 1)?,
                false => self.modules(&module, depth + 1)?,
            };
            if !is_form {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn worktrees(&mut self, dir: &OpenDir) -> io::Result<bool> {
        for entry in dir.entries()? {
            if entry.kind != FileType::Directory {
                return Ok(false);
            }
            let worktree = dir.dir(&entry.name)?;
            for entry in worktree.entries()? {
                let is_form = match (entry.name.to_string_lossy().to_ascii_lowercase().as_str(), entry.kind) {
                    (_, FileType::Symlink) | ("config" | "hooks", _) => false,
                    ("commondir", _) => read(&worktree, &entry.name)?.as_deref() == Some(b"../..\n"),
                    ("config.worktree", _) => self.config(&worktree, &entry.name)?,
                    _ => true,
                };
                if !is_form {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn config(&mut self, dir: &OpenDir, name: &OsStr) -> io::Result<bool> {
        let Some(bytes) = read(dir, name)? else { return Ok(false) };
        let Ok(text) = String::from_utf8(bytes) else { return Ok(false) };
        if let Some(text) = disarmed(&text) {
            if self.action == PartsAction::Disable {
                replace(dir, name, text.as_bytes())?;
            }
            self.disarmed.push(dir.path.join(name));
        }
        Ok(true)
    }
}

/// The content of a regular file that is not too large.
fn read(dir: &OpenDir, name: &OsStr) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::openat(&dir.file, name, flags, Mode::empty())?);
    let found = file.metadata()?;
    if !found.is_file() || found.len() > CONFIG_BYTES_MAX {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(CONFIG_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(u64::try_from(bytes.len()).is_ok_and(|length| length <= CONFIG_BYTES_MAX).then_some(bytes))
}

fn replace(dir: &OpenDir, name: &OsStr, text: &[u8]) -> io::Result<()> {
    let mut new = OsString::from(name);
    new.push(".rheon-new");
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o644);
    let opened = rustix::fs::openat(&dir.file, &new, flags, mode).or_else(|_| {
        // Left by a killed program, or put there to be in the way.
        rustix::fs::unlinkat(&dir.file, &new, rustix::fs::AtFlags::empty()).ok();
        rustix::fs::openat(&dir.file, &new, flags, mode)
    })?;
    std::fs::File::from(opened).write_all(text)?;
    Ok(rustix::fs::renameat(&dir.file, &new, &dir.file, name)?)
}

/// Whether a `.git` file names the repository of a submodule or worktree within a `.git` directory of the workspace, which
/// is protected or checked itself.
fn leads_into_repository(file: &Path, rules: &NameRules) -> bool {
    let Some(target) = pointed_to(file, "gitdir:").filter(|target| rules.root_of(target).is_some()) else {
        return false;
    };
    let mut parts =
        target.components().map(std::path::Component::as_os_str).skip_while(|part| *part != ".git");
    parts.next().is_some() && parts.next().is_some_and(|part| part == "modules" || part == "worktrees")
}

/// The directory that a `.git` or `commondir` file names after `prefix`.
pub(super) fn pointed_to(file: &Path, prefix: &str) -> Option<PathBuf> {
    if !file.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(file).ok()?.take(POINTER_BYTES_MAX).read_to_string(&mut text).ok()?;
    let target = text.strip_prefix(prefix)?.trim();
    if target.is_empty() { None } else { file.parent()?.join(target).canonicalize().ok() }
}
