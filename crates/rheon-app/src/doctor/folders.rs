//! Checks the user's directories, the free disk space and the saved sessions.

use std::path::{Path, PathBuf};

use rheon_store::sessions::SessionFiles;
use rheon_store::sqlite::{Index, IndexState};

use super::check::Check;
use crate::sessions::{UserDirs, UserDirsError};

/// Below this a disk is nearly full.
const SPACE_LOW_BYTES: u64 = 1 << 30;
/// Below this, writes are likely to fail.
const SPACE_NONE_BYTES: u64 = 50 << 20;

pub(super) fn folders(folders: &UserDirs) -> Vec<Check> {
    let places: [(&'static str, Result<PathBuf, UserDirsError>); 4] = [
        ("settings", folders.config()),
        ("sessions", folders.data()),
        ("state", folders.state()),
        ("cache", folders.cache()),
    ];
    let mut checks: Vec<Check> = places.iter().map(|(what, place)| folder(what, place)).collect();
    if let Ok(data) = folders.data()
        && let Some(there) = existing(&data)
    {
        checks.push(space(there));
    }
    checks
}

fn folder(what: &str, place: &Result<PathBuf, UserDirsError>) -> Check {
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
        Ok(_) if there == path => Check::ok("directory", format!("{what}: {shown}")),
        Ok(_) => Check::ok("directory", format!("{what}: {shown} (created when needed)")),
        Err(error) => {
            let what = format!("{what}: cannot write to {shown}: {error}");
            Check::bad("directory", what, format!("check the permissions of {}", there.display()))
        }
    }
}

/// The directory itself, or its nearest existing parent.
fn existing(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.is_dir())
}

fn space(folder: &Path) -> Check {
    let shown = folder.display();
    let free = match rustix::fs::statvfs(folder) {
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
pub(super) fn sessions(folders: &UserDirs) -> Vec<Check> {
    // An unknown data directory is reported by its own check.
    let Ok(data) = folders.data() else { return Vec::new() };
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
