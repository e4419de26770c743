//! Builds bubblewrap's arguments: the machine read-only, with mounts on top.

use std::ffi::OsString;

use super::boundary::NetworkAccess;
use super::isolation::User;
use crate::process::{PathView, View};

/// The arguments, without the program to run.
pub(super) fn arguments(view: View, network: &NetworkAccess) -> Vec<OsString> {
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
    match network {
        NetworkAccess::Blocked | NetworkAccess::Hosts(_) => {}
        NetworkAccess::Open => arguments.push("--share-net".into()),
    }
    if User::current() == User::Root {
        arguments.extend(["--ro-bind", "/proc/sys", "/proc/sys"].map(OsString::from));
    }
    for (path, shown) in view.places {
        match shown {
            PathView::Empty => arguments.extend(["--tmpfs".into(), path.into()]),
            PathView::Absent => arguments.extend(["--ro-bind".into(), "/dev/null".into(), path.into()]),
            PathView::ReadOnly(source) => arguments.extend(["--ro-bind".into(), source.into(), path.into()]),
            // Bubblewrap would follow a symlink; one that is replaced is found afterwards.
            PathView::Guarded if path.is_symlink() => {}
            PathView::Guarded => {
                arguments.extend(["--ro-bind-try".into(), path.clone().into(), path.into()]);
            }
            PathView::Writable(source) => arguments.extend(["--bind".into(), source.into(), path.into()]),
        }
    }
    arguments.push("--".into());
    arguments
}
