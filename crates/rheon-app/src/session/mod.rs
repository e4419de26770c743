//! An open session: everything that is configured becomes an agent, reached as a client.

mod client;

pub use client::{Asking, ClientParts, LocalClient, Past, Watch};
