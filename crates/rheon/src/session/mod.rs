//! The whole product in a program: a project, its instructions, sandboxed tools, a journal.

mod builder;
mod handle;
mod reply;
mod run;

pub use builder::SessionBuilder;
pub use handle::Session;
pub use reply::Reply;
pub use run::{EventsOfRun, Run, TextOfRun};
