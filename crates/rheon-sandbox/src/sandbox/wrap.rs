//! `Wrap`: how to start a process at each level.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;

use super::boundary::{Boundary, NetworkAccess};
use super::bubblewrap;
use super::isolation::Isolation;
use super::level::Level;
use super::programs::Programs;
use super::repository::{OpenRepository, open_all};
use super::view::{CacheView, view};
use crate::names::{NameWatch, WatchedCommand};
use crate::network::ProxyLease;
use crate::process::{
    Capabilities, Containment, Files, HelperNetwork, HelperRoute, Launcher, Namespaces, ProcessGuard,
    ProcessSetup, ResourceLimits, Restrictions, SessionHelper, Sockets,
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
    /// The names that commands create, unless the session has no sandbox.
    pub(super) watch: Option<NameWatch>,
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
        let watch = self.boundary.watch();
        let (command, guarded) = watch.begin(&self.boundary.extras().approved);
        opened.iter().for_each(|repository| watch.expect_absent(repository.missing()));
        let view = view(&self.boundary, &self.temporary, &opened, &caches, guarded);
        let confined = self.boundary.network().is_confined();
        let restrictions =
            Restrictions { files: Files::AsMounted, sockets: confined.then_some(Sockets::Namespaced) };
        let launcher = Launcher {
            prefix: Vec::new(),
            bash: self.programs.bash.clone(),
            variables: self.variables("/tmp".into(), caches),
            setup: ProcessSetup::PLAIN,
            view: None,
            containment: Containment::Namespace,
            restrictions: Some(restrictions),
            limits: self.boundary.limits(),
            helper: None,
            guard: Some(Box::new(ViewGuard { opened, watch: watch.clone(), command })),
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
                    view.private.push(private.dir.clone());
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
        // Nothing hides the sockets of other programs here.
        let is_confined = self.boundary.network().is_confined();
        let sockets = if is_confined { Sockets::Pairs } else { Sockets::NoPaths };
        let restrictions = Restrictions { files: Files::OnlyIn(writable), sockets: Some(sockets) };
        Launcher {
            prefix: Vec::new(),
            bash: self.programs.bash.clone(),
            variables: self.variables(self.temporary.display().to_string(), caches),
            // Landlock forbids mounts, so `/proc` shows the processes of the machine.
            setup: self.setup(Namespaces::Processes, Capabilities::Dropped),
            view: None,
            containment: self.containment(),
            restrictions: Some(restrictions),
            limits: self.boundary.limits(),
            helper: None,
            guard: Some(Box::new(CommandGuard(
                self.boundary.watch().begin(&self.boundary.extras().approved).0,
            ))),
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
            limits: ResourceLimits::default(),
            helper: None,
            guard: self
                .watch
                .as_ref()
                .map(|watch| -> Box<dyn ProcessGuard> { Box::new(CommandGuard(watch.begin_trusted())) }),
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
struct ViewGuard {
    opened: Vec<OpenRepository>,
    watch: NameWatch,
    command: WatchedCommand,
}

impl ProcessGuard for ViewGuard {
    /// Restores repositories, and looks for names that the command created.
    fn release(self: Box<Self>) -> Box<dyn Any + Send> {
        self.opened.into_iter().for_each(|repository| repository.settle(&self.watch));
        drop(self.command);
        Box::new(())
    }
}

/// A command without a view of its own.
struct CommandGuard(WatchedCommand);

impl ProcessGuard for CommandGuard {
    fn release(self: Box<Self>) -> Box<dyn Any + Send> {
        drop(self.0);
        Box::new(())
    }
}
