//! One page per subject, each with an example that runs offline. Nothing but documentation.

pub mod hooks;
pub mod limits;
pub mod models;
pub mod output;
pub mod own_state;
pub mod sessions;
pub mod tools;
