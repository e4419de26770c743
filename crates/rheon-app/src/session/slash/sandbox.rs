//! `/sandbox`, `/network` and `/publish`: what contains commands, what they reach and who reaches their servers, shown and
//! changed for this session.

use rheon_policy::SandboxedCommands;
use rheon_sandbox::NetworkAccess;
use rheon_types::ClientError;
use rheon_types::event::{SessionNetwork, SessionSandbox};
use rheon_types::protocol::{Ack, Command};

use super::super::open::OpenSession;
use super::outcome::Slash;

const SANDBOX_USAGE: &str = "use /sandbox off or /sandbox on";
const NETWORK_USAGE: &str =
    "use /network off, on, allow HOST, remove HOST or reset, as in /network allow registries";
const PUBLISH_USAGE: &str =
    "use /publish PORT, /publish PORT LOCAL_PORT or /publish stop PORT, as in /publish 5173";

/// Shows what contains commands, or switches it.
pub(super) fn sandbox(session: &OpenSession, arguments: &str) -> Result<Slash, ClientError> {
    let sandbox = match arguments {
        "" => return Ok(shown(sandbox_text(session))),
        "on" => SessionSandbox::On,
        "off" => SessionSandbox::Off,
        _ => return Err(ClientError::invalid(SANDBOX_USAGE)),
    };
    Ok(Slash::Command(Command::SetSandbox { sandbox }))
}

/// Shows what commands reach of the network, or changes it.
pub(super) fn network(session: &OpenSession, arguments: &str) -> Result<Slash, ClientError> {
    let (action, hosts) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    let hosts: Vec<String> =
        hosts.split([' ', ',']).filter(|host| !host.is_empty()).map(str::to_owned).collect();
    let network = match (action, hosts.is_empty()) {
        ("", _) => return Ok(shown(format!("{}\n{NETWORK_USAGE}", session.sandbox().network_text()))),
        ("off" | "blocked", true) => Some(SessionNetwork::Blocked),
        ("on" | "open", true) => Some(SessionNetwork::Open),
        ("reset", true) => None,
        ("allow" | "add", false) => {
            let mut listed = listed(session);
            listed.extend(hosts.into_iter().filter(|host| !listed.contains(host)).collect::<Vec<_>>());
            Some(SessionNetwork::Hosts(listed))
        }
        ("remove", false) => {
            let mut listed = listed(session);
            if let Some(unknown) = hosts.iter().find(|host| !listed.contains(host)) {
                return Err(ClientError::invalid(format!("{unknown:?} is not among the allowed hosts")));
            }
            listed.retain(|host| !hosts.contains(host));
            Some(if listed.is_empty() { SessionNetwork::Blocked } else { SessionNetwork::Hosts(listed) })
        }
        _ => return Err(ClientError::invalid(NETWORK_USAGE)),
    };
    Ok(Slash::Command(Command::SetNetwork { network }))
}

fn shown(text: String) -> Slash {
    Slash::Done(Ack { notes: vec![text], ..Ack::default() })
}

/// The hosts that commands reach now, as settings spell them.
fn listed(session: &OpenSession) -> Vec<String> {
    match session.toolkit.sandbox().network() {
        NetworkAccess::Hosts(hosts) => hosts.entries(),
        NetworkAccess::Blocked | NetworkAccess::Open => Vec::new(),
    }
}

fn sandbox_text(session: &OpenSession) -> String {
    let control = session.sandbox();
    let settings = &session.setup.config.settings.sandbox;
    let auto_allow = match settings.held {
        SandboxedCommands::Run => {
            "sandboxed commands run without approval (sandbox.auto_allow = \"allow\")".to_owned()
        }
        SandboxedCommands::Ask => {
            "sandboxed commands need approval (sandbox.auto_allow = \"ask\")".to_owned()
        }
    };
    let lines = [
        control.sandbox_text(),
        auto_allow,
        format!("they can write to {} and to a temporary directory", session.working_dir().display()),
        control.network_text(),
        format!(
            "test it with `rheon doctor`; {SANDBOX_USAGE} for this session; change it for all in the section [sandbox] of your settings"
        ),
    ];
    lines.join("\n")
}

/// Lists what is published, or publishes or withdraws a server.
pub(super) fn publish(session: &OpenSession, arguments: &str) -> Result<Slash, ClientError> {
    let port = |text: &str| {
        text.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(|| ClientError::invalid(PUBLISH_USAGE))
    };
    let words: Vec<&str> = arguments.split_whitespace().collect();
    Ok(Slash::Command(match words.as_slice() {
        [] => return Ok(Slash::Done(Ack { notes: vec![published(session)?], ..Ack::default() })),
        ["stop", stopped] => Command::WithdrawPort { port: port(stopped)? },
        [published] => Command::PublishPort { port: port(published)?, local_port: None },
        [published, local] => Command::PublishPort { port: port(published)?, local_port: Some(port(local)?) },
        _ => return Err(ClientError::invalid(PUBLISH_USAGE)),
    }))
}

fn published(session: &OpenSession) -> Result<String, ClientError> {
    let mut lines = session.published()?.lines();
    lines.push(PUBLISH_USAGE.into());
    Ok(lines.join("\n"))
}
