//! What processes see of the files: the whole machine to be read, the workspace to be written, nothing else.

use std::path::{Path, PathBuf};

use super::boundary::{Boundary, ProtectedPath};
use super::placeholder::Placeholder;
use super::repository::OpenRepository;
use super::sockets::open_sockets;
use crate::process::{PathView, View};

/// Folders with sockets of other programs.
const SOCKETS: [&str; 1] = ["/run"];

/// What is needed of those folders nevertheless: programs and names of hosts.
const NEEDED: [&str; 2] = ["/run/current-system", "/run/systemd/resolve"];

/// Folders for files that nobody keeps.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// What is laid over the whole machine, which is shown to be read only, and what must live as long as the process.
/// `temporary` is shown as `/tmp`. Repositories that are opened can be changed, except for what stays shut of them.
pub(super) fn view(
    boundary: &Boundary,
    temporary: &Path,
    opened: &[OpenRepository],
) -> (View, Vec<Placeholder>) {
    let (mut protected, placeholders) = protected(boundary);
    protected.retain(|path| opened.iter().all(|repository| repository.folder() != path));
    let mut places: Vec<(PathBuf, PathView)> = Vec::new();
    // One may be a link to another.
    let existing = |path: &&str| Path::new(path).canonicalize().ok().filter(|path| path.is_dir());
    let writable = |path: &Path| PathView::Writable(path.to_path_buf());
    places.extend(SOCKETS.iter().filter_map(existing).map(|path| (path, PathView::Empty)));
    places.extend(NEEDED.iter().filter_map(existing).map(|path| (path, PathView::ReadOnly)));
    places.extend(TEMPORARY.iter().filter_map(existing).map(|path| (path, writable(temporary))));
    let covered = SOCKETS.iter().chain(&TEMPORARY).map(Path::new);
    let covered: Vec<&Path> = covered.chain(boundary.roots().iter().map(PathBuf::as_path)).collect();
    places.extend(open_sockets(&covered).into_iter().map(|path| (path, PathView::Absent)));
    places.extend(boundary.all_hidden().filter_map(|path| hidden(path)));
    places.extend(boundary.roots().iter().map(|root| (root.clone(), writable(root))));
    places
        .extend(protected.into_iter().map(|path| (path.canonicalize().unwrap_or(path), PathView::ReadOnly)));
    places.extend(opened.iter().flat_map(OpenRepository::places));
    // What lies deeper is laid over what lies above it. The sort is stable: the later of two at one path wins.
    places.sort_by_key(|(path, _)| path.components().count());
    (View { places }, placeholders)
}

fn hidden(path: &Path) -> Option<(PathBuf, PathView)> {
    // Most are not there; to find that out by their first folder and their second takes longer.
    path.symlink_metadata().ok()?;
    let real = path.canonicalize().ok()?;
    let shown = if real.is_dir() { PathView::Empty } else { PathView::Absent };
    Some((real, shown))
}

/// The paths to be covered, and what stands in for those that are missing.
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
                // Something else may have come to be there meanwhile.
                if path.symlink_metadata().is_ok_and(|found| !found.is_symlink()) {
                    paths.push(path);
                }
            }
        }
    }
    (paths, placeholders)
}
