//! A home, a project and a fake model server, for sessions in this process and for examples.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rheon::prelude::*;
use rheon_testkit::server::{FakeReply, FakeServer, Script};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The model that everybody asks here; the server stands for its service.
pub(crate) const MODEL: &str = "anthropic/claude-sonnet-4-5";

/// A home, a project and a fake model server.
pub(crate) struct Stage {
    dir: TempDir,
    // Dropped before the runtime that it runs on.
    pub(crate) server: FakeServer,
    pub(crate) runtime: Runtime,
}

/// What a program printed, and its exit code.
#[derive(Debug, PartialEq)]
pub(crate) struct Printed {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Stage {
    pub(crate) fn new(script: impl Into<Script>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "project"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = runtime.block_on(FakeServer::start(script)).unwrap();
        Self { dir, server, runtime }
    }

    /// A model that says these things, one for each request.
    pub(crate) fn saying<const N: usize>(texts: [&str; N]) -> Self {
        Self::new(Script::new(texts.map(FakeReply::text)))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// The variables of everything that runs here.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap();
        let shown = |name: &str| self.path(name).display().to_string();
        [
            ("HOME", shown("home")),
            ("TMPDIR", shown("")),
            ("PATH", path),
            ("ANTHROPIC_API_KEY", "key".to_owned()),
            ("ANTHROPIC_BASE_URL", self.server.url()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// A session in the project.
    pub(crate) fn session(&self) -> SessionBuilder {
        Session::builder(self.path("project")).environment(self.variables()).model(MODEL)
    }

    /// An example that runs in the project. Cargo builds the examples of a crate before it runs the crate's tests.
    pub(crate) fn example(&self, name: &str, arguments: &[&str]) -> Command {
        let test = std::env::current_exe().unwrap();
        let example = test.parent().unwrap().parent().unwrap().join("examples").join(name);
        let mut command = Command::new(example);
        command.args(arguments).env_clear().envs(self.variables()).current_dir(self.path("project"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// What an example prints that is given `input`.
    pub(crate) fn printed(&self, name: &str, arguments: &[&str], input: &str) -> Printed {
        let mut child: Child = self.example(name, arguments).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text =
            |bytes| String::from_utf8(bytes).unwrap().replace(&self.path("").display().to_string(), "STAGE/");
        Printed { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
    }
}
