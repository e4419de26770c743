//! The sandbox: how far the process of a tool reaches, and what the machine can enforce of that.

mod boundary;
mod bubblewrap;
mod choose;
mod findings;
mod keeper;
mod level;
mod machine;
mod placeholder;
mod probe;
mod programs;
mod report;
mod repository;
mod restrict;
mod sockets;
mod view;
mod wrap;

pub use boundary::{Boundary, Network, Sight};
pub use choose::{Sandbox, SandboxError};
pub use findings::Remembered;
pub use level::{Level, Requirement};
pub use programs::{OwnNamespaces, Programs};
pub use report::{Escape, Report, Verdict};
