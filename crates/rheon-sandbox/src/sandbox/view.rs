//! The file system that processes see: the machine read-only, the workspace writable.

use std::path::{Path, PathBuf};

use super::boundary::{Boundary, ProtectedPath};
use super::placeholder::Placeholder;
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

/// The mounts on top of the machine's file system, which is read-only, and the guards that must live as long as the
/// process. `temporary` appears as `/tmp`. Opened repositories are writable except for their protected parts.
pub(super) fn view(
    boundary: &Boundary,
    temporary: &Path,
    opened: &[OpenRepository],
    caches: &CacheView,
) -> (View, Vec<Placeholder>) {
    let (mut protected, placeholders) = protected(boundary);
    protected.retain(|path| opened.iter().all(|repository| repository.folder() != path));
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
    places.extend(protected.into_iter().map(|path| read_only(path.canonicalize().unwrap_or(path))));
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
    (View { places }, placeholders)
}

fn hidden(path: &Path) -> Option<(PathBuf, PathView)> {
    // Most do not exist. Checking the whole path first is faster than resolving it component by component.
    path.symlink_metadata().ok()?;
    let real = path.canonicalize().ok()?;
    let shown = if real.is_dir() { PathView::Empty } else { PathView::Absent };
    Some((real, shown))
}

/// The paths to cover, and placeholders for those that do not exist.
fn protected(boundary: &Boundary) -> (Vec<PathBuf>, Vec<Placeholder>) {
    let mut paths = Vec::new();
    let mut placeholders = Vec::new();
    for path in boundary.protected() {
        match path {
            ProtectedPath::Present(path) => {
                if Placeholder::is_at(&path) {
                    placeholders.extend(Placeholder::at(&path));
                }
                paths.push(path);
            }
            ProtectedPath::Missing(path) => {
                placeholders.extend(Placeholder::at(&path));
                // Something else may exist there by now.
                if path.symlink_metadata().is_ok_and(|found| !found.is_symlink()) {
                    paths.push(path);
                }
            }
        }
    }
    (paths, placeholders)
}
