//! The file system that processes see: the machine read-only, the workspace writable.

use std::path::{Path, PathBuf};

use super::boundary::Boundary;
use super::repository::OpenRepository;
use super::sockets::open_sockets;
use crate::process::{PathView, View};

/// Directories that contain sockets of other programs.
const SOCKETS: [&str; 1] = ["/run"];

/// Parts of those directories that are needed: programs and host names.
const NEEDED: [&str; 2] = ["/run/current-system", "/run/systemd/resolve"];

const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// The package caches of a command.
#[derive(Debug, Default)]
pub(super) struct CacheView {
    /// Directories with a copy-on-write layer on top, mounted by the helper of the session.
    pub(super) mounted: Vec<PathBuf>,
    /// Caches of their own.
    pub(super) private: Vec<PathBuf>,
    /// The variables that make programs use these.
    pub(super) variables: Vec<(String, String)>,
    /// Whether they take no more.
    pub(super) is_full: bool,
}

/// The mounts on top of the machine's file system, which is read-only. `temporary` appears as `/tmp`. Opened repositories
/// are writable except for their protected parts; `guarded` are the protected names in the workspace.
pub(super) fn view(
    boundary: &Boundary,
    temporary: &Path,
    opened: &[OpenRepository],
    caches: &CacheView,
    mut guarded: Vec<PathBuf>,
) -> View {
    guarded.retain(|path| opened.iter().all(|repository| repository.dir() != path));
    let mut places: Vec<(PathBuf, PathView)> = Vec::new();
    // One may be a symlink to another.
    let existing = |path: &&str| Path::new(path).canonicalize().ok().filter(|path| path.is_dir());
    let writable = |path: &Path| PathView::Writable(path.to_path_buf());
    places.extend(SOCKETS.iter().filter_map(existing).map(|path| (path, PathView::Empty)));
    let read_only = |path: PathBuf| (path.clone(), PathView::ReadOnly(path));
    places.extend(NEEDED.iter().filter_map(existing).map(read_only));
    places.extend(TEMPORARY.iter().filter_map(existing).map(|path| (path, writable(temporary))));
    let covered = SOCKETS.iter().chain(&TEMPORARY).map(Path::new);
    let covered: Vec<&Path> = covered.chain(boundary.roots().iter().map(PathBuf::as_path)).collect();
    places.extend(open_sockets(&covered).into_iter().map(|path| (path, PathView::Absent)));
    places.extend(boundary.all_hidden().filter_map(|path| hidden(path)));
    places.extend(boundary.roots().iter().map(|root| (root.clone(), writable(root))));
    // A mount cannot be moved, so neither can what is in it.
    let anchors = boundary.name_rules().anchors().into_iter();
    let anchors = anchors.filter(|path| path.is_dir() && guarded.iter().all(|it| !path.starts_with(it)));
    places.extend(anchors.map(|path| (path.clone(), PathView::Writable(path))));
    places.extend(guarded.into_iter().map(|path| (path, PathView::Guarded)));
    let forbidden = boundary.all_read_only().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()));
    places.extend(forbidden.map(|path| (path, PathView::Guarded)));
    places.extend(opened.iter().flat_map(OpenRepository::places));
    let extras = boundary.extras();
    let shown = |path: &PathBuf| {
        if caches.is_full { read_only(path.clone()) } else { (path.clone(), writable(path)) }
    };
    places.extend(caches.mounted.iter().chain(&caches.private).map(shown));
    let replaced =
        extras.replaced.iter().filter(|it| it.path.symlink_metadata().is_ok_and(|found| found.is_file()));
    places.extend(replaced.map(|it| (it.path.clone(), PathView::ReadOnly(it.content.clone()))));
    let existing = |paths: &[PathBuf]| -> Vec<PathBuf> {
        paths.iter().filter_map(|it| it.canonicalize().ok()).collect()
    };
    places.extend(existing(&extras.readable).into_iter().map(read_only));
    places
        .extend(existing(&extras.writable).into_iter().map(|path| (path.clone(), PathView::Writable(path))));
    // Deeper paths are mounted later. The sort is stable: the later of two mounts at one path wins.
    places.sort_by_key(|(path, _)| path.components().count());
    View { places }
}

fn hidden(path: &Path) -> Option<(PathBuf, PathView)> {
    // Most do not exist. Checking the whole path first is faster than resolving it component by component.
    path.symlink_metadata().ok()?;
    let real = path.canonicalize().ok()?;
    let shown = if real.is_dir() { PathView::Empty } else { PathView::Absent };
    Some((real, shown))
}
