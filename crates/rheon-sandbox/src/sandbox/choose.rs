//! `Sandbox`: the highest level of the ladder that this machine keeps, found by trying to get out.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::boundary::Boundary;
use super::isolation::{Isolation, User};
use super::level::{Level, Requirement};
use super::machine::{Asked, Facts};
use super::placeholder::Placeholder;
use super::probe;
use super::probe_cache::{ProbeCache, ProbeCacheFile, ProbeResults};
use super::programs::{NamespaceUse, Programs};
use super::report::SandboxReport;
use super::repository::shut_in;
use super::wrap::Wrap;
use crate::process::{Containment, Launcher};
use crate::temporary::TemporaryDirectory;

/// Why there is no sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The machine cannot enforce what was asked for.
    #[error(
        "this machine cannot hold commands at level \"{required}\" ({problems}); install bubblewrap (the program bwrap), \
         use a kernel with Landlock (5.13 or later), require a lower level, or choose to run without a sandbox"
    )]
    Unavailable {
        /// What was asked for.
        required: Level,
        /// What went wrong at each level that would have done.
        problems: String,
    },
    /// A folder for it could not be made.
    #[error("cannot prepare the sandbox: {0}")]
    Prepare(#[from] io::Error),
}

/// How far processes of tools reach. Clones share the folder for temporary files.
#[derive(Debug, Clone)]
pub struct Sandbox {
    wrap: Wrap,
    report: SandboxReport,
    shortfall: Option<String>,
    probe_cache: ProbeCache,
    file: Option<ProbeCacheFile>,
    _temporary: Arc<TemporaryDirectory>,
}

impl Sandbox {
    /// The highest level that the machine keeps. Refuses if that is below what is required; never runs without a
    /// sandbox unless told so.
    pub async fn choose(requirement: Requirement, boundary: Boundary) -> Result<Self, SandboxError> {
        Self::choose_with(Programs::find(), requirement, boundary).await
    }

    /// The same with these programs.
    pub async fn choose_with(
        programs: Programs,
        requirement: Requirement,
        boundary: Boundary,
    ) -> Result<Self, SandboxError> {
        Self::choose_cached(programs, requirement, boundary, None).await
    }

    /// The same; what is found is kept in the file `memory`, and taken from there without trying anything again as long as
    /// the machine, the programs and what is asked for are the same.
    pub async fn choose_cached(
        programs: Programs,
        requirement: Requirement,
        boundary: Boundary,
        memory: Option<&Path>,
    ) -> Result<Self, SandboxError> {
        // Agents that were killed may have left some behind.
        let left_behind = boundary.guarded().chain(shut_in(&boundary));
        left_behind.for_each(|path| Placeholder::sweep(&path));
        let temporary = Arc::new(TemporaryDirectory::new("rheon-")?);
        let file = memory.map(|path| {
            let asked =
                Asked { requirement, programs: &programs, boundary: &boundary, temporary: temporary.path() };
            ProbeCacheFile::new(path, &boundary, Facts::gather(&asked))
        });
        let wrap = Wrap {
            level: Level::None,
            programs,
            boundary,
            temporary: temporary.path().canonicalize()?,
            isolation: Isolation::Supervisor,
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
        Ok(Self { wrap, report, shortfall, probe_cache, file, _temporary: temporary })
    }

    /// The level reached.
    pub fn level(&self) -> Level {
        self.wrap.level
    }

    /// Why a higher level was not reached, if one was tried.
    pub fn shortfall(&self) -> Option<&str> {
        self.shortfall.as_deref()
    }

    /// Whether what was found is probe_cache for the next session.
    pub fn probe_cache(&self) -> &ProbeCache {
        &self.probe_cache
    }

    /// Forgets what is probe_cache, because a process could not be started: the next session tries again.
    pub fn forget(&self) {
        if let Some(file) = &self.file {
            file.forget();
        }
    }

    /// What was tried when it was chosen, and what is not protected.
    pub fn report(&self) -> &SandboxReport {
        &self.report
    }

    /// What holds the processes of one command together.
    pub fn containment(&self) -> Containment {
        self.wrap.containment()
    }

    /// Tries every way out again.
    pub async fn probe(&self) -> io::Result<SandboxReport> {
        probe::probe(&self.wrap).await.map_err(io::Error::other)
    }

    /// What starts the next process.
    pub fn launcher(&self) -> Launcher {
        self.wrap.launcher()
    }

    /// What starts the next process, which may change the repository in the root of the workspace, except for what would make
    /// git run programs later: hooks, settings, and where these are looked for. An error says why it cannot be opened.
    pub fn git_launcher(&self) -> Result<Launcher, String> {
        self.wrap.git_launcher()
    }
}

/// The highest level that will do and keeps what it promises.
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

/// The best keeper of a level with which processes can be started and that keeps what the level promises.
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

/// What can hold the processes of a level together, best first.
fn isolations(level: Level, namespaces: NamespaceUse, user: User) -> &'static [Isolation] {
    match (level, namespaces, user) {
        (Level::Namespaces, NamespaceUse::All, _) => &[Isolation::AllNamespaces, Isolation::Bubblewrap],
        (Level::Namespaces, NamespaceUse::ProcessesOnly | NamespaceUse::Never, _) => &[Isolation::Bubblewrap],
        (Level::Landlock | Level::None, NamespaceUse::Never, _) => &[Isolation::Supervisor],
        // Without a sandbox nothing is to differ from the user's own shell, so there is no user namespace. With Landlock it
        // needs a `/proc` that can be written, where root could change the kernel's settings.
        (Level::None, NamespaceUse::All | NamespaceUse::ProcessesOnly, _)
        | (Level::Landlock, NamespaceUse::All | NamespaceUse::ProcessesOnly, User::Root) => {
            &[Isolation::PidNamespace, Isolation::Supervisor]
        }
        (Level::Landlock, NamespaceUse::All | NamespaceUse::ProcessesOnly, User::Other) => {
            &[Isolation::PidNamespace, Isolation::UserNamespace, Isolation::Supervisor]
        }
    }
}

/// Whether the level keeps what it promises; what is open if not.
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
