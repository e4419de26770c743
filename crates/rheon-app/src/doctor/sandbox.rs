//! What holds commands here, found by trying to get out.

use std::sync::Arc;

use rheon_sandbox::{EscapeVerdict, Level, Requirement, SandboxReport};

use super::check::Check;
use crate::config::Config;
use crate::session::{Surroundings, Tell, toolkit};

const TOPIC: &str = "sandbox";

pub(super) async fn sandbox(surroundings: &Surroundings, config: &Config) -> Vec<Check> {
    let quiet: Tell = Arc::new(|_| {});
    let toolkit = match toolkit(surroundings, config, Default::default(), &quiet).await {
        Ok(toolkit) => toolkit,
        Err(error) => {
            return vec![Check::bad(TOPIC, error.to_string(), "`rheon policy test` looks at the rules")];
        }
    };
    let (sandbox, required) = (toolkit.sandbox(), config.settings.sandbox.require);
    // What an earlier session found may be remembered; here it is tried again.
    let report = match sandbox.probe().await {
        Ok(report) => report,
        Err(error) => {
            let what = format!("the ways out could not be tried: {error}");
            return vec![Check::bad(TOPIC, what, "look whether bash and bwrap run here")];
        }
    };
    let level = sandbox.level();
    let shortfall = sandbox.shortfall().map_or_else(String::new, |why| format!(" ({why})"));
    let what = format!("commands are held at level {level}: {}{shortfall}", summary(&report));
    let mut checks = vec![match (level, required) {
        (Level::None, Requirement::NoSandbox) => Check::warn(
            TOPIC,
            "commands are not held, as configured",
            "take sandbox.require = \"none\" out of your settings",
        ),
        (Level::None, Requirement::AtLeast(wanted)) => Check::bad(
            TOPIC,
            format!("this machine cannot hold commands at level {wanted}"),
            "install bubblewrap (bwrap) or use a kernel with Landlock; or set sandbox.require = \"none\"",
        ),
        (Level::Landlock, _) => {
            Check::warn(TOPIC, what, "install bubblewrap (bwrap), or allow user namespaces")
        }
        (Level::Namespaces, _) => Check::ok(TOPIC, what),
    }];
    if level > Level::None && !report.holds() {
        let open: Vec<String> = report.open().map(|escape| escape.to_string()).collect();
        let what = format!("a command could {}", open.join(", "));
        checks.push(Check::bad(TOPIC, what, "run commands only where that does no harm, and tell us"));
    }
    checks
}

/// `7 ways out blocked, 2 open (…), 1 untested`.
fn summary(report: &SandboxReport) -> String {
    let count =
        |wanted: fn(&EscapeVerdict) -> bool| report.escapes.iter().filter(|(_, it)| wanted(it)).count();
    let mut said = vec![format!("{} ways out blocked", count(|it| *it == EscapeVerdict::Blocked))];
    let open: Vec<String> = report.open().map(|escape| escape.to_string()).collect();
    if !open.is_empty() {
        said.push(format!("open: {}", open.join(", ")));
    }
    match count(|it| matches!(it, EscapeVerdict::Untested(_))) {
        0 => {}
        untested => said.push(format!("{untested} untested")),
    }
    said.join("; ")
}
