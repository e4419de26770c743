//! `Isolation`: what holds the processes of one command together, and whose processes they are.

use serde::{Deserialize, Serialize};

/// What holds the processes of one command together, and at the level of namespaces makes these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Isolation {
    /// All namespaces with a view of files of their own, made without a program.
    AllNamespaces,
    /// The same, made by bubblewrap.
    Bubblewrap,
    /// A PID namespace; needs to be root.
    PidNamespace,
    /// A PID namespace within a user namespace.
    UserNamespace,
    /// A process that adopts those that lose their parents.
    Supervisor,
}

/// Whose processes they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum User {
    /// Owns the settings of the kernel, and needs no rights beyond others to change them.
    Root,
    /// Anybody else.
    Other,
}

impl User {
    /// The one who runs the agent.
    #[cfg(unix)]
    pub(super) fn current() -> Self {
        if rustix::process::geteuid().is_root() { Self::Root } else { Self::Other }
    }

    /// The one who runs the agent.
    #[cfg(not(unix))]
    pub(super) fn current() -> Self {
        Self::Other
    }
}
