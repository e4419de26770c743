//! `Wrap`: how a process is started at each level.

use std::path::PathBuf;
use std::sync::Arc;

use super::boundary::{Boundary, Network};
use super::bubblewrap;
use super::level::Level;
use super::placeholder::Placeholders;
use super::programs::Programs;
use super::restrict::{Files, Restrictions, Sockets, restrict};
use crate::process::{Beginning, Capabilities, Containment, Launcher, Namespaces};

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
            beginning: Beginning::PLAIN,
            containment: Containment::Namespace,
            restrict: Some(Arc::new(move || restrict(&restrictions))),
            guard: Some(Box::new(Placeholders(placeholders))),
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
        Launcher {
            prefix: Vec::new(),
            bash: self.programs.bash.clone(),
            variables: vec![("TMPDIR".into(), self.temporary.display().to_string())],
            // Landlock forbids mounts, so `/proc` shows the processes of the machine.
            beginning: self.beginning(Namespaces::Processes, Capabilities::Dropped),
            containment: self.containment(),
            restrict: Some(Arc::new(move || restrict(&restrictions))),
            guard: None,
        }
    }

    fn plain(&self) -> Launcher {
        Launcher {
            prefix: Vec::new(),
            bash: self.programs.bash.clone(),
            variables: Vec::new(),
            beginning: self.beginning(Namespaces::ProcessesShown, Capabilities::Kept),
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

    /// What the process gets, where the keeper that needs to be root makes `namespaces`.
    fn beginning(&self, namespaces: Namespaces, capabilities: Capabilities) -> Beginning {
        let namespaces = match self.keeper {
            Keeper::PidNamespace => namespaces,
            Keeper::UserNamespace => Namespaces::UserProcesses,
            Keeper::Supervisor => Namespaces::Inherited,
        };
        Beginning { namespaces, capabilities }
    }
}
