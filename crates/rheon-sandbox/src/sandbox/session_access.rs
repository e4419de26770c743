//! What the user changes for the rest of a session: the network of its commands, and whether they run in the sandbox.

use std::sync::PoisonError;

use rheon_types::CallGrant;

use super::boundary::NetworkAccess;
use super::choose::Sandbox;
use super::level::Level;
use super::wrap::Wrap;
use crate::network::HostList;

/// What all commands of a session have, as it was last set.
#[derive(Debug, Clone)]
pub(super) struct SessionAccess {
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
        Self { network, switch: SandboxSwitch::On }
    }
}

impl Sandbox {
    /// What commands reach of the network without a grant.
    pub fn network(&self) -> NetworkAccess {
        self.access().network
    }

    /// Changes what commands that start from now on reach of the network.
    pub fn set_network(&self, network: NetworkAccess) -> Result<(), AccessError> {
        let hosts = match &network {
            NetworkAccess::Hosts(_) if self.helper().is_none() => {
                return Err(AccessError::NoHosts(self.level()));
            }
            NetworkAccess::Hosts(hosts) => hosts.clone(),
            NetworkAccess::Blocked | NetworkAccess::Open => HostList::default(),
        };
        self.proxy.set_session(hosts);
        self.access.write().unwrap_or_else(PoisonError::into_inner).network = network;
        Ok(())
    }

    pub fn switch(&self) -> SandboxSwitch {
        self.access().switch
    }

    /// Says whether commands that start from now on run in the sandbox.
    pub fn set_switch(&self, switch: SandboxSwitch) -> Result<(), AccessError> {
        if self.level() == Level::None && switch == SandboxSwitch::On {
            return Err(AccessError::NoSandbox);
        }
        self.access.write().unwrap_or_else(PoisonError::into_inner).switch = switch;
        Ok(())
    }

    fn access(&self) -> SessionAccess {
        self.access.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How processes start, with the network that the session has now.
    pub(super) fn session_wrap(&self) -> Wrap {
        let mut wrap = self.wrap.clone();
        wrap.boundary = wrap.boundary.with_network(self.access().network);
        wrap
    }

    /// A grant, or everything where the user switched the sandbox off.
    pub(super) fn session_grant(&self, grant: &CallGrant) -> CallGrant {
        let unsandboxed = grant.unsandboxed || self.switch() == SandboxSwitch::Off;
        CallGrant { unsandboxed, ..grant.clone() }
    }
}
