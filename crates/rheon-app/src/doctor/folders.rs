//! Whether things can be kept: folders, the space in them, and the sessions that are kept there.

use std::path::{Path, PathBuf};

use rheon_store::sessions::SessionFiles;
use rheon_store::sqlite::{Index, IndexState};

use super::check::Check;
use crate::keeping::{FolderError, Folders};

/// Below this a disk is nearly full.
const SPACE_LOW_BYTES: u64 = 1 << 30;
/// Below this nothing can be relied on.
const SPACE_NONE_BYTES: u64 = 50 << 20;

pub(super) fn folders(folders: &Folders) -> Vec<Check> {
    let places: [(&'static str, Result<PathBuf, FolderError>); 4] = [
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

fn folder(what: &str, place: &Result<PathBuf, FolderError>) -> Check {
    let path = match place {
        Ok(path) => path,
        Err(error) => return Check::bad("folder", format!("{what}: {error}"), "set HOME to your own folder"),
    };
    let shown = path.display();
    let Some(there) = existing(path) else {
        return Check::bad("folder", format!("{what}: {shown} cannot be made"), "look at the path");
    };
    // To try is the only way to know: rights, quotas and read-only disks all say no in their own way.
    match tempfile::tempfile_in(there) {
        Ok(_) if there == path => Check::ok("folder", format!("{what}: {shown}")),
        Ok(_) => Check::ok("folder", format!("{what}: {shown} (made when it is needed)")),
        Err(error) => {
            let what = format!("{what}: {shown} cannot be written: {error}");
            Check::bad("folder", what, format!("look who may write in {}", there.display()))
        }
    }
}

/// The folder itself, or the nearest above it that is there.
fn existing(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.is_dir())
}

fn space(folder: &Path) -> Check {
    let shown = folder.display();
    let free = match rustix::fs::statvfs(folder) {
        Ok(found) => found.f_bavail.saturating_mul(found.f_frsize),
        Err(error) => {
            let what = format!("it is not known how much is free at {shown}: {error}");
            return Check::warn("disk", what, "look with df");
        }
    };
    let (gib, tenths) = (free >> 30, ((free & ((1 << 30) - 1)) * 10) >> 30);
    let what = format!("{gib}.{tenths} GiB are free at {shown}");
    match free {
        ..SPACE_NONE_BYTES => Check::bad("disk", what, "make room: a session that cannot be written stops"),
        SPACE_NONE_BYTES..SPACE_LOW_BYTES => {
            Check::warn("disk", what, "make room; `rheon sessions delete` removes sessions")
        }
        _ => Check::ok("disk", what),
    }
}

const SESSIONS: &str = "sessions";

/// Looks at the sessions of all folders. Nothing is made where there is nothing.
pub(super) fn sessions(folders: &Folders) -> Vec<Check> {
    // That it is not known where they are is said of the folder.
    let Ok(data) = folders.data() else { return Vec::new() };
    let listed = SessionFiles::new(data.join("sessions"), 0).list(None);
    let unreadable = listed.iter().filter(|listed| listed.header.is_err()).count();
    let mut checks = vec![match unreadable {
        0 => Check::ok(SESSIONS, format!("{} kept", listed.len())),
        unreadable => {
            let what = format!("{} kept, {unreadable} of them cannot be read", listed.len());
            Check::warn(SESSIONS, what, "`rheon sessions list --all` shows them")
        }
    }];
    let index = data.join("index.db");
    if index.exists() {
        checks.push(match Index::open(&index) {
            Ok((_, IndexState::Whole)) => Check::ok("index", "whole"),
            Ok((_, IndexState::Partial)) => {
                Check::ok("index", "not whole; it is made anew by the next search")
            }
            Ok((_, IndexState::Replaced { aside })) => {
                let what = format!("it was damaged and is now at {}", aside.display());
                Check::warn("index", what, "nothing is lost: the next search makes it anew from the sessions")
            }
            Err(error) => {
                Check::warn("index", error.to_string(), "sessions work without it; searches do not")
            }
        });
    }
    checks
}
