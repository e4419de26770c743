//! Of which folder sessions are wanted.

use rheon_app::keeping::Scope;

/// Of which folder sessions are wanted.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ScopeFlags {
    /// Sessions of all folders, not only of this one
    #[arg(short, long)]
    pub(super) all: bool,
}

impl ScopeFlags {
    pub(super) fn scope(&self) -> Scope {
        if self.all { Scope::Everywhere } else { Scope::Project }
    }
}
