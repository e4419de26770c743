//! Tests of the crate through its public doors.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod cache_meter;
mod code_map;
mod context;
mod context_wire;
mod demo;
mod extensions;
mod failures;
mod fixture;
mod home;
mod long_session;
mod memory;
mod observe;
mod pipe;
mod pipe_end;
mod prompt_bytes;
mod protocol;
mod protocol_children;
mod protocol_fixture;
mod protocol_flow;
mod sequences;
mod sessions;
