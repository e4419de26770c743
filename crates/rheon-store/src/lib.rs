//! Runs become files and rows. The journal of a session is the truth; everything else here can be rebuilt from it, or says
//! that it cannot.

pub mod blobs;
mod brief;
pub mod checkpoint;
pub mod claude;
pub mod export;
pub mod fold;
mod folders;
pub mod journal;
pub mod rewind;
mod session_name;
pub mod sessions;
pub mod slim;
pub mod sqlite;
pub mod tree;

pub use brief::LeftOut;
pub use session_name::{SessionName, SessionNameError};
