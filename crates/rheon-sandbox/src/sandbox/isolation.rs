//! `Isolation`: what confines the processes of one command, and which user owns them.

use serde::{Deserialize, Serialize};

/// What confines the processes of one command. At the namespaces level it also creates the namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Isolation {
    /// All namespaces, with their own view of the file system, created without a program.
    AllNamespaces,
    /// The same, created by bubblewrap.
    Bubblewrap,
    /// A PID namespace. Requires root.
    PidNamespace,
    /// A PID namespace within a user namespace.
    UserNamespace,
    /// A process that adopts orphans.
    Supervisor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum User {
    /// Owns the kernel settings and can change them without extra capabilities.
    Root,
    Other,
}

impl User {
    /// The user who runs the agent.
    #[cfg(unix)]
    pub(super) fn current() -> Self {
        if rustix::process::geteuid().is_root() { Self::Root } else { Self::Other }
    }

    /// The user who runs the agent.
    #[cfg(not(unix))]
    pub(super) fn current() -> Self {
        Self::Other
    }
}
