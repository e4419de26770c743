//! MCP servers as real child processes and over HTTP, well-behaved and not.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod calls;
mod fixture;
mod hostile;
mod http;
mod lifecycle;
mod login;
mod openapi;
mod real;
mod serve;
