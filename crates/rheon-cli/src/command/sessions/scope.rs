//! Which directories a command covers.

use rheon_app::keeping::Scope;

#[derive(Debug, Clone, clap::Args)]
pub(super) struct ScopeFlags {
    /// Include sessions of all directories
    #[arg(short, long)]
    pub(super) all: bool,
}

impl ScopeFlags {
    pub(super) fn scope(&self) -> Scope {
        if self.all { Scope::Everywhere } else { Scope::Project }
    }
}
