//! `cargo xtask e2e-projects`: a scripted agent works in four small real projects, and we count what it has to ask.
//!
//! Opt-in: package managers download what the projects need. The model is our fake server; the program is the real one.

mod host;
mod project;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use self::host::{Conversation, drive};
use self::project::{Project, Step};
use crate::command::Invocation;
use crate::fake_model::{FakeModel, target_dir};

/// One file per project.
const PROJECTS: [(&str, &str); 4] = [
    ("rust", include_str!("e2e_projects/rust.txt")),
    ("node", include_str!("e2e_projects/node.txt")),
    ("python", include_str!("e2e_projects/python.txt")),
    ("go", include_str!("e2e_projects/go.txt")),
];

/// How long one project may take.
const PROJECT_TIME_MAX: Duration = Duration::from_secs(600);

/// How long one command may take.
const STEP_TIME_MAX: Duration = Duration::from_secs(300);

/// What is played, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only these projects: rust, node, python, go.
    projects: Vec<String>,
    /// The program; by default the one that is built here.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// The permission mode.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    mode: String,
    /// Settings for the program, as its own flag takes them. `{hosts}` stands for the registry hosts of the project, as JSON.
    #[arg(long, value_name = "JSON")]
    settings: Option<String>,
}

/// What came of one project.
struct Row {
    project: &'static str,
    outcome: ProjectOutcome,
}

enum ProjectOutcome {
    Skipped(String),
    Played { conversation: Conversation, seconds: u64 },
}

impl Row {
    fn is_good(&self) -> bool {
        match &self.outcome {
            ProjectOutcome::Skipped(_) => true,
            ProjectOutcome::Played { conversation, .. } => conversation.is_good(),
        }
    }
}

/// Plays the projects and prints the table. Fails if a step failed or something was asked.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = match &arguments.program {
        Some(program) => {
            program.canonicalize().with_context(|| format!("no program at {}", program.display()))?
        }
        None => {
            Invocation::new("build --locked -p rheon-cli").run()?;
            target_dir().join("debug/rheon")
        }
    };
    Invocation::new("build --locked -p rheon-testkit --bin rheon-fake-model").run()?;
    let stage = stage()?;
    let mut rows = Vec::new();
    for (name, text) in PROJECTS {
        if !arguments.projects.is_empty() && !arguments.projects.iter().any(|wanted| wanted == name) {
            continue;
        }
        println!("== e2e-projects: {name}");
        let project = Project::parse(name, text)?;
        let outcome = match project.missing() {
            Some(missing) => ProjectOutcome::Skipped(format!("skipped: no {missing}")),
            None => play(&project, &program, &stage, arguments)?,
        };
        rows.push(Row { project: name, outcome });
    }
    ensure!(!rows.is_empty(), "no such project; there are rust, node, python and go");
    print!("{}", table(&rows));
    ensure!(rows.iter().all(Row::is_good), "a step failed or asked; see above");
    println!("== e2e-projects: all is well");
    Ok(())
}

/// An empty directory for the projects and what the program saves. Package managers keep the user's own settings.
fn stage() -> Result<PathBuf> {
    let stage = match std::env::var_os("RHEON_E2E_CACHE") {
        Some(dir) => xtask::walk::root().join(dir).join("projects"),
        None => target_dir().join("e2e-projects"),
    };
    if stage.exists() {
        fs::remove_dir_all(&stage).with_context(|| format!("cannot remove {}", stage.display()))?;
    }
    fs::create_dir_all(&stage).with_context(|| format!("cannot create {}", stage.display()))?;
    stage.canonicalize().context("cannot find the stage")
}

fn play(project: &Project, program: &Path, stage: &Path, arguments: &Arguments) -> Result<ProjectOutcome> {
    let started = Instant::now();
    let dir = stage.join(project.name);
    let port = free_port()?;
    project.write(&dir, port)?;
    begin_repository(&dir)?;
    let script = stage.join(format!("{}.toml", project.name));
    fs::write(&script, model_script(project, port)?).context("cannot write what the model says")?;
    let model = FakeModel::start(&["--script", &script.display().to_string()])?;
    let mut command = Command::new(program);
    command
        .args(["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"])
        .args(["--permission-prompt-tool", "stdio", "--model", "anthropic/claude-sonnet-4-5"])
        .args(["--permission-mode", &arguments.mode])
        .current_dir(&dir)
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "dummy")
        .env("RHEON_CONFIG_DIR", stage.join("config"))
        .env("XDG_DATA_HOME", stage.join("data"))
        .env("XDG_STATE_HOME", stage.join("state"))
        .env("CLAUDE_CONFIG_DIR", stage.join("claude"))
        // The target directory of this task is not that of the project.
        .env_remove("CARGO_TARGET_DIR");
    if let Some(settings) = &arguments.settings {
        let hosts = serde_json::to_string(&project.hosts(&dir)?)?;
        command.args(["--settings", &settings.replace("{hosts}", &hosts)]);
    }
    let conversation = drive(&mut command, &prompt(project), &project.steps, PROJECT_TIME_MAX)?;
    Ok(ProjectOutcome::Played { conversation, seconds: started.elapsed().as_secs() })
}

fn prompt(project: &Project) -> String {
    format!("project {}: install, build, test, serve, fetch the page, commit", project.name)
}

/// A port that nothing listens on.
fn free_port() -> Result<u16> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").context("cannot find a free port")?;
    Ok(listener.local_addr()?.port())
}

/// A repository with one commit, as the user would have it before the agent comes.
fn begin_repository(dir: &Path) -> Result<()> {
    let calls: [&[&str]; 5] = [
        &["init", "--quiet", "--initial-branch", "main"],
        &["config", "user.name", "Example"],
        &["config", "user.email", "example@example.com"],
        &["add", "-A"],
        &["commit", "--quiet", "-m", "Begin"],
    ];
    for arguments in calls {
        let status = Command::new("git").args(arguments).current_dir(dir).status();
        let status = status.context("cannot start git")?;
        ensure!(status.success(), "`git {}` failed", arguments.join(" "));
    }
    Ok(())
}

/// What the fake model says: one call per step, each after the result of the one before.
fn model_script(project: &Project, port: u16) -> Result<String> {
    let contains = format!("project {}:", project.name);
    let mut replies = Vec::new();
    for (nth, step) in project.steps.iter().enumerate() {
        let when = match nth {
            0 => json!({ "contains": contains }),
            _ => json!({ "contains": contains, "tool_result": true }),
        };
        let call = match step {
            Step::Run { command, is_background, .. } => {
                let command = command.replace("{port}", &port.to_string());
                let mut arguments =
                    json!({ "command": command, "timeout_ms": STEP_TIME_MAX.as_millis() as u64 });
                if *is_background {
                    arguments = json!({ "command": command, "background": true });
                }
                json!({ "name": "bash", "arguments": arguments })
            }
            Step::Write { path, content } => {
                json!({ "name": "write", "arguments": { "path": path, "content": content } })
            }
        };
        replies.push(json!({ "when": when, "calls": [call] }));
    }
    let script = json!({ "default": { "text": "All done." }, "reply": replies });
    toml::to_string(&script).context("cannot write the script")
}

/// A row per project: its steps, the questions, the time.
fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    for Row { project, outcome } in rows {
        match outcome {
            ProjectOutcome::Skipped(why) => text.push_str(&format!("{project:<8} {why}\n")),
            ProjectOutcome::Played { conversation, seconds } => {
                let steps: Vec<String> = conversation.steps.iter().map(ToString::to_string).collect();
                let asked = conversation.questions.len();
                text.push_str(&format!(
                    "{project:<8} {}  questions {asked}  {seconds} s\n",
                    steps.join("  ")
                ));
            }
        }
    }
    for Row { project, outcome } in rows {
        let ProjectOutcome::Played { conversation, .. } = outcome else { continue };
        for question in &conversation.questions {
            text.push_str(&format!("{project}: asked: {question}\n"));
        }
        for step in conversation.steps.iter().filter(|step| !step.is_good()) {
            text.push_str(&format!("{project}: {}\n", step.details()));
        }
    }
    text
}

#[cfg(test)]
#[path = "e2e_projects_tests.rs"]
mod tests;
