//! Runs all checks; those of settings and programs are in this file.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use super::check::Check;
use super::network::NetworkChecks;
use super::{dirs, model, sandbox};
use crate::config::{Config, ConfigInputs, config_paths};
use crate::session::SystemContext;

/// The inputs of all checks.
pub struct DoctorRequest {
    pub system: SystemContext,
    pub inputs: ConfigInputs,
    pub network: NetworkChecks,
}

/// Checks everything that a session needs. Without a valid configuration, the checks that need one are skipped.
pub async fn examine(examination: DoctorRequest) -> Vec<Check> {
    let DoctorRequest { system, inputs, network } = examination;
    let mut checks = dirs::dirs(&system.dirs);
    let (problems, config) = configuration(inputs);
    checks.extend(problems);
    if let Some(config) = &config {
        checks.extend(dirs::other_dirs(&system, config));
        checks.extend(of_config(&system, config, network).await);
    }
    checks.extend(programs(&system).await);
    checks.extend(dirs::sessions(&system.dirs));
    checks
}

async fn of_config(system: &SystemContext, config: &Config, network: NetworkChecks) -> Vec<Check> {
    let mut checks = model::model(system, config, network).await;
    checks.extend(sandbox::sandbox(system, config).await);
    checks
}

const CONFIG: &str = "config";

/// The checks of the configuration, and the configuration if it is valid.
fn configuration(inputs: ConfigInputs) -> (Vec<Check>, Option<Config>) {
    let mut checks = Vec::new();
    let there = config_paths(&inputs).into_iter().filter(|path| path.exists);
    for path in there {
        checks.push(Check::ok(CONFIG, format!("{} ({})", path.path.display(), path.layer.as_str())));
    }
    if checks.is_empty() {
        checks.push(Check::ok(CONFIG, "no configuration files; using the defaults"));
    }
    match Config::load(inputs) {
        Ok(config) => {
            let warnings = config.warnings.iter();
            checks.extend(
                warnings.map(|finding| Check::warn(CONFIG, finding.to_string(), "run `rheon config edit`")),
            );
            (checks, Some(config))
        }
        Err(error) => {
            let problems = error.problems.iter();
            checks.extend(
                problems.map(|finding| Check::bad(CONFIG, finding.to_string(), "run `rheon config edit`")),
            );
            (checks, None)
        }
    }
}

/// How long a program may take to print its version.
const VERSION_TIME_MAX: Duration = Duration::from_secs(5);
/// The most characters of a version that are shown.
const VERSION_CHARS_MAX: usize = 80;

async fn programs(system: &SystemContext) -> Vec<Check> {
    let (git, bash) = tokio::join!(version("git", system), version("bash", system));
    vec![
        match git {
            Ok(version) => Check::ok("git", version),
            Err(problem) => Check::warn(
                "git",
                problem,
                "install git; without it the model cannot see the state of the repository",
            ),
        },
        match bash {
            Ok(version) => Check::ok("bash", version),
            Err(problem) => Check::bad("bash", problem, "install bash; commands run in it"),
        },
    ]
}

async fn version(program: &str, system: &SystemContext) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    command.current_dir(&system.working_dir);
    let output = match timeout(VERSION_TIME_MAX, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("cannot run {program}: {error}")),
        Err(_) => return Err(format!("{program} does not answer")),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().chars().take(VERSION_CHARS_MAX).collect())
}
