//! Stores runs as files and rows. The journal of a session is the source of truth. Everything else in this crate can
//! be rebuilt from journals, or documents that it cannot.

#![allow(missing_docs)]

pub mod blobs;
pub mod checkpoint;
pub mod claude;
pub mod dedup;
mod directories;
pub mod export;
pub mod fold;
pub mod journal;
pub mod rewind;
mod session_name;
pub mod sessions;
pub mod sqlite;
pub mod tree;
mod truncate;

pub use session_name::{SessionName, SessionNameError};
pub use truncate::TruncationReport;
