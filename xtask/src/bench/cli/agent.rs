//! `Agent`: a program that asks a model and runs tools, and how it is called without anybody watching.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::stage::Stage;

/// What is asked.
const PROMPT: &str = "go on";
/// The model, for those that speak to Anthropic.
const MODEL: &str = "claude-sonnet-4-5";

/// An agent that is installed.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The program, with what stands before its own arguments.
    pub(super) program: Vec<PathBuf>,
}

/// How an agent is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rheon,
    Claude,
    Codex,
    OpenCode,
    Pi,
}

impl Agent {
    /// The program itself or another build of it, as it comes: sessions are saved, commands run in a sandbox.
    pub(super) fn rheon(name: &'static str, program: PathBuf) -> Self {
        Self { name, kind: Kind::Rheon, program: vec![program] }
    }

    /// The program with these arguments, with nothing of our own variables but the path.
    pub(super) fn bare(&self, stage: &Stage, arguments: &[&str]) -> Command {
        let mut words = self.program.iter();
        let mut command = Command::new(words.next().cloned().unwrap_or_default());
        command
            .args(words)
            .args(arguments)
            .current_dir(stage.workspace())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", stage.home())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// A script for the fake model: so many commands, one after the other, then the end. Each is another one, because an agent may
    /// refuse to do the same over and over.
    pub(super) fn commands(&self, turns: u32) -> String {
        let (tool, argument) = match self.kind {
            Kind::Rheon | Kind::Pi | Kind::OpenCode => ("bash", "command"),
            Kind::Claude => ("Bash", "command"),
            Kind::Codex => ("exec_command", "cmd"),
        };
        let said = match self.kind {
            Kind::OpenCode => ", description = \"says a number\"",
            Kind::Rheon | Kind::Claude | Kind::Codex | Kind::Pi => "",
        };
        let call = |turn: u32| {
            format!(
                "[[reply]]\nwhen = {{ tools = true }}\n\
                 calls = [{{ name = \"{tool}\", arguments = {{ {argument} = \"echo {turn}\"{said} }} }}]\n"
            )
        };
        let calls: String = (1..=turns).map(call).collect();
        format!("[default]\ntext = \"All done.\"\n{calls}")
    }

    /// One run against the model at `url`.
    pub(super) fn run(&self, stage: &Stage, url: &str, more: &[&str]) -> Command {
        let mut command = match self.kind {
            // A task that looks easy is given fewer turns than are measured here.
            Kind::Rheon => self.bare(
                stage,
                &[
                    "-p",
                    "-m",
                    "anthropic/claude-sonnet-4-5",
                    "--dangerously-skip-permissions",
                    "--max-turns=100",
                ],
            ),
            Kind::Claude => self.bare(stage, &["-p", "--dangerously-skip-permissions", "--model", MODEL]),
            Kind::Codex => self.bare(
                stage,
                &["exec", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"],
            ),
            Kind::OpenCode => self.bare(stage, &["run", "--auto", "--model", "anthropic/claude-sonnet-4-5"]),
            Kind::Pi => self.bare(stage, &["-p", "--provider", "anthropic", "--model", MODEL]),
        };
        command.args(more).arg(PROMPT);
        command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "any").env("OPENAI_API_KEY", "any");
        // Nothing is looked up or reported elsewhere, and no agent minds that it runs as root.
        let quiet = [
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("IS_SANDBOX", "1"),
            ("PI_OFFLINE", "1"),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ];
        if self.kind != Kind::Rheon {
            command.envs(quiet);
        }
        command
    }
}
