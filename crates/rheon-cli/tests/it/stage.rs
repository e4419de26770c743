//! The program with a home, a workspace and a model server of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rheon_testkit::server::{FakeReply, FakeServer, Script};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::support::{Ran, mask, over_pipe};

/// The model that is asked where nothing else is said. With a name nobody looks for servers on this machine.
pub(crate) const MODEL: &str = "anthropic/claude-sonnet-4-5";

/// A home, a workspace with the file `a.txt`, and a model server.
pub(crate) struct Stage {
    dir: TempDir,
    // Dropped before the runtime that it runs on.
    pub(crate) server: FakeServer,
    pub(crate) runtime: Runtime,
}

impl Stage {
    pub(crate) fn new(script: impl Into<Script>) -> Self {
        Self::in_dir(tempfile::tempdir().unwrap(), script)
    }

    /// Where commands see it: they have another `/tmp`.
    #[cfg(target_os = "linux")]
    pub(crate) fn outside_tmp(script: impl Into<Script>) -> Self {
        Self::in_dir(tempfile::tempdir_in("/var/tmp").unwrap(), script)
    }

    pub(crate) fn in_dir(dir: TempDir, script: impl Into<Script>) -> Self {
        for name in ["home", "workspace"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("workspace/a.txt"), "the content\n").unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(FakeServer::start(script)).unwrap();
        Self { dir, server, runtime }
    }

    /// A file of this stage, by its real name.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// The program in the workspace, with nothing in its environment but the way to the server.
    pub(crate) fn rheon(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rheon"));
        command.args(arguments).env_clear().current_dir(self.path("workspace"));
        command.env("HOME", self.path("home")).env("TMPDIR", self.dir.path());
        command.env("ANTHROPIC_API_KEY", "key").env("ANTHROPIC_BASE_URL", self.server.url());
        over_pipe(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// One headless run of the usual model.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.ran(self.rheon(&[&["-p", "--model", MODEL], arguments].concat()))
    }

    /// What the program says: without what differs from stage to stage, and from machine to machine.
    pub(crate) fn ran(&self, mut command: Command) -> Ran {
        self.plain(Ran::from(command.output().unwrap()))
    }

    pub(crate) fn plain(&self, ran: Ran) -> Ran {
        let dir = self.path("");
        let dir = dir.display().to_string();
        let plain = |text: &str| text.replace(dir.trim_end_matches('/'), "STAGE");
        // How well commands can be held depends on the machine, and no command is run here.
        let is_told = |line: &&str| !line.starts_with("note: commands are held at level");
        let stderr: String = ran.stderr.split_inclusive('\n').filter(is_told).collect();
        Ran { stdout: plain(&ran.stdout), stderr: mask(&plain(&stderr)), code: ran.code }
    }
}

/// The model reads the file and answers.
pub(crate) fn reads() -> [FakeReply; 2] {
    let read = FakeReply::text("Let me look.").and_call("read", &serde_json::json!({ "path": "a.txt" }));
    [read, FakeReply::text("It says: the content.")]
}

/// The lines of JSON, each with what differs from run to run made the same.
pub(crate) fn masked_lines(text: &str) -> String {
    let masked = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        mask_value("", &mut value);
        value.to_string() + "\n"
    };
    text.lines().map(masked).collect()
}

/// What is a time, a duration or an id.
const MASKED: [&str; 20] = [
    "at",
    "timestamp",
    "duration_ms",
    "duration_api_ms",
    "ttft_ms",
    "first_token_ms",
    "session_id",
    "agent_id",
    "run_id",
    "uuid",
    "id",
    "api_message_id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "claude_code_version",
    "tokens_used",
    "tokens_estimate",
    "settings",
    "total_cost_usd",
];

fn mask_value(key: &str, value: &mut Value) {
    match value {
        Value::String(_) | Value::Number(_) | Value::Object(_) if MASKED.contains(&key) => {
            *value = "…".into()
        }
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| mask_value(key, value)),
        Value::Array(values) => values.iter_mut().for_each(|value| mask_value(key, value)),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Number(_) => {}
    }
}

/// Writes a file with the directories above it.
pub(crate) fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A refusal after which the client need not wait.
pub(crate) fn come_back_at_once(code: u16) -> FakeReply {
    FakeReply::fault(rheon_testkit::server::Fault::Status {
        code,
        body: None,
        headers: vec![("retry-after-ms".into(), Duration::from_millis(1).as_millis().to_string())],
    })
}
