//! `Wrap`: how a process is started at each level.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::boundary::{Boundary, Network};
use super::bubblewrap;
use super::level::Level;
use super::programs::Programs;
use super::restrict::{Files, Restrictions, Sockets, restrict};
use crate::process::{Containment, Launcher};

/// How a process is started.
#[derive(Debug, Clone)]
pub(super) struct Wrap {
    pub(super) level: Level,
    pub(super) programs: Programs,
    pub(super) boundary: Boundary,
    /// The folder for temporary files of the processes.
    pub(super) temporary: PathBuf,
    /// What holds the processes together where bubblewrap does not.
    pub(super) keeper: Keeper,
}

/// What holds processes together without bubblewrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeper {
    /// A PID namespace; needs to be root.
    PidNamespace,
    /// A PID namespace within a user namespace.
    UserNamespace,
    /// A process that adopts those that lose their parents.
    Supervisor,
}

impl Wrap {
    /// What holds the processes of one command together.
    pub(super) fn containment(&self) -> Containment {
        match (self.level, self.keeper) {
            (Level::Namespaces, _) | (_, Keeper::PidNamespace | Keeper::UserNamespace) => {
                Containment::Namespace
            }
            (Level::Landlock | Level::None, Keeper::Supervisor) => Containment::Supervisor,
        }
    }

    /// What starts the next process.
    pub(super) fn launcher(&self) -> Launcher {
        match self.level {
            Level::Namespaces => self.namespaces(),
            Level::Landlock => self.landlock(),
            Level::None => self.plain(),
        }
    }

    fn namespaces(&self) -> Launcher {
        let (arguments, placeholders) = bubblewrap::arguments(&self.boundary, &self.temporary);
        let bwrap = self.programs.bwrap.clone().unwrap_or_else(|| "bwrap".into());
        let restrictions =
            Restrictions { files: Files::AsMounted, sockets: self.sockets(Sockets::Namespaced) };
        Launcher {
            prefix: std::iter::once(bwrap.into()).chain(arguments).collect(),
            bash: self.programs.bash.clone(),
            variables: vec![("TMPDIR".into(), "/tmp".into())],
            containment: Containment::Namespace,
            restrict: Some(Arc::new(move || restrict(&restrictions))),
            guard: Some(Box::new(placeholders)),
        }
    }

    fn landlock(&self) -> Launcher {
        let mut writable = self.boundary.roots().to_vec();
        writable.push(self.temporary.clone());
        if self.keeper == Keeper::UserNamespace {
            // A user namespace is set up by writing there. Nobody but root could do harm, and root does not need it.
            writable.push("/proc".into());
        }
        let restrictions =
            Restrictions { files: Files::OnlyIn(writable), sockets: self.sockets(Sockets::Local) };
        let mut prefix = self.keeper(&[]);
        if let Some(setpriv) = &self.programs.setpriv {
            prefix.extend(words(setpriv, &["--bounding-set=-all", "--inh-caps=-all", "--"]));
        }
        Launcher {
            prefix,
            bash: self.programs.bash.clone(),
            variables: vec![("TMPDIR".into(), self.temporary.display().to_string())],
            containment: self.containment(),
            restrict: Some(Arc::new(move || restrict(&restrictions))),
            guard: None,
        }
    }

    fn plain(&self) -> Launcher {
        Launcher {
            prefix: self.keeper(&["--mount-proc"]),
            bash: self.programs.bash.clone(),
            variables: Vec::new(),
            containment: self.containment(),
            restrict: None,
            guard: None,
        }
    }

    /// The kinds of sockets that remain.
    fn sockets(&self, without_network: Sockets) -> Option<Sockets> {
        match self.boundary.network() {
            Network::Blocked => Some(without_network),
            Network::Open => None,
        }
    }

    /// Ends the process with the agent, takes its terminal away and holds it together with its children.
    fn keeper(&self, namespace_arguments: &[&str]) -> Vec<OsString> {
        if self.keeper == Keeper::Supervisor {
            // The supervisor does both without other programs.
            return Vec::new();
        }
        let Programs { setpriv, setsid, unshare, .. } = &self.programs;
        let mut prefix = Vec::new();
        if let Some(setpriv) = setpriv {
            prefix.extend(words(setpriv, &["--pdeathsig", "KILL", "--"]));
        }
        let namespaces: &[&str] = match self.keeper {
            Keeper::PidNamespace => &["--ipc", "--pid"],
            Keeper::UserNamespace => &["--user", "--map-current-user", "--ipc", "--pid"],
            Keeper::Supervisor => &[],
        };
        if let (false, Some(unshare)) = (namespaces.is_empty(), unshare) {
            prefix.extend(words(unshare, namespaces));
            prefix.extend(namespace_arguments.iter().map(OsString::from));
            prefix.extend(["--fork", "--kill-child", "--"].map(OsString::from));
        }
        if let Some(setsid) = setsid {
            prefix.extend(words(setsid, &["--"]));
        }
        prefix
    }
}

fn words(program: &Path, arguments: &[&str]) -> Vec<OsString> {
    std::iter::once(program.into()).chain(arguments.iter().map(OsString::from)).collect()
}
