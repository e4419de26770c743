//! `ScopeFlag`: which file `rheon mcp add` and `remove` change.

use rheon_app::config::{McpFile, McpScope};
use rheon_app::session::SystemContext;

use super::super::setup::config;
use crate::failure::Failure;

/// Which file holds a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ScopeFlag {
    User,
    Project,
}

impl ScopeFlag {
    pub(super) fn scope(self) -> McpScope {
        match self {
            Self::User => McpScope::User,
            Self::Project => McpScope::Project,
        }
    }
}

/// The file of a scope.
pub(super) fn file(scope: ScopeFlag, system: &SystemContext) -> Result<McpFile, Failure> {
    match scope.scope() {
        McpScope::User => system.dirs.config().map(|dir| McpFile::of_user(&dir)).map_err(Failure::error),
        McpScope::Project => Ok(McpFile::of_project(&config(system)?.project_root)),
    }
}
