//! `Beginning`: what a process gets from the kernel before it becomes another program.

/// Namespaces that the process is the first of, without another program that would make them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespaces {
    /// None.
    Inherited,
    /// Processes and their queues; needs to be root.
    Processes,
    /// The same with a `/proc` that shows them.
    ProcessesShown,
    /// Processes and their queues, within a user namespace in which the user remains who they are.
    UserProcesses,
    /// All there are, with a view of files of its own.
    All,
    /// The same, with the network of the machine.
    AllButNetwork,
}

/// What becomes of the rights that root has beyond others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capabilities {
    /// They are handed on.
    Kept,
    /// No program that the process becomes or starts gets any.
    Dropped,
}

/// What a process gets before it becomes another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beginning {
    /// The namespaces.
    pub namespaces: Namespaces,
    /// The rights.
    pub capabilities: Capabilities,
}

impl Beginning {
    /// Nothing but what every process of a tool gets.
    pub const PLAIN: Self = Self { namespaces: Namespaces::Inherited, capabilities: Capabilities::Kept };
}
