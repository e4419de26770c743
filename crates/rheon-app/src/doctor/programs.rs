//! Programs that are used: bash for commands, git for what a repository is.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use super::check::Check;
use crate::session::Surroundings;

/// How long a program may take to say its version.
const VERSION_TIME_MAX: Duration = Duration::from_secs(5);
/// The most characters of a version that are shown.
const VERSION_CHARS_MAX: usize = 80;

pub(super) async fn programs(surroundings: &Surroundings) -> Vec<Check> {
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
