//! Looking at everything, one after the other; at settings and programs right here.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use super::check::Check;
use super::network::Network;
use super::{folders, model, sandbox};
use crate::config::{Config, ConfigInputs, config_paths};
use crate::session::Surroundings;

/// What is looked at.
pub struct Examination {
    /// The machine, the user and the time.
    pub surroundings: Surroundings,
    /// What the configuration is made from.
    pub inputs: ConfigInputs,
    /// Whether the network is tried.
    pub network: Network,
}

/// Looks at everything that a session needs. What the configuration gets wrong keeps only that from being looked at which follows
/// from it.
pub async fn examine(examination: Examination) -> Vec<Check> {
    let Examination { surroundings, inputs, network } = examination;
    let mut checks = folders::folders(&surroundings.folders);
    let (found, config) = configuration(inputs);
    checks.extend(found);
    if let Some(config) = &config {
        checks.extend(of_config(&surroundings, config, network).await);
    }
    checks.extend(programs(&surroundings).await);
    checks.extend(folders::sessions(&surroundings.folders));
    checks
}

async fn of_config(surroundings: &Surroundings, config: &Config, network: Network) -> Vec<Check> {
    let mut checks = model::model(surroundings, config, network).await;
    checks.extend(sandbox::sandbox(surroundings, config).await);
    checks
}

const CONFIG: &str = "config";

/// What was found, and the configuration if it can be used.
fn configuration(inputs: ConfigInputs) -> (Vec<Check>, Option<Config>) {
    let mut checks = Vec::new();
    let there = config_paths(&inputs).into_iter().filter(|path| path.exists);
    for path in there {
        checks.push(Check::ok(CONFIG, format!("{} ({})", path.path.display(), path.layer.as_str())));
    }
    if checks.is_empty() {
        checks.push(Check::ok(CONFIG, "no files: everything is as it comes"));
    }
    match Config::load(inputs) {
        Ok(config) => {
            let warnings = config.warnings.iter();
            checks.extend(
                warnings
                    .map(|finding| Check::warn(CONFIG, finding.to_string(), "`rheon config edit` opens it")),
            );
            (checks, Some(config))
        }
        Err(error) => {
            let problems = error.problems.iter();
            checks.extend(
                problems
                    .map(|finding| Check::bad(CONFIG, finding.to_string(), "`rheon config edit` opens it")),
            );
            (checks, None)
        }
    }
}

/// How long a program may take to say its version.
const VERSION_TIME_MAX: Duration = Duration::from_secs(5);
/// The most characters of a version that are shown.
const VERSION_CHARS_MAX: usize = 80;

async fn programs(surroundings: &Surroundings) -> Vec<Check> {
    let (git, bash) = tokio::join!(version("git", surroundings), version("bash", surroundings));
    vec![
        match git {
            Ok(version) => Check::ok("git", version),
            Err(problem) => Check::warn(
                "git",
                problem,
                "install git: without it the model knows nothing of the repository",
            ),
        },
        match bash {
            Ok(version) => Check::ok("bash", version),
            Err(problem) => Check::bad("bash", problem, "install bash: commands run in it"),
        },
    ]
}

async fn version(program: &str, surroundings: &Surroundings) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    command.current_dir(&surroundings.working_folder);
    let output = match timeout(VERSION_TIME_MAX, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("{program} cannot be run: {error}")),
        Err(_) => return Err(format!("{program} does not answer")),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().chars().take(VERSION_CHARS_MAX).collect())
}
