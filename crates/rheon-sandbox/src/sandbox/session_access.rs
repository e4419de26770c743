//! `SessionAccess`: what the user changes for the rest of a session: the network of its commands, and whether they run in
//! the sandbox.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::boundary::NetworkAccess;
use super::level::Level;

/// What all commands of a session have, as it was last set.
#[derive(Debug)]
pub(super) struct SessionAccess(Mutex<AccessState>);

#[derive(Debug)]
struct AccessState {
    network: NetworkAccess,
    switch: SandboxSwitch,
}

/// Whether commands run in the sandbox of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxSwitch {
    On,
    Off,
}

/// Why a session cannot be changed like this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    #[error(
        "hosts cannot be allowed one by one at sandbox level \"{0}\" on this machine; allow the whole network, or run one command outside the sandbox"
    )]
    NoHosts(Level),
    #[error("this session was started without a sandbox; start a new one without --no-sandbox")]
    NoSandbox,
}

impl SessionAccess {
    pub(super) fn new(network: NetworkAccess) -> Self {
        Self(Mutex::new(AccessState { network, switch: SandboxSwitch::On }))
    }

    pub(super) fn network(&self) -> NetworkAccess {
        self.state().network.clone()
    }

    pub(super) fn set_network(&self, network: NetworkAccess) {
        self.state().network = network;
    }

    pub(super) fn switch(&self) -> SandboxSwitch {
        self.state().switch
    }

    pub(super) fn set_switch(&self, switch: SandboxSwitch) {
        self.state().switch = switch;
    }

    fn state(&self) -> MutexGuard<'_, AccessState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
