//! What holds commands here, found by trying to get out.

use std::sync::Arc;

use rheon_sandbox::{EscapeVerdict, Level, Requirement, SandboxReport};

use super::check::Check;
use crate::config::Config;
use crate::session::{NoticeSink, SystemContext, toolkit};

const TOPIC: &str = "sandbox";

pub(super) async fn sandbox(system: &SystemContext, config: &Config) -> Vec<Check> {
    let quiet: NoticeSink = Arc::new(|_| {});
    let toolkit = match toolkit(system, config, Default::default(), &quiet).await {
        Ok(toolkit) => toolkit,
        Err(error) => {
            return vec![Check::bad(TOPIC, error.to_string(), "run `rheon policy test` to check the rules")];
        }
    };
    let (sandbox, required) = (toolkit.sandbox(), config.settings.sandbox.require);
    // What an earlier session found may be remembered; here it is tried again.
    let report = match sandbox.probe().await {
        Ok(report) => report,
        Err(error) => {
            let what = format!("cannot test the sandbox: {error}");
            return vec![Check::bad(TOPIC, what, "check that bash and bwrap run")];
        }
    };
    let level = sandbox.level();
    let shortfall = sandbox.shortfall().map_or_else(String::new, |why| format!(" ({why})"));
    let what = format!("commands run in a sandbox ({level}): {}{shortfall}", summary(&report));
    let mut checks = vec![match (level, required) {
        (Level::None, Requirement::NoSandbox) => Check::warn(
            TOPIC,
            "the sandbox is off, as configured",
            "remove sandbox.require = \"none\" from your settings",
        ),
        (Level::None, Requirement::AtLeast(level)) => Check::bad(
            TOPIC,
            format!("this machine cannot provide a {level} sandbox"),
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
        checks.push(Check::bad(TOPIC, what, "run commands only where that does no harm, and report it"));
    }
    checks
}

/// `7 escapes blocked, 2 open (…), 1 untested`.
fn summary(report: &SandboxReport) -> String {
    let count = |is_counted: fn(&EscapeVerdict) -> bool| {
        report.escapes.iter().filter(|(_, it)| is_counted(it)).count()
    };
    let mut parts = vec![format!("{} escapes blocked", count(|it| *it == EscapeVerdict::Blocked))];
    let open: Vec<String> = report.open().map(|escape| escape.to_string()).collect();
    if !open.is_empty() {
        parts.push(format!("open: {}", open.join(", ")));
    }
    match count(|it| matches!(it, EscapeVerdict::Untested(_))) {
        0 => {}
        untested => parts.push(format!("{untested} untested")),
    }
    parts.join("; ")
}
