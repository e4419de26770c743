//! `Sandbox`: the highest level of the ladder that this machine keeps, found by trying to get out.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::boundary::Boundary;
use super::findings::{Findings, FindingsFile, Remembered};
use super::keeper::{Keeper, User};
use super::level::{Level, Requirement};
use super::machine::{Asked, Facts};
use super::placeholder::Placeholder;
use super::probe;
use super::programs::{OwnNamespaces, Programs};
use super::report::Report;
use super::repository::shut_in;
use super::wrap::Wrap;
use crate::process::{Containment, Launcher};
use crate::temporary::TemporaryFolder;

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
    report: Report,
    shortfall: Option<String>,
    remembered: Remembered,
    file: Option<FindingsFile>,
    _temporary: Arc<TemporaryFolder>,
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
        Self::choose_remembered(programs, requirement, boundary, None).await
    }

    /// The same; what is found is kept in the file `memory`, and taken from there without trying anything again as long as
    /// the machine, the programs and what is asked for are the same.
    pub async fn choose_remembered(
        programs: Programs,
        requirement: Requirement,
        boundary: Boundary,
        memory: Option<&Path>,
    ) -> Result<Self, SandboxError> {
        // Agents that were killed may have left some behind.
        let left_behind = boundary.guarded().chain(shut_in(&boundary));
        left_behind.for_each(|path| Placeholder::sweep(&path));
        let temporary = Arc::new(TemporaryFolder::new("rheon-")?);
        let file = memory.map(|path| {
            let asked =
                Asked { requirement, programs: &programs, boundary: &boundary, temporary: temporary.path() };
            FindingsFile::new(path, &boundary, Facts::gather(&asked))
        });
        let wrap = Wrap {
            level: Level::None,
            programs,
            boundary,
            temporary: temporary.path().canonicalize()?,
            keeper: Keeper::Supervisor,
        };
        let recalled = file.as_ref().and_then(|file| file.as_ref().ok()?.read());
        let recalled =
            recalled.filter(|it| it.report.level >= requirement.lowest() && holds(&it.report).is_ok());
        let (findings, remembered) = match recalled {
            Some(findings) => (findings, Remembered::Recalled),
            None => {
                let findings = find(&wrap, requirement).await?;
                let remembered = match &file {
                    None => Remembered::NotAsked,
                    Some(Err(problem)) => Remembered::NotWritten(problem.clone()),
                    Some(Ok(file)) => match file.write(findings.clone()) {
                        Ok(()) => Remembered::Written,
                        Err(error) => Remembered::NotWritten(error.to_string()),
                    },
                };
                (findings, remembered)
            }
        };
        let Findings { keeper, report, shortfall } = findings;
        let wrap = Wrap { level: report.level, keeper, ..wrap };
        let file = file.and_then(Result::ok);
        Ok(Self { wrap, report, shortfall, remembered, file, _temporary: temporary })
    }

    /// The level reached.
    pub fn level(&self) -> Level {
        self.wrap.level
    }

    /// Why a higher level was not reached, if one was tried.
    pub fn shortfall(&self) -> Option<&str> {
        self.shortfall.as_deref()
    }

    /// Whether what was found is remembered for the next session.
    pub fn remembered(&self) -> &Remembered {
        &self.remembered
    }

    /// Forgets what is remembered, because a process could not be started: the next session tries again.
    pub fn forget(&self) {
        if let Some(file) = &self.file {
            file.forget();
        }
    }

    /// What was tried when it was chosen, and what is not protected.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// What holds the processes of one command together.
    pub fn containment(&self) -> Containment {
        self.wrap.containment()
    }

    /// Tries every way out again.
    pub async fn probe(&self) -> io::Result<Report> {
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
async fn find(wrap: &Wrap, requirement: Requirement) -> Result<Findings, SandboxError> {
    let mut problems = Vec::new();
    for level in requirement.levels() {
        match attempt(&Wrap { level, ..wrap.clone() }).await {
            Ok((keeper, report)) => {
                let shortfall = (!problems.is_empty()).then(|| problems.join("; "));
                return Ok(Findings { keeper, report, shortfall });
            }
            Err(problem) => problems.push(format!("{level}: {problem}")),
        }
    }
    Err(SandboxError::Unavailable { required: requirement.lowest(), problems: problems.join("; ") })
}

/// The best keeper of a level with which processes can be started and that keeps what the level promises.
async fn attempt(wrap: &Wrap) -> Result<(Keeper, Report), String> {
    let mut problems: Vec<String> = Vec::new();
    for keeper in keepers(wrap.level, wrap.programs.namespaces, User::current()) {
        if *keeper == Keeper::Bubblewrap && wrap.programs.bwrap.is_none() {
            problems.push("bubblewrap is not installed".into());
            continue;
        }
        let found = probe::probe(&Wrap { keeper: *keeper, ..wrap.clone() }).await;
        match found.and_then(|report| holds(&report).map(|()| report)) {
            Ok(report) => return Ok((*keeper, report)),
            Err(problem) => problems.push(problem),
        }
    }
    problems.dedup();
    Err(problems.join("; "))
}

/// What can hold the processes of a level together, best first.
fn keepers(level: Level, namespaces: OwnNamespaces, user: User) -> &'static [Keeper] {
    match (level, namespaces, user) {
        (Level::Namespaces, OwnNamespaces::Tried, _) => &[Keeper::AllNamespaces, Keeper::Bubblewrap],
        (Level::Namespaces, OwnNamespaces::ForProcesses | OwnNamespaces::Avoided, _) => &[Keeper::Bubblewrap],
        (Level::Landlock | Level::None, OwnNamespaces::Avoided, _) => &[Keeper::Supervisor],
        // Without a sandbox nothing is to differ from the user's own shell, so there is no user namespace. With Landlock it
        // needs a `/proc` that can be written, where root could change the kernel's settings.
        (Level::None, OwnNamespaces::Tried | OwnNamespaces::ForProcesses, _)
        | (Level::Landlock, OwnNamespaces::Tried | OwnNamespaces::ForProcesses, User::Root) => {
            &[Keeper::PidNamespace, Keeper::Supervisor]
        }
        (Level::Landlock, OwnNamespaces::Tried | OwnNamespaces::ForProcesses, User::Other) => {
            &[Keeper::PidNamespace, Keeper::UserNamespace, Keeper::Supervisor]
        }
    }
}

/// Whether the level keeps what it promises; what is open if not.
fn holds(report: &Report) -> Result<(), String> {
    if report.level == Level::None || report.holds() {
        return Ok(());
    }
    let open: Vec<String> = report.open().map(|escape| escape.to_string()).collect();
    Err(format!("a command could {}", open.join(", ")))
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
