//! `Wrap`: how to start a process at each level.

use std::any::Any;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use super::boundary::{Boundary, NetworkAccess};
use super::bubblewrap;
use super::isolation::{Isolation, User};
use super::level::Level;
use super::placeholder::Placeholder;
use super::programs::Programs;
use super::repository::{OpenRepository, open_all};
use super::restrict::{Files, Restrictions, Sockets, restrict};
use super::view::view;
use crate::process::{Capabilities, Containment, Launcher, Namespaces, ProcessGuard, ProcessSetup};

#[derive(Debug, Clone)]
pub(super) struct Wrap {
    pub(super) level: Level,
    pub(super) programs: Programs,
    pub(super) boundary: Boundary,
    /// The temporary directory of the processes.
    pub(super) temporary: PathBuf,
    pub(super) isolation: Isolation,
}

impl Wrap {
    pub(super) fn containment(&self) -> Containment {
        match self.isolation {
            Isolation::AllNamespaces
            | Isolation::Bubblewrap
            | Isolation::PidNamespace
            | Isolation::UserNamespace => Containment::Namespace,
            Isolation::Supervisor => Containment::Supervisor,
        }
    }

    pub(super) fn launcher(&self) -> Launcher {
        match self.level {
            Level::Namespaces => self.namespaces(Vec::new()),
            Level::Landlock => self.landlock(),
            Level::None => self.plain(),
        }
    }

    /// A launcher that may change the repository. The error says why it cannot be opened. If nothing protects the
    /// repository, there is nothing to open.
    pub(super) fn git_launcher(&self) -> Result<Launcher, String> {
        match self.level {
            Level::Namespaces => open_all(&self.boundary).map(|opened| self.namespaces(opened)),
            Level::Landlock => Ok(self.landlock()),
            Level::None => Ok(self.plain()),
        }
    }

    fn namespaces(&self, opened: Vec<OpenRepository>) -> Launcher {
        let (view, placeholders) = view(&self.boundary, &self.temporary, &opened);
        let restrictions =
            Restrictions { files: Files::AsMounted, sockets: self.sockets(Sockets::Namespaced) };
        let launcher = Launcher {
            prefix: Vec::new(),
            bash: self.programs.bash.clone(),
            variables: vec![("TMPDIR".into(), "/tmp".into())],
            setup: ProcessSetup::PLAIN,
            view: None,
            containment: Containment::Namespace,
            restrict: Some(Arc::new(move || restrict(&restrictions))),
            guard: Some(Box::new(ViewGuard { opened, placeholders })),
        };
        let network = self.boundary.network();
        match (self.isolation, &self.programs.bwrap) {
            (Isolation::Bubblewrap, Some(bwrap)) => {
                let arguments = bubblewrap::arguments(view, network);
                Launcher { prefix: std::iter::once(bwrap.into()).chain(arguments).collect(), ..launcher }
            }
            // At this level, either all namespaces are created or nothing is started.
            (
                Isolation::AllNamespaces
                | Isolation::Bubblewrap
                | Isolation::PidNamespace
                | Isolation::UserNamespace
                | Isolation::Supervisor,
                _,
            ) => {
                let namespaces = match network {
                    NetworkAccess::Blocked => Namespaces::All,
                    NetworkAccess::Open => Namespaces::AllButNetwork,
                };
                let setup = ProcessSetup { namespaces, capabilities: Capabilities::Dropped };
                Launcher { setup, view: Some(view), ..launcher }
            }
        }
    }

    fn landlock(&self) -> Launcher {
        let mut writable = self.boundary.roots().to_vec();
        writable.push(self.temporary.clone());
        match (self.isolation, User::current()) {
            // Setting up a user namespace writes there.
            (Isolation::UserNamespace, User::Other) => writable.push("/proc".into()),
            // Root could do harm there, so nothing is started.
            (Isolation::UserNamespace, User::Root)
            | (
                Isolation::AllNamespaces
                | Isolation::Bubblewrap
                | Isolation::PidNamespace
                | Isolation::Supervisor,
                User::Root | User::Other,
            ) => {}
        }
        let restrictions =
            Restrictions { files: Files::OnlyIn(writable), sockets: self.sockets(Sockets::Local) };
        Launcher {
            prefix: Vec::new(),
            bash: self.programs.bash.clone(),
            variables: vec![("TMPDIR".into(), self.temporary.display().to_string())],
            // Landlock forbids mounts, so `/proc` shows the processes of the machine.
            setup: self.setup(Namespaces::Processes, Capabilities::Dropped),
            view: None,
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
            setup: self.setup(Namespaces::ProcessesShown, Capabilities::Preserved),
            view: None,
            containment: self.containment(),
            restrict: None,
            guard: None,
        }
    }

    fn sockets(&self, without_network: Sockets) -> Option<Sockets> {
        match self.boundary.network() {
            NetworkAccess::Blocked => Some(without_network),
            NetworkAccess::Open => None,
        }
    }

    /// The setup of the process. An isolation that requires root creates `namespaces`.
    fn setup(&self, namespaces: Namespaces, capabilities: Capabilities) -> ProcessSetup {
        let namespaces = match self.isolation {
            Isolation::PidNamespace => namespaces,
            Isolation::UserNamespace => Namespaces::UserProcesses,
            Isolation::Supervisor | Isolation::AllNamespaces | Isolation::Bubblewrap => Namespaces::Inherited,
        };
        ProcessSetup { namespaces, capabilities }
    }
}

/// What must live as long as a process with its own view of the file system.
#[derive(Debug)]
struct ViewGuard {
    opened: Vec<OpenRepository>,
    placeholders: Vec<Placeholder>,
}

impl ProcessGuard for ViewGuard {
    /// Restores repositories and removes placeholders. Closing a removed directory takes the file system longer than
    /// removing it, so the handles are returned.
    fn release(self: Box<Self>) -> Box<dyn Any + Send> {
        let settled = self.opened.into_iter().flat_map(OpenRepository::settle);
        let placeholders: Vec<Placeholder> = settled.chain(self.placeholders).collect();
        let removed: Vec<File> = placeholders.into_iter().filter_map(|mut it| it.leave()).collect();
        Box::new(removed)
    }
}
