//! `SandboxCall`: the sandbox of one call, with what it may reach beyond the defaults of the session.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_types::{CallGrant, NetworkGrant};

use super::boundary::NetworkAccess;
use super::isolation::Isolation;
use super::level::Level;
use super::wrap::Wrap;
use crate::names::NameReport;
use crate::network::{HostContact, HostList, HostProxy};
use crate::process::Launcher;

/// The sandbox of one call. Keep it as long as the call runs: its access to hosts ends when it is dropped.
#[derive(Debug, Clone)]
pub struct SandboxCall {
    wrap: Wrap,
}

impl SandboxCall {
    pub(super) fn new(session: &Wrap, proxy: &Arc<HostProxy>, grant: &CallGrant) -> io::Result<Self> {
        let mut wrap = session.clone();
        if grant.unsandboxed {
            // Nothing differs from the user's own shell, and nothing is left behind.
            let is_sandboxed = wrap.level != Level::None;
            wrap.isolation = if is_sandboxed { Isolation::Supervisor } else { wrap.isolation };
            wrap.level = Level::None;
            wrap.watch = is_sandboxed.then(|| wrap.boundary.watch().clone());
            return Ok(Self { wrap });
        }
        // A weaker level protects none of these paths.
        if let (Level::Namespaces, Some(problem)) = (wrap.level, wrap.boundary.problem()) {
            return Err(io::Error::other(problem.to_owned()));
        }
        let more = match &grant.network {
            NetworkGrant::None | NetworkGrant::All => HostList::default(),
            NetworkGrant::Hosts(hosts) => HostList::parse(hosts).map_err(io::Error::other)?,
        };
        let network = match (wrap.boundary.network(), &grant.network) {
            (NetworkAccess::Open, _) | (_, NetworkGrant::All) => NetworkAccess::Open,
            (NetworkAccess::Blocked, _) if more.is_empty() => NetworkAccess::Blocked,
            (NetworkAccess::Blocked, _) => NetworkAccess::Hosts(more.clone()),
            (NetworkAccess::Hosts(hosts), _) => NetworkAccess::Hosts(hosts.clone().with(&more)),
        };
        let has_hosts = matches!(network, NetworkAccess::Hosts(_));
        wrap.boundary = wrap.boundary.with_network(network);
        for path in &grant.read {
            wrap.boundary = wrap.boundary.with_readable(path);
        }
        for path in &grant.write {
            wrap.boundary = wrap.boundary.with_approved(path);
            if let Some(path) = writable(path) {
                wrap.boundary = wrap.boundary.with_shared(path);
            }
        }
        if has_hosts && wrap.helper_route().is_some() {
            wrap.lease = Some(proxy.lease(&more)?);
        }
        Ok(Self { wrap })
    }

    pub fn level(&self) -> Level {
        self.wrap.level
    }

    pub fn launcher(&self) -> Launcher {
        self.wrap.launcher()
    }

    /// A launcher that may change the repository in the workspace root, except for what would make git run programs
    /// later: hooks, settings, and where git looks for them. The error says why the repository cannot be opened.
    pub fn git_launcher(&self) -> Result<Launcher, String> {
        self.wrap.git_launcher()
    }

    /// What happened to names that commands of the session created, since the last call.
    pub fn take_name_reports(&self) -> Vec<NameReport> {
        self.wrap.boundary.watch().take_reports()
    }

    /// The hosts that the call contacted, or tried to.
    pub fn contacts(&self) -> Vec<HostContact> {
        self.wrap.lease.as_ref().map(|lease| lease.contacts()).unwrap_or_default()
    }
}

/// What to make writable for a path that need not exist: the path, or the directory in which it would be created.
fn writable(path: &Path) -> Option<PathBuf> {
    let existing = if path.symlink_metadata().is_ok() { Some(path) } else { path.parent() };
    existing.filter(|it| it.parent().is_some()).and_then(|it| it.canonicalize().ok())
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
