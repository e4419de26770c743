//! `rheon doctor`.

use std::io::{IsTerminal as _, stderr, stdin, stdout};

use rheon_app::config::ConfigInputs;
use rheon_app::doctor::{Check, CheckStatus, DoctorRequest, NetworkChecks, examine};
use rheon_app::sessions::EnvVars;
use rheon_text::inert;
use rheon_text::units::count as plural;
use serde_json::json;

use super::setup::system;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::print;
use crate::runtime::block_on;

/// Check this machine and show the next step for each problem
///
/// Checks directories, settings, the model and its API key (which is never shown), the sandbox (by attempting escapes), programs, sessions
/// and disk space. Exits with 1 if there is a problem.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// Also contact every service with a key and try the key; no model is called
    #[arg(long)]
    online: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let environment = system.environment.clone();
        let inputs = ConfigInputs::new(environment.clone(), &system.working_dir);
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
        return Check::ok(TOPIC, "none: this run is non-interactive");
    }
    match environment.text("TERM") {
        Some("dumb") | None => {
            Check::warn(TOPIC, "unknown capabilities", "set TERM, for example to xterm-256color")
        }
        Some(term) if environment.get("NO_COLOR").is_some() => {
            Check::ok(TOPIC, format!("{term}, without colors"))
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
        (0, 0) => text.push_str("No problems found.\n"),
        (0, warn) => text.push_str(&format!("No problems found, {}.\n", plural(warn as u64, "warning"))),
        (bad, _) => text.push_str(&format!("{} found.\n", plural(bad as u64, "problem"))),
    }
    text
}
