//! `MemoryStore`: the memory as one session has it.

use std::sync::Arc;

use rheon_store::sqlite::Memory;
use rheon_types::SessionId;

/// The memory as one session has it.
#[derive(Debug, Clone)]
pub struct MemoryStore {
    pub memory: Arc<Memory>,
    /// The project, as the memory names it.
    pub project: String,
    /// The session that learns and is remembered.
    pub session_id: SessionId,
    /// The session that it was forked from.
    pub parent: Option<SessionId>,
}
