//! `Child`: the process of a server. Everything it started ends with it.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rheon_sandbox::process::{MARKER, ProcessTree, next_marker};
use secrecy::ExposeSecret as _;
use tokio::io::AsyncReadExt as _;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::spawn_blocking;

use super::error::McpError;
use super::spec::StdioProgram;

/// How long a server may take to exit after its input was closed.
const EXIT_WAIT: Duration = Duration::from_secs(2);

/// How much of its error output is kept in memory, and how much in a file; there are two files at most.
const ERRORS_BYTES_MAX: usize = 16 * 1024;
const LOG_BYTES_MAX: u64 = 4 << 20;

/// A running server, with the pipes it talks through.
pub(super) struct StartedChild {
    pub(super) child: Child,
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
}

/// The process of a server. Dropping it ends the process and everything that it started.
pub(super) struct Child {
    process: tokio::process::Child,
    tree: ProcessTree,
}

impl Child {
    /// Starts the program, off the async threads.
    pub(super) async fn start(
        program: &StdioProgram,
        errors: &ErrorOutput,
    ) -> Result<StartedChild, McpError> {
        let name = program.command.clone();
        let failed = move |source| McpError::Start { program: name.clone(), source };
        let marker = next_marker();
        let mut command = command(program, &marker);
        let spawned = spawn_blocking(move || command.spawn()).await;
        let mut process = spawned.map_err(|error| failed(error.into()))?.map_err(&failed)?;
        let gone = || failed(std::io::ErrorKind::BrokenPipe.into());
        let tree = ProcessTree::of(process.id().ok_or_else(gone)?, format!("{MARKER}={marker}"));
        let (input, output) = (process.stdin.take(), process.stdout.take());
        // Ends when no process can write to the pipe any more.
        let log = program.log.clone().map(|path| ErrorLog { path, file: None });
        tokio::spawn(errors.clone().read(process.stderr.take().ok_or_else(gone)?, log));
        let child = Self { process, tree };
        Ok(StartedChild { child, input: input.ok_or_else(gone)?, output: output.ok_or_else(gone)? })
    }

    /// Waits until the process has exited by itself, and ends it after a while.
    pub(super) async fn end(&mut self) {
        // What remains is ended either way.
        drop(tokio::time::timeout(EXIT_WAIT, self.process.wait()).await);
        self.tree.kill();
        drop(tokio::time::timeout(EXIT_WAIT, self.process.wait()).await);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.tree.kill();
    }
}

fn command(program: &StdioProgram, marker: &str) -> Command {
    let mut command = Command::new(&program.command);
    command.args(&program.arguments).env_clear();
    command.envs(program.environment.iter().map(|(name, value)| (name, value.expose_secret())));
    command.env(MARKER, marker);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    #[cfg(unix)]
    command.process_group(0);
    command.kill_on_drop(true);
    command
}

/// The file with a server's error output. When it is full, it becomes the old one.
struct ErrorLog {
    path: PathBuf,
    /// `None` before the first output.
    file: Option<File>,
}

impl ErrorLog {
    fn write(mut self, bytes: &[u8]) -> io::Result<Self> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        if file.metadata()?.len() > LOG_BYTES_MAX {
            fs::rename(&self.path, self.path.with_extension("log.old"))?;
            file = self.open()?;
        }
        file.write_all(bytes)?;
        Ok(Self { file: Some(file), ..self })
    }

    fn open(&self) -> io::Result<File> {
        if let Some(dir) = self.path.parent() {
            fs::create_dir_all(dir)?;
        }
        let mut options = File::options();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&self.path)
    }
}

/// The end of what a server wrote to its standard error. Reading it keeps the server from blocking.
#[derive(Debug, Clone, Default)]
pub(super) struct ErrorOutput {
    kept: Arc<Mutex<VecDeque<u8>>>,
    is_complete: Arc<watch::Sender<bool>>,
}

impl ErrorOutput {
    async fn read(self, mut source: ChildStderr, mut log: Option<ErrorLog>) {
        let mut chunk = vec![0; 8 * 1024];
        while let Ok(count @ 1..) = source.read(&mut chunk).await {
            let bytes: Vec<u8> = chunk.iter().copied().take(count).collect();
            self.keep(&bytes);
            if let Some(open) = log.take() {
                // A log that cannot be written is given up; the server goes on.
                log = spawn_blocking(move || open.write(&bytes)).await.ok().and_then(Result::ok);
            }
        }
        self.is_complete.send_replace(true);
    }

    fn keep(&self, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let over = kept.len().saturating_sub(ERRORS_BYTES_MAX);
        kept.drain(..over);
    }

    /// Waits until all of it was read, but not for a process that keeps the pipe open.
    pub(super) async fn complete(&self) {
        let mut seen = self.is_complete.subscribe();
        drop(tokio::time::timeout(EXIT_WAIT, seen.wait_for(|is_complete| *is_complete)).await);
    }

    /// The last lines.
    pub(super) fn text(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }

    /// The last line, for an error message.
    pub(super) fn last_line(&self) -> Option<String> {
        let text = self.text();
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(super::clean::short_line)
    }
}
