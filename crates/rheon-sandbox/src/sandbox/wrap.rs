//! `Wrap`: how to start a process at each level.

use std::any::Any;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use super::boundary::{Boundary, NetworkAccess};
use super::bubblewrap;
use super::isolation::Isolation;
use super::level::Level;
use super::placeholder::Placeholder;
use super::programs::Programs;
use super::repository::{OpenRepository, open_all};
use super::view::{CacheView, view};
use crate::network::ProxyLease;
use crate::process::{
    Capabilities, Containment, Files, HelperNetwork, HelperRoute, Launcher, Namespaces, ProcessGuard,
    ProcessSetup, Restrictions, SessionHelper, Sockets,
};

#[derive(Debug, Clone)]
pub(super) struct Wrap {
    pub(super) level: Level,
    pub(super) programs: Programs,
    pub(super) boundary: Boundary,
    /// The temporary directory of the processes.
    pub(super) temporary: PathBuf,
    pub(super) isolation: Isolation,
    pub(super) helper: Arc<SessionHelper>,
    /// One call's access to hosts.
    pub(super) lease: Option<ProxyLease>,
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
        let helper = self.helper_route();
        let caches = self.caches(helper.as_ref());
        let (view, placeholders) = view(&self.boundary, &self.temporary, &opened, &caches);
        let restrictions =
            Restrictions { files: Files::AsMounted, sockets: self.sockets(Sockets::Namespaced) };
        let launcher = Launcher {
            prefix: Vec::new(),
            bash: self.programs.bash.clone(),
            variables: self.variables("/tmp".into(), caches),
            setup: ProcessSetup::PLAIN,
            view: None,
            containment: Containment::Namespace,
            restrictions: Some(restrictions),
            helper: None,
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
                let namespaces =
                    if network.is_confined() { Namespaces::All } else { Namespaces::AllButNetwork };
                let setup = ProcessSetup { namespaces, capabilities: Capabilities::Dropped };
                Launcher { setup, view: Some(view), helper, ..launcher }
            }
        }
    }

    /// The session helper, where it can be used.
    pub(super) fn helper_route(&self) -> Option<HelperRoute> {
        let is_used = self.level == Level::Namespaces
            && self.isolation == Isolation::AllNamespaces
            && SessionHelper::is_available();
        let network = match self.boundary.network() {
            NetworkAccess::Blocked | NetworkAccess::Hosts(_) => HelperNetwork::Session,
            NetworkAccess::Open => HelperNetwork::Machine,
        };
        is_used.then(|| HelperRoute { helper: Arc::clone(&self.helper), network })
    }

    /// The package caches: those with a layer, and for the others a directory of their own.
    fn caches(&self, helper: Option<&HelperRoute>) -> CacheView {
        let mut view = CacheView { is_full: self.boundary.are_caches_full(), ..CacheView::default() };
        let failed = match helper {
            Some(route) if !self.boundary.extras().caches.is_empty() => route.helper.failed_overlays().ok(),
            Some(_) | None => None,
        };
        for layer in &self.boundary.extras().caches {
            let mounted = layer.overlay.as_ref().map(|overlay| &overlay.lower);
            let mounted = mounted.filter(|lower| {
                failed.as_ref().is_some_and(|failed| failed.iter().all(|(path, _)| path != *lower))
            });
            match (mounted, &layer.private) {
                (Some(lower), _) => view.mounted.push(lower.clone()),
                (None, Some(private)) => {
                    view.private.push(private.folder.clone());
                    view.variables.extend(private.variables.iter().cloned());
                }
                (None, None) => {}
            }
        }
        view
    }

    /// The variables that every command gets.
    fn variables(&self, temporary: String, caches: CacheView) -> Vec<(String, String)> {
        let mut variables = vec![("TMPDIR".into(), temporary)];
        variables.extend(caches.variables);
        variables.extend(self.boundary.extras().variables.iter().cloned());
        // Without the port there is no way to the hosts, and the command says so itself.
        if let Some((lease, port)) =
            self.lease.as_ref().and_then(|lease| Some((lease, self.helper.port().ok()?)))
        {
            variables.extend(lease.variables(port));
        }
        variables
    }

    fn landlock(&self) -> Launcher {
        let mut writable = self.boundary.roots().to_vec();
        writable.push(self.temporary.clone());
        writable.extend(self.boundary.extras().writable.iter().cloned());
        let caches = self.caches(None);
        writable.extend(caches.private.iter().filter(|_| !caches.is_full).cloned());
        let restrictions =
            Restrictions { files: Files::OnlyIn(writable), sockets: self.sockets(Sockets::Local) };
        Launcher {
            prefix: Vec::new(),
            bash: self.programs.bash.clone(),
            variables: self.variables(self.temporary.display().to_string(), caches),
            // Landlock forbids mounts, so `/proc` shows the processes of the machine.
            setup: self.setup(Namespaces::Processes, Capabilities::Dropped),
            view: None,
            containment: self.containment(),
            restrictions: Some(restrictions),
            helper: None,
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
            restrictions: None,
            helper: None,
            guard: None,
        }
    }

    fn sockets(&self, without_network: Sockets) -> Option<Sockets> {
        self.boundary.network().is_confined().then_some(without_network)
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
