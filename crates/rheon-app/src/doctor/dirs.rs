//! Checks the user's directories, the free disk space and the saved sessions.

use std::path::{Path, PathBuf};

use rheon_store::sessions::SessionFiles;
use rheon_store::sqlite::{Index, IndexState};
use rheon_text::units::bytes;

use super::check::Check;
use crate::config::Config;
use crate::session::SystemContext;
use crate::sessions::{Transcripts, UserDirs, UserDirsError};

/// Below this a disk is nearly full.
const SPACE_LOW_BYTES: u64 = 1 << 30;
/// Below this, writes are likely to fail.
const SPACE_NONE_BYTES: u64 = 50 << 20;

/// Checks every directory that Rheon writes to, with its size.
pub(super) fn dirs(dirs: &UserDirs) -> Vec<Check> {
    let places: [(&'static str, Result<PathBuf, UserDirsError>); 4] = [
        ("settings", dirs.config()),
        ("sessions", dirs.data()),
        ("state", dirs.state()),
        ("cache", dirs.cache()),
    ];
    let mut checks: Vec<Check> = places.iter().map(|(what, place)| dir(what, place)).collect();
    if let Ok(data) = dirs.data()
        && let Some(there) = existing(&data)
    {
        checks.push(space(there));
    }
    checks
}

fn dir(what: &str, place: &Result<PathBuf, UserDirsError>) -> Check {
    let path = match place {
        Ok(path) => path,
        Err(error) => {
            return Check::bad("directory", format!("{what}: {error}"), "set HOME to your home directory");
        }
    };
    let shown = path.display();
    let Some(there) = existing(path) else {
        return Check::bad("directory", format!("{what}: cannot create {shown}"), "check the path");
    };
    // Only an attempt tells: permissions, quotas and read-only disks all fail differently.
    match tempfile::tempfile_in(there) {
        Ok(_) if there == path => Check::ok("directory", format!("{what}: {shown} ({})", size(path))),
        Ok(_) => Check::ok("directory", format!("{what}: {shown} (created when needed)")),
        Err(error) => {
            let what = format!("{what}: cannot write to {shown}: {error}");
            Check::bad("directory", what, format!("check the permissions of {}", there.display()))
        }
    }
}

/// Checks the directories outside the user's own ones that Rheon writes to: transcripts, worktrees, temporary files.
pub(super) fn other_dirs(system: &SystemContext, config: &Config) -> Vec<Check> {
    let mut checks = Vec::new();
    let transcripts = match &config.settings.sessions.transcripts {
        Transcripts::Off => None,
        Transcripts::WhereUsed if !system.dirs.has_claude_code() => None,
        Transcripts::WhereUsed | Transcripts::On => Some(system.dirs.claude_projects()),
        Transcripts::RedirectedTo(path) => Some(Ok(path.clone())),
    };
    checks.extend(transcripts.map(|path| dir("transcripts for Claude Code", &path)));
    let worktrees = system.working_dir.ancestors().map(|above| above.join(".rheon/worktrees"));
    if let Some(worktrees) = worktrees.into_iter().find(|path| path.is_dir()) {
        checks.push(dir("worktrees", &Ok(worktrees)));
    }
    let temporary = std::env::temp_dir();
    let what = format!("temporary files: rheon-* in {} (removed when a session ends)", temporary.display());
    checks.push(match tempfile::tempfile_in(&temporary) {
        Ok(_) => Check::ok("directory", what),
        Err(error) => {
            let what = format!("temporary files: cannot write to {}: {error}", temporary.display());
            Check::bad("directory", what, "set TMPDIR to a directory that you can write to")
        }
    });
    checks
}

/// The most files whose sizes are added up.
const FILES_MAX: u64 = 200_000;

/// The size of a directory, as people read it. Links are not followed.
fn size(dir: &Path) -> String {
    let (mut total, mut files) = (0_u64, 0_u64);
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                open.push(entry.path());
                continue;
            }
            (total, files) = (total.saturating_add(metadata.len()), files + 1);
            if files == FILES_MAX {
                return format!("more than {}", bytes(total));
            }
        }
    }
    bytes(total)
}

/// The directory itself, or its nearest existing parent.
fn existing(path: &Path) -> Option<&Path> {
    path.ancestors().find(|dir| dir.is_dir())
}

fn space(dir: &Path) -> Check {
    let shown = dir.display();
    let free = match rustix::fs::statvfs(dir) {
        Ok(usage) => usage.f_bavail.saturating_mul(usage.f_frsize),
        Err(error) => {
            let what = format!("cannot read the free space at {shown}: {error}");
            return Check::warn("disk", what, "check it with df");
        }
    };
    let (gib, tenths) = (free >> 30, ((free & ((1 << 30) - 1)) * 10) >> 30);
    let what = format!("{gib}.{tenths} GiB free at {shown}");
    match free {
        ..SPACE_NONE_BYTES => {
            Check::bad("disk", what, "free some space; a session that cannot be saved stops")
        }
        SPACE_NONE_BYTES..SPACE_LOW_BYTES => {
            Check::warn("disk", what, "free some space; `rheon sessions delete` removes sessions")
        }
        _ => Check::ok("disk", what),
    }
}

const SESSIONS: &str = "sessions";

/// Checks the sessions of all directories. Creates nothing.
pub(super) fn sessions(dirs: &UserDirs) -> Vec<Check> {
    // An unknown data directory is reported by its own check.
    let Ok(data) = dirs.data() else { return Vec::new() };
    let listed = SessionFiles::new(data.join("sessions"), 0).list(None);
    let unreadable = listed.iter().filter(|listed| listed.header.is_err()).count();
    let mut checks = vec![match unreadable {
        0 => Check::ok(SESSIONS, format!("{} saved", listed.len())),
        unreadable => {
            let what = format!("{} saved, {unreadable} of them unreadable", listed.len());
            Check::warn(SESSIONS, what, "run `rheon sessions list --all` to see them")
        }
    }];
    let index = data.join("index.db");
    if index.exists() {
        checks.push(match Index::open(&index) {
            Ok((_, IndexState::Whole)) => Check::ok("index", "complete"),
            Ok((_, IndexState::Partial)) => Check::ok("index", "incomplete; the next search rebuilds it"),
            Ok((_, IndexState::Replaced { aside })) => {
                let what = format!("the index was damaged and moved to {}", aside.display());
                Check::warn("index", what, "nothing is lost; the next search rebuilds it from the sessions")
            }
            Err(error) => {
                Check::warn("index", error.to_string(), "sessions work without the index, searches do not")
            }
        });
    }
    checks
}
