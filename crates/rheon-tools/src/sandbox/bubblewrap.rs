//! The arguments of bubblewrap: the whole machine to be read, the workspace to be written, nothing else to be seen.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::boundary::{Boundary, Network, ProtectedPath};
use super::placeholder::Placeholder;
use super::sockets::open_sockets;

/// How one path looks from inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View<'a> {
    Empty,
    Absent,
    ReadOnly,
    Writable(&'a Path),
}

/// Folders with sockets of other programs.
const SOCKETS: [&str; 1] = ["/run"];

/// What is needed of those folders nevertheless: programs and names of hosts.
const NEEDED: [&str; 2] = ["/run/current-system", "/run/systemd/resolve"];

/// Folders for files that nobody keeps.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// The arguments, without the program to be run, and what must live as long as it. `temporary` is shown as `/tmp`.
pub(super) fn arguments(boundary: &Boundary, temporary: &Path) -> (Vec<OsString>, Vec<Placeholder>) {
    let mut arguments: Vec<OsString> = [
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
    ]
    .map(OsString::from)
    .into();
    match boundary.network() {
        Network::Blocked => {}
        Network::Open => arguments.push("--share-net".into()),
    }
    let (protected, placeholders) = protected(boundary);
    let mut views: Vec<(PathBuf, View<'_>)> = Vec::new();
    let existing = |path: &&&str| Path::new(path).is_dir();
    views.extend(SOCKETS.iter().filter(existing).map(|path| (path.into(), View::Empty)));
    views.extend(NEEDED.iter().filter(existing).map(|path| (path.into(), View::ReadOnly)));
    views.extend(TEMPORARY.iter().filter(existing).map(|path| (path.into(), View::Writable(temporary))));
    let covered = SOCKETS.iter().chain(&TEMPORARY).map(Path::new);
    let covered: Vec<&Path> = covered.chain(boundary.roots().iter().map(PathBuf::as_path)).collect();
    views.extend(open_sockets(&covered).into_iter().map(|path| (path, View::Absent)));
    views.extend(boundary.hidden().iter().filter_map(|path| hidden_view(path)));
    views.extend(boundary.roots().iter().map(|root| (root.clone(), View::Writable(root))));
    views.extend(protected.into_iter().map(|path| (path, View::ReadOnly)));
    // What lies deeper is laid over what lies above it. The sort is stable: the later of two at one path wins.
    views.sort_by_key(|(path, _)| path.components().count());
    for (path, view) in views {
        match view {
            View::Empty => arguments.extend(["--tmpfs".into(), path.into()]),
            View::Absent => arguments.extend(["--ro-bind".into(), "/dev/null".into(), path.into()]),
            View::ReadOnly => arguments.extend(["--ro-bind".into(), path.clone().into(), path.into()]),
            View::Writable(source) => arguments.extend(["--bind".into(), source.into(), path.into()]),
        }
    }
    arguments.push("--".into());
    (arguments, placeholders)
}

fn hidden_view<'a>(path: &Path) -> Option<(PathBuf, View<'a>)> {
    let real = path.canonicalize().ok()?;
    let view = if real.is_dir() { View::Empty } else { View::Absent };
    Some((real, view))
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
