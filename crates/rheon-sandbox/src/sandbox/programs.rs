//! `Programs`: what the machine has to hold processes with.

use std::path::{Path, PathBuf};

/// Whether namespaces are made without a program that makes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamespaceUse {
    /// If the kernel lets them be made: all of them, so that bubblewrap is needed only where that fails.
    All,
    /// Those of processes, if the kernel lets them be made; the others are left to bubblewrap.
    ProcessesOnly,
    /// Never.
    Never,
}

/// Programs that start others with fewer rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    /// The shell.
    pub bash: PathBuf,
    /// bubblewrap.
    pub bwrap: Option<PathBuf>,
    /// Whether processes are put into namespaces by the kernel, without a program.
    pub namespaces: NamespaceUse,
}

/// Where the system keeps its programs. The path of the user is not asked: a workspace could be on it.
const FOLDERS: [&str; 5] =
    ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/opt/homebrew/bin"];

impl Programs {
    /// Those of this machine.
    pub fn find() -> Self {
        let find = |name: &str| {
            FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
        };
        Self {
            bash: find("bash").unwrap_or_else(|| "bash".into()),
            bwrap: find("bwrap"),
            namespaces: NamespaceUse::All,
        }
    }
}
