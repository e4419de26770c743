//! `/config`, `/sandbox` and `/network`: what the session is configured to.

use rheon_policy::SandboxedCommands;
use rheon_sandbox::{Level, NetworkAccess};
use rheon_types::ClientError;

use super::super::open::OpenSession;
use crate::config::{SettingEffect, SettingView};

/// The settings in effect, each with its origin; with a key, that one or its section.
pub(super) fn config(session: &OpenSession, key: &str) -> Result<String, ClientError> {
    let mut shown = session.setup.config.show();
    shown.retain(|shown| shown.effect == SettingEffect::Counts);
    if !key.is_empty() {
        let is_within = |shown: &SettingView| {
            shown.key.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        shown.retain(is_within);
        if shown.is_empty() {
            return Err(ClientError::invalid(format!(
                "{key:?} is not set; list all keys with `rheon config show --origin`"
            )));
        }
    }
    let mut lines: Vec<String> =
        shown.iter().map(|shown| format!("{} = {}  ({})", shown.key, shown.value, shown.origin)).collect();
    if lines.is_empty() {
        lines.push("all settings have their default values".into());
    }
    lines.push("change settings with `rheon config edit`".into());
    Ok(lines.join("\n"))
}

/// What contains commands.
pub(super) fn sandbox(session: &OpenSession) -> String {
    let sandbox = session.toolkit.sandbox();
    let mut lines = vec![match (sandbox.level(), sandbox.shortfall()) {
        (Level::None, _) => "commands run without a sandbox".to_owned(),
        (level, Some(shortfall)) => format!("commands run in a weaker sandbox ({level}): {shortfall}"),
        (level, None) => format!("commands run in a sandbox ({level})"),
    }];
    let settings = &session.setup.config.settings.sandbox;
    lines.push(match settings.held {
        SandboxedCommands::Run => {
            "sandboxed commands run without approval (sandbox.auto_allow = \"allow\")".into()
        }
        SandboxedCommands::Ask => {
            "sandboxed commands need approval (sandbox.auto_allow = \"ask\")".to_owned()
        }
    });
    lines.push(format!(
        "they can write to {} and to a temporary directory",
        session.working_folder().display()
    ));
    lines.push(network(session));
    lines.push("test it with `rheon doctor`; change it in the section [sandbox] of your settings".into());
    lines.join("\n")
}

/// What commands can reach.
pub(super) fn network(session: &OpenSession) -> String {
    match &session.setup.config.settings.sandbox.network {
        NetworkAccess::Blocked => "commands have no network (sandbox.network = \"blocked\")".into(),
        NetworkAccess::Open => "commands can use the network (sandbox.network = \"open\")".into(),
        NetworkAccess::Hosts(hosts) => {
            format!("commands can reach {} (sandbox.network)", hosts.names().join(", "))
        }
    }
}
