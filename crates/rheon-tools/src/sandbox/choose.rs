//! `Sandbox`: the highest level of the ladder that this machine keeps, found by trying to get out.

use std::io;
use std::sync::Arc;

use tempfile::TempDir;

use super::boundary::Boundary;
use super::level::Level;
use super::placeholder::Placeholder;
use super::probe;
use super::programs::{OwnNamespaces, Programs};
use super::report::Report;
use super::wrap::{Keeper, Wrap};
use crate::process::{Containment, Launcher};

/// What the caller insists on: Landlock at least, unless somebody said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirement {
    /// This level, or a higher one.
    AtLeast(Level),
    /// None at all, because somebody said so.
    NoSandbox,
}

impl Default for Requirement {
    fn default() -> Self {
        Self::AtLeast(Level::Landlock)
    }
}

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
    _temporary: Arc<TempDir>,
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
        // Agents that were killed may have left some behind.
        boundary.guarded().for_each(|path| Placeholder::sweep(&path));
        let temporary = Arc::new(TempDir::with_prefix("rheon-")?);
        let wrap = Wrap {
            level: Level::None,
            programs,
            boundary,
            temporary: temporary.path().canonicalize()?,
            keeper: Keeper::PidNamespace,
        };
        let (lowest, levels): (Level, &[Level]) = match requirement {
            Requirement::AtLeast(lowest) => (lowest, &[Level::Namespaces, Level::Landlock]),
            Requirement::NoSandbox => (Level::None, &[Level::None]),
        };
        let mut problems = Vec::new();
        for level in levels.iter().copied().filter(|level| *level >= lowest) {
            match attempt(Wrap { level, ..wrap.clone() }).await {
                Ok((wrap, report)) => {
                    let shortfall = (!problems.is_empty()).then(|| problems.join("; "));
                    return Ok(Self { wrap, report, shortfall, _temporary: temporary });
                }
                Err(problem) => problems.push(format!("{level}: {problem}")),
            }
        }
        Err(SandboxError::Unavailable { required: lowest, problems: problems.join("; ") })
    }

    /// The level reached.
    pub fn level(&self) -> Level {
        self.wrap.level
    }

    /// Why a higher level was not reached, if one was tried.
    pub fn shortfall(&self) -> Option<&str> {
        self.shortfall.as_deref()
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
}

/// A level, if processes can be started there and it keeps what it promises.
async fn attempt(wrap: Wrap) -> Result<(Wrap, Report), String> {
    let (wrap, report) = startable(wrap).await?;
    if wrap.level > Level::None && !report.holds() {
        let open: Vec<String> = report.open().map(|escape| escape.to_string()).collect();
        return Err(format!("a command could {}", open.join(", ")));
    }
    Ok((wrap, report))
}

/// The wrap with the best containment that works, and what came of trying to get out of it.
async fn startable(wrap: Wrap) -> Result<(Wrap, Report), String> {
    // Without a sandbox nothing is to differ from the user's own shell, so there is no user namespace.
    let keepers: &[Keeper] = match (wrap.level, wrap.programs.namespaces) {
        (Level::Namespaces, _) if wrap.programs.bwrap.is_none() => {
            return Err("bubblewrap is not installed".into());
        }
        // bubblewrap itself holds the processes together.
        (Level::Namespaces, _) => &[Keeper::PidNamespace],
        (Level::Landlock | Level::None, OwnNamespaces::Avoided) => &[Keeper::Supervisor],
        (Level::None, OwnNamespaces::Tried) => &[Keeper::PidNamespace, Keeper::Supervisor],
        (Level::Landlock, OwnNamespaces::Tried) => {
            &[Keeper::PidNamespace, Keeper::UserNamespace, Keeper::Supervisor]
        }
    };
    let mut problem = String::new();
    for keeper in keepers {
        let wrap = Wrap { keeper: *keeper, ..wrap.clone() };
        match probe::probe(&wrap).await {
            Ok(report) => return Ok((wrap, report)),
            Err(found) => problem = found,
        }
    }
    Err(problem)
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
