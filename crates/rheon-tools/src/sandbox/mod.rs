//! The sandbox: how far the process of a tool reaches, and what the machine can enforce of that.

mod boundary;
mod bubblewrap;
mod choose;
mod keys;
mod level;
mod placeholder;
mod probe;
mod programs;
mod report;
mod restrict;
mod sockets;
mod wrap;

pub use boundary::{Boundary, Network};
pub use choose::{Requirement, Sandbox, SandboxError};
pub use level::Level;
pub use programs::{OwnNamespaces, Programs};
pub use report::{Escape, Report, Verdict};
