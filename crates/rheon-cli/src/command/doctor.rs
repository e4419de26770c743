//! `rheon doctor`: what works here and what does not.

use std::io::{IsTerminal as _, stderr, stdin, stdout};

use rheon_app::config::ConfigInputs;
use rheon_app::doctor::{Check, CheckStatus, DoctorRequest, NetworkChecks, examine};
use rheon_app::sessions::EnvVars;
use rheon_text::inert;
use serde_json::json;

use super::setup::system;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::print;
use crate::runtime::block_on;

/// Find out what works here and what does not, with the next step for each
///
/// Looks at folders, settings, the model and its key (which is never shown), the sandbox (by trying to get out of it), programs, sessions and
/// the disk. Ends with 1 if something is bad.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// Call up the services for which there are keys, too, and try the keys; no model is asked
    #[arg(long)]
    online: bool,

    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let environment = system.environment.clone();
        let inputs = ConfigInputs::new(environment.clone(), &system.working_folder);
        let network = if self.online { NetworkChecks::On } else { NetworkChecks::Off };
        let examination = DoctorRequest { system, inputs, network };
        let found = block_on(async { Ok(examine(examination).await) })?;
        let version =
            format!("{} ({}, {})", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
        let mut checks = vec![Check::ok("rheon", version)];
        checks.extend(found);
        checks.push(terminal(&environment));
        if self.json {
            print(&as_json(&json!({ "checks": checks }))?)?;
        } else {
            print(&inert(&text(&checks)))?;
        }
        let is_bad = checks.iter().any(|check| check.standing == CheckStatus::Bad);
        Ok(if is_bad { Exit::Error } else { Exit::Done })
    }
}

fn terminal(environment: &EnvVars) -> Check {
    const TOPIC: &str = "terminal";
    if !stdin().is_terminal() || !stdout().is_terminal() || !stderr().is_terminal() {
        return Check::ok(TOPIC, "none here, so nobody can be asked");
    }
    match environment.text("TERM") {
        Some("dumb") | None => {
            Check::warn(TOPIC, "it is not known what it can do", "set TERM, for instance to xterm-256color")
        }
        Some(term) if environment.get("NO_COLOR").is_some() => {
            Check::ok(TOPIC, format!("{term}, without colours"))
        }
        Some(term) => Check::ok(TOPIC, term),
    }
}

fn text(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let standing = match check.standing {
            CheckStatus::Ok => "ok",
            CheckStatus::Warn => "warn",
            CheckStatus::Bad => "BAD",
        };
        text.push_str(&format!("{standing:<5} {:<9} {}\n", check.topic, check.what));
        for line in check.next.iter().flat_map(|next| next.lines()) {
            text.push_str(&format!("{:<16}→ {}\n", "", line.trim()));
        }
    }
    let count = |standing| checks.iter().filter(|check| check.standing == standing).count();
    match (count(CheckStatus::Bad), count(CheckStatus::Warn)) {
        (0, 0) => text.push_str("All is well.\n"),
        (0, warn) => text.push_str(&format!("It works; {warn} could be better.\n")),
        (bad, _) => text.push_str(&format!("{bad} must be mended.\n")),
    }
    text
}
