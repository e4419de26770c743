//! Sessions as files: one directory, one pretty-printed JSON file per session, no index.

mod directory;
mod file_store;
mod format;
mod lock;
mod write;

pub use directory::{delete_session, list_session_ids, load_session, load_sessions_for_agent, save_session};
pub use file_store::FileSessionStore;
pub use format::{SESSION_FILE_BYTES_MAX, SESSION_FILE_VERSION};
