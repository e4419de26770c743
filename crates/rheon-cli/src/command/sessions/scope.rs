//! Which directories a command covers.

use rheon_app::sessions::ListScope;

#[derive(Debug, Clone, clap::Args)]
pub(super) struct ScopeFlags {
    /// Include sessions of all directories
    #[arg(short, long)]
    pub(super) all: bool,
}

impl ScopeFlags {
    pub(super) fn scope(&self) -> ListScope {
        if self.all { ListScope::Everywhere } else { ListScope::Project }
    }
}
