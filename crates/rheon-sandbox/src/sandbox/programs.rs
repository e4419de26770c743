//! `Programs`: the programs on this machine that the sandbox uses.

use std::path::{Path, PathBuf};

/// Whether Rheon creates namespaces itself, without bubblewrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamespaceUse {
    /// All of them if the kernel allows it; bubblewrap is the fallback.
    All,
    /// PID namespaces if the kernel allows it; bubblewrap creates the others.
    ProcessesOnly,
    Never,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    pub bash: PathBuf,
    pub bwrap: Option<PathBuf>,
    pub namespaces: NamespaceUse,
}

/// Where the system keeps its programs. The user's `PATH` is not used because it could include the workspace.
const DIRS: [&str; 5] =
    ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/opt/homebrew/bin"];

impl Programs {
    /// Finds the programs of this machine.
    pub fn find() -> Self {
        let find = |name: &str| DIRS.iter().map(|dir| Path::new(dir).join(name)).find(|path| path.is_file());
        Self {
            bash: find("bash").unwrap_or_else(|| "bash".into()),
            bwrap: find("bwrap"),
            namespaces: NamespaceUse::All,
        }
    }
}
