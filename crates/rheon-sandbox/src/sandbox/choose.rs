//! `Sandbox`: the strongest level that this machine enforces, found by trying to escape.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::boundary::{Boundary, NetworkAccess};
use super::call::SandboxCall;
use super::isolation::{Isolation, User};
use super::level::{Level, Requirement};
use super::machine::{Facts, SandboxRequest};
use super::probe;
use super::probe_cache::{ProbeCache, ProbeCacheFile, ProbeResults};
use super::programs::{NamespaceUse, Programs};
use super::report::SandboxReport;
use super::wrap::Wrap;
use crate::network::{HostList, HostProxy};
use crate::process::{Containment, Launcher, SessionHelper};
use crate::temporary::{TemporaryDirectory, sweep_temporary_directories};

/// Why there is no sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error(
        "this machine cannot sandbox commands at level \"{required}\" ({problems}); install bubblewrap (the program bwrap), \
         use a kernel with Landlock (5.13 or later), require a lower level, or choose to run without a sandbox"
    )]
    Unavailable {
        required: Level,
        /// What went wrong at each acceptable level.
        problems: String,
    },
    #[error("cannot prepare the sandbox: {0}")]
    Prepare(#[from] io::Error),
}

/// Limits what tool processes can reach. Clones share the temporary directory.
#[derive(Debug, Clone)]
pub struct Sandbox {
    wrap: Wrap,
    report: SandboxReport,
    shortfall: Option<String>,
    probe_cache: ProbeCache,
    file: Option<ProbeCacheFile>,
    proxy: Arc<HostProxy>,
    _temporary: Arc<TemporaryDirectory>,
}

impl Sandbox {
    /// Picks the strongest level that the machine enforces. Fails if that is below the requirement, and never runs
    /// unsandboxed unless the requirement says so.
    pub async fn choose(requirement: Requirement, boundary: Boundary) -> Result<Self, SandboxError> {
        Self::choose_with(Programs::find(), requirement, boundary).await
    }

    /// Like [`Self::choose`], with the given programs.
    pub async fn choose_with(
        programs: Programs,
        requirement: Requirement,
        boundary: Boundary,
    ) -> Result<Self, SandboxError> {
        Self::choose_cached(programs, requirement, boundary, None).await
    }

    /// Like [`Self::choose_with`], with the probe results cached in the file `memory`. The cache is valid as long as
    /// the machine, the programs and the request are the same.
    pub async fn choose_cached(
        programs: Programs,
        requirement: Requirement,
        boundary: Boundary,
        memory: Option<&Path>,
    ) -> Result<Self, SandboxError> {
        let temporary = Arc::new(TemporaryDirectory::new("rheon-")?);
        drop(tokio::task::spawn_blocking(sweep_temporary_directories));
        let file = memory.map(|path| {
            let asked = SandboxRequest {
                requirement,
                programs: &programs,
                boundary: &boundary,
                temporary: temporary.path(),
            };
            ProbeCacheFile::new(path, &boundary, Facts::gather(&asked))
        });
        let (helper, proxy) = helper_and_proxy(&boundary, &temporary)?;
        let wrap = Wrap {
            level: Level::None,
            programs,
            boundary,
            temporary: temporary.path().canonicalize()?,
            isolation: Isolation::Supervisor,
            helper,
            lease: None,
            watch: None,
        };
        let recalled = file.as_ref().and_then(|file| file.as_ref().ok()?.read());
        let recalled =
            recalled.filter(|it| it.report.level >= requirement.lowest() && holds(&it.report).is_ok());
        let (results, probe_cache) = match recalled {
            Some(results) => (results, ProbeCache::Hit),
            None => {
                let results = find(&wrap, requirement).await?;
                let probe_cache = match &file {
                    None => ProbeCache::Disabled,
                    Some(Err(problem)) => ProbeCache::NotSaved(problem.clone()),
                    Some(Ok(file)) => match file.write(results.clone()) {
                        Ok(()) => ProbeCache::Saved,
                        Err(error) => ProbeCache::NotSaved(error.to_string()),
                    },
                };
                (results, probe_cache)
            }
        };
        let ProbeResults { isolation, report, shortfall } = results;
        let wrap = Wrap { level: report.level, isolation, ..wrap };
        let file = file.and_then(Result::ok);
        if let Some(route) = wrap.helper_route() {
            // So that the first command does not wait for it. A failure occurs again there.
            drop(tokio::task::spawn_blocking(move || drop(route.helper.warm())));
        }
        Ok(Self { wrap, report, shortfall, probe_cache, file, proxy, _temporary: temporary })
    }

    /// One call, with what it may reach beyond the defaults of the session.
    pub fn call(&self, grant: &rheon_types::CallGrant) -> io::Result<SandboxCall> {
        SandboxCall::new(&self.wrap, &self.proxy, grant)
    }

    /// The directory that commands see as `/tmp`, if they see another one there than everybody else.
    pub fn private_tmp(&self) -> Option<&Path> {
        (self.wrap.level == Level::Namespaces).then_some(self.wrap.temporary.as_path())
    }

    /// The temporary directory of the session's commands.
    pub fn temporary(&self) -> &Path {
        &self.wrap.temporary
    }

    /// The user approved a change of a protected path: what is there now is not a command's work.
    pub fn accept_name(&self, path: &Path) {
        self.wrap.boundary.watch().accept(path);
    }

    /// The helper of the session, if commands run in it.
    pub fn helper(&self) -> Option<Arc<SessionHelper>> {
        self.wrap.helper_route().map(|route| route.helper)
    }

    pub fn level(&self) -> Level {
        self.wrap.level
    }

    /// Why a stronger level was not reached, if one was tried.
    pub fn shortfall(&self) -> Option<&str> {
        self.shortfall.as_deref()
    }

    /// Whether the probe results came from the cache.
    pub fn probe_cache(&self) -> &ProbeCache {
        &self.probe_cache
    }

    /// Deletes the cache because a process could not be started. The next session probes again.
    pub fn forget(&self) {
        if let Some(file) = &self.file {
            file.forget();
        }
    }

    /// The probe results: which escapes were tried, and which were open.
    pub fn report(&self) -> &SandboxReport {
        &self.report
    }

    pub fn containment(&self) -> Containment {
        self.wrap.containment()
    }

    /// Tries every escape again.
    pub async fn probe(&self) -> io::Result<SandboxReport> {
        probe::probe(&self.wrap).await.map_err(io::Error::other)
    }

    pub fn launcher(&self) -> Launcher {
        self.wrap.launcher()
    }

    /// A launcher that may change the repository in the workspace root, except for what would make git run programs
    /// later: hooks, settings, and where git looks for them. The error says why the repository cannot be opened.
    pub fn git_launcher(&self) -> Result<Launcher, String> {
        self.wrap.git_launcher()
    }
}

/// The helper of the session, and the proxy for the hosts that its commands may reach.
fn helper_and_proxy(
    boundary: &Boundary,
    temporary: &TemporaryDirectory,
) -> io::Result<(Arc<SessionHelper>, Arc<HostProxy>)> {
    let hosts = match boundary.network() {
        NetworkAccess::Hosts(hosts) => hosts.clone(),
        NetworkAccess::Blocked | NetworkAccess::Open => HostList::default(),
    };
    let proxy = HostProxy::new(hosts);
    let path = temporary.path().canonicalize()?;
    let helper = SessionHelper::new(Some(path), boundary.overlays());
    let (served, runtime) = (Arc::clone(&proxy), tokio::runtime::Handle::current());
    helper.listen(move |listener| {
        // Without it no command reaches a host, which is the safe side.
        drop(served.serve(listener, &runtime));
    });
    Ok((Arc::new(helper), proxy))
}

/// The strongest acceptable level that holds.
async fn find(wrap: &Wrap, requirement: Requirement) -> Result<ProbeResults, SandboxError> {
    let mut problems = Vec::new();
    for level in requirement.levels() {
        match attempt(&Wrap { level, ..wrap.clone() }).await {
            Ok((isolation, report)) => {
                let shortfall = (!problems.is_empty()).then(|| problems.join("; "));
                return Ok(ProbeResults { isolation, report, shortfall });
            }
            Err(problem) => problems.push(format!("{level}: {problem}")),
        }
    }
    Err(SandboxError::Unavailable { required: requirement.lowest(), problems: problems.join("; ") })
}

/// The best isolation of a level that can start processes and holds.
async fn attempt(wrap: &Wrap) -> Result<(Isolation, SandboxReport), String> {
    let mut problems: Vec<String> = Vec::new();
    for isolation in isolations(wrap.level, wrap.programs.namespaces, User::current()) {
        if *isolation == Isolation::Bubblewrap && wrap.programs.bwrap.is_none() {
            problems.push("bubblewrap is not installed".into());
            continue;
        }
        let found = probe::probe(&Wrap { isolation: *isolation, ..wrap.clone() }).await;
        match found.and_then(|report| holds(&report).map(|()| report)) {
            Ok(report) => return Ok((*isolation, report)),
            Err(problem) => problems.push(problem),
        }
    }
    problems.dedup();
    Err(problems.join("; "))
}

/// The isolations for a level, best first.
fn isolations(level: Level, namespaces: NamespaceUse, user: User) -> &'static [Isolation] {
    match (level, namespaces, user) {
        (Level::Namespaces, NamespaceUse::All, _) => &[Isolation::AllNamespaces, Isolation::Bubblewrap],
        (Level::Namespaces, NamespaceUse::ProcessesOnly | NamespaceUse::Never, _) => &[Isolation::Bubblewrap],
        (Level::Landlock | Level::None, NamespaceUse::Never, _) => &[Isolation::Supervisor],
        // Without a sandbox nothing should differ from the user's own shell, so there is no user namespace. With
        // Landlock it needs a writable `/proc`, where root could change kernel settings.
        (Level::None, NamespaceUse::All | NamespaceUse::ProcessesOnly, _)
        | (Level::Landlock, NamespaceUse::All | NamespaceUse::ProcessesOnly, User::Root) => {
            &[Isolation::PidNamespace, Isolation::Supervisor]
        }
        (Level::Landlock, NamespaceUse::All | NamespaceUse::ProcessesOnly, User::Other) => {
            &[Isolation::PidNamespace, Isolation::UserNamespace, Isolation::Supervisor]
        }
    }
}

/// Whether the level blocks what it promises; the error lists what is open.
fn holds(report: &SandboxReport) -> Result<(), String> {
    if report.level == Level::None || report.holds() {
        return Ok(());
    }
    let open: Vec<String> = report.open().map(|escape| escape.to_string()).collect();
    Err(format!("a command could {}", open.join(", ")))
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "choose_names_tests.rs"]
mod names_tests;
