//! What holds commands here, found by trying to get out.

use std::sync::Arc;

use rheon_sandbox::{CacheUsage, EscapeVerdict, Level, Requirement, SandboxReport};
use rheon_text::units::bytes;

use super::check::Check;
use crate::config::Config;
use crate::session::{NoticeSink, SystemContext, sandbox_caches, toolkit};

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
    checks.extend(caches(system, config).await);
    checks
}

/// The most projects to list.
const CACHES_MAX: usize = 10;

/// What commands wrote to package caches, by project. Nothing is said if that is nothing.
async fn caches(system: &SystemContext, config: &Config) -> Option<Check> {
    let system = system.clone();
    let listed = tokio::task::spawn_blocking(move || sandbox_caches(&system)).await.ok()?;
    // This check has a layer itself, which is empty.
    let listed: Vec<CacheUsage> = listed.into_iter().filter(|it| it.bytes > EMPTY_BYTES).collect();
    let total: u64 = listed.iter().map(|it| it.bytes).sum();
    let (_, rest) = listed.split_at_checked(CACHES_MAX).unwrap_or((&listed, &[]));
    let shown = listed.iter().take(CACHES_MAX).map(|it| {
        let used = if it.is_in_use { ", in use" } else { "" };
        format!("{} ({}{used})", it.project, bytes(it.bytes))
    });
    let mut shown: Vec<String> = shown.collect();
    if !rest.is_empty() {
        shown.push(format!("{} more", rest.len()));
    }
    let limit = bytes(config.settings.sandbox.cache_bytes_max);
    let what = format!("cache layers take {} of {limit}: {}", bytes(total), shown.join(", "));
    (!listed.is_empty()).then(|| Check::ok(TOPIC, what))
}

/// The files of Rheon itself in a layer.
const EMPTY_BYTES: u64 = 100;

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
