//! Runs become files and rows. The journal of a session is the truth; everything else here can be rebuilt from it, or says
//! that it cannot.

pub mod export;
mod session_name;
pub mod tree;

pub use session_name::{SessionName, SessionNameError};
