//! `Keeper`: what holds the processes of one command together.

use serde::{Deserialize, Serialize};

/// What holds the processes of one command together, and at the level of namespaces makes these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Keeper {
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
