//! `SandboxControl`: what the user changes about the sandbox of commands while the session runs.

use rheon_sandbox::{HostList, NetworkAccess, SandboxSwitch};
use rheon_store::fold::SessionChoices;
use rheon_tools::Toolkit;
use rheon_types::ClientError;
use rheon_types::event::{Notice, NoticeTopic, SessionNetwork, SessionSandbox};

use crate::config::{Config, Layer, SettingEffect};
use crate::system::NoticeSink;

/// The sandbox of a session, and the settings that say what may be changed.
pub(super) struct SandboxControl<'a> {
    pub(super) toolkit: &'a Toolkit,
    pub(super) config: &'a Config,
}

impl SandboxControl<'_> {
    /// Changes what commands reach of the network; without a value, to what is configured.
    pub(super) fn set_network(&self, network: Option<&SessionNetwork>) -> Result<(), ClientError> {
        let network = match network {
            None => self.config.settings.sandbox.network.clone(),
            Some(SessionNetwork::Blocked) => NetworkAccess::Blocked,
            Some(SessionNetwork::Hosts(hosts)) => {
                self.not_managed("sandbox.network")?;
                NetworkAccess::Hosts(HostList::parse(hosts).map_err(ClientError::invalid)?)
            }
            Some(SessionNetwork::Open) => {
                self.not_managed("sandbox.network")?;
                NetworkAccess::Open
            }
        };
        self.toolkit.set_network(network).map_err(ClientError::invalid)
    }

    /// Switches the sandbox.
    pub(super) fn set_sandbox(&self, sandbox: SessionSandbox) -> Result<(), ClientError> {
        let switch = match sandbox {
            SessionSandbox::On => SandboxSwitch::On,
            SessionSandbox::Off => {
                self.not_managed("sandbox.require")?;
                SandboxSwitch::Off
            }
        };
        self.toolkit.set_sandbox(switch).map_err(ClientError::invalid)
    }

    /// What commands reach of the network, in a sentence.
    pub(super) fn network_text(&self) -> String {
        let network = self.toolkit.sandbox().network();
        let is_configured = network == self.config.settings.sandbox.network;
        let origin = if is_configured { "sandbox.network" } else { "in this session" };
        match network {
            NetworkAccess::Blocked => format!("commands have no network ({origin})"),
            NetworkAccess::Open => format!("commands can use the network ({origin})"),
            NetworkAccess::Hosts(hosts) => {
                format!("commands can reach {} ({origin})", hosts.entries().join(", "))
            }
        }
    }

    /// What contains commands, in a sentence.
    pub(super) fn sandbox_text(&self) -> String {
        use rheon_sandbox::Level;
        let sandbox = self.toolkit.sandbox();
        match (sandbox.switch(), sandbox.level(), sandbox.shortfall()) {
            (SandboxSwitch::Off, ..) => {
                "commands run without a sandbox in this session, and each can do what you can do; \
                 switch it on with /sandbox on"
                    .to_owned()
            }
            (SandboxSwitch::On, Level::None, _) => "commands run without a sandbox".to_owned(),
            (SandboxSwitch::On, level, Some(shortfall)) => {
                format!("commands run in a weaker sandbox ({level}): {shortfall}")
            }
            (SandboxSwitch::On, level, None) => format!("commands run in a sandbox ({level})"),
        }
    }

    /// Restores what the user had changed. A sandbox that was off must be switched off again each time.
    pub(super) fn restore(&self, chosen: &SessionChoices, tell: &NoticeSink) {
        if let Some(network) = &chosen.network
            && let Err(error) = self.set_network(Some(network))
        {
            let message = format!("the network of this session is as configured: {error}");
            tell(Notice::warning(NoticeTopic::Sandbox, message));
        }
        if chosen.sandbox == Some(SessionSandbox::Off) {
            let message = "commands run in the sandbox again; switch it off with /sandbox off";
            tell(Notice::info(NoticeTopic::Sandbox, message));
        }
    }

    /// What the administrator of the machine set stays.
    fn not_managed(&self, key: &str) -> Result<(), ClientError> {
        let is_managed = self.config.show().iter().any(|shown| {
            shown.key == key && shown.effect == SettingEffect::Counts && shown.origin.layer == Layer::Managed
        });
        if is_managed {
            return Err(ClientError::invalid(format!("{key} is set by the administrator of this machine")));
        }
        Ok(())
    }
}
