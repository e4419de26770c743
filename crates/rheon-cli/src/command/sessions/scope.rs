//! Of which folder sessions are wanted.

use rheon_app::sessions::ListScope;

/// Of which folder sessions are wanted.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ScopeFlags {
    /// Sessions of all folders, not only of this one
    #[arg(short, long)]
    pub(super) all: bool,
}

impl ScopeFlags {
    pub(super) fn scope(&self) -> ListScope {
        if self.all { ListScope::Everywhere } else { ListScope::Project }
    }
}
