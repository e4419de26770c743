//! Runs one hook process: writes its stdin, reads its output, and kills it with all its children on timeout or when
//! dropped.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};

use rheon_sandbox::process::{MARKER, ProcessTree};

/// The most bytes of each output stream that are captured. The rest is discarded.
pub(crate) const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// How long to wait for output after the process exited: a process it left running may hold the pipe.
const PIPE_GRACE: Duration = Duration::from_millis(500);

#[derive(Debug, Clone)]
pub(crate) enum Program {
    ShellLine(String),
    Executable(String, Vec<String>),
}

#[derive(Debug, Clone)]
pub(crate) struct ProcessSpec {
    pub(crate) program: Program,
    pub(crate) dir: PathBuf,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) timeout: Duration,
}

#[derive(Debug)]
pub(crate) enum HookExit {
    /// It exited. There is no code if a signal killed it.
    Exited {
        code: Option<i32>,
        stdout: CapturedOutput,
        stderr: CapturedOutput,
    },
    TimedOut(Duration),
    NotRun(String),
}

impl From<String> for CapturedOutput {
    fn from(text: String) -> Self {
        Self { bytes: text.into_bytes(), is_cut: false }
    }
}

/// The captured part of an output stream.
#[derive(Debug, Default)]
pub(crate) struct CapturedOutput {
    bytes: Vec<u8>,
    pub(crate) is_cut: bool,
}

impl CapturedOutput {
    /// The output as text. Invalid UTF-8 is replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Runs a process with `input` on stdin and waits for it. `marker` is in the environment of all that it starts.
pub(crate) async fn run(spec: &ProcessSpec, input: &[u8], marker: &str) -> HookExit {
    let mut child = match command(spec, marker).spawn() {
        Ok(child) => child,
        Err(error) => return HookExit::NotRun(format!("could not be started: {error}")),
    };
    let mut group = ProcessGroup::of(&child, marker);
    let (mut stdout, mut stderr) = (CapturedOutput::default(), CapturedOutput::default());
    let finished = finish(&mut child, &mut group, input, &mut stdout, &mut stderr);
    match tokio::time::timeout(spec.timeout, finished).await {
        Ok(Ok(code)) => HookExit::Exited { code, stdout, stderr },
        Ok(Err(error)) => HookExit::NotRun(format!("could not be awaited: {error}")),
        Err(_) => {
            group.kill();
            // Reap it here, so that no process is left when the caller continues.
            child.wait().await.map(|_| group.forget()).unwrap_or_default();
            HookExit::TimedOut(spec.timeout)
        }
    }
}

fn command(spec: &ProcessSpec, marker: &str) -> Command {
    let mut command = match &spec.program {
        Program::ShellLine(line) => shell(line),
        Program::Executable(program, arguments) => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
    };
    command.env_clear().envs(spec.variables.iter().map(|(name, value)| (name, value)));
    command.env(MARKER, marker);
    command.current_dir(&spec.dir).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    command
}

#[cfg(not(windows))]
fn shell(line: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(line);
    command
}

#[cfg(windows)]
fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd");
    // `cmd` gets the line unquoted, because it does not understand the usual quoting of arguments.
    command.arg("/C").raw_arg(line);
    command
}

/// Exchanges input and output with the process until it exits, and returns its exit code.
async fn finish(
    child: &mut Child,
    group: &mut ProcessGroup,
    input: &[u8],
    stdout: &mut CapturedOutput,
    stderr: &mut CapturedOutput,
) -> io::Result<Option<i32>> {
    let (stdin, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let exchange = async { tokio::join!(feed(stdin, input), capture(out, stdout), capture(err, stderr)) };
    tokio::pin!(exchange);
    let status = tokio::select! {
        _ = &mut exchange => {
            let status = child.wait().await?;
            group.forget();
            status
        }
        status = child.wait() => {
            let status = status?;
            group.forget();
            // A process it left running may hold the pipes; use the output so far.
            tokio::time::timeout(PIPE_GRACE, &mut exchange).await.map(|_| ()).unwrap_or_default();
            status
        }
    };
    Ok(status.code())
}

/// Writes `input` and closes the pipe. A hook need not read its input.
async fn feed(stdin: Option<ChildStdin>, input: &[u8]) {
    let Some(mut stdin) = stdin else { return };
    if stdin.write_all(input).await.is_ok() {
        stdin.shutdown().await.unwrap_or_default();
    }
}

/// Captures the first [`OUTPUT_BYTES_MAX`] bytes of `pipe` and discards the rest, so that the process never blocks on
/// writing.
async fn capture(pipe: Option<impl AsyncRead + Unpin>, output: &mut CapturedOutput) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        let room = OUTPUT_BYTES_MAX.saturating_sub(output.bytes.len());
        output.is_cut |= count > room;
        output.bytes.extend(buffer.iter().take(count.min(room)));
    }
}

/// A process that was not reaped yet, with its children. Dropping this kills them. After reaping, the process id may
/// belong to another process; what it left running ends with the run.
struct ProcessGroup {
    killer: Option<ProcessTree>,
}

impl ProcessGroup {
    fn of(child: &Child, marker: &str) -> Self {
        Self { killer: child.id().map(|id| ProcessTree::of(id, format!("{MARKER}={marker}"))) }
    }

    fn forget(&mut self) {
        self.killer = None;
    }

    fn kill(&self) {
        if let Some(killer) = &self.killer {
            killer.kill();
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
