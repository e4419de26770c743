//! Runs become files and rows. The journal of a session is the truth; everything else here can be rebuilt from it, or says
//! that it cannot.

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
