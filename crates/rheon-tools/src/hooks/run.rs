//! One process: given its stdin, read to its end, and ended with all that it started when it takes too long or nobody waits.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};

use rheon_sandbox::process::{MARKER, ProcessTree, next_marker};

/// How much of each output is kept; the rest is read away.
pub(crate) const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// How long output is awaited after the process itself has ended: something that it left running may hold the pipe.
const REST: Duration = Duration::from_millis(500);

/// What to run.
#[derive(Debug, Clone)]
pub(crate) enum Program {
    /// A line for the shell.
    Line(String),
    /// A program and its arguments.
    Exact(String, Vec<String>),
}

/// What to run, where and with what.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) program: Program,
    pub(crate) folder: PathBuf,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) timeout: Duration,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// By itself; without a code if a signal ended it.
    Exited { code: Option<i32>, stdout: Kept, stderr: Kept },
    /// It took longer than this and was killed.
    TimedOut(Duration),
    /// It never ran, or could not be awaited.
    NotRun(String),
}

/// What was said in full.
impl From<String> for Kept {
    fn from(text: String) -> Self {
        Self { bytes: text.into_bytes(), is_cut: false }
    }
}

/// What was kept of an output.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    bytes: Vec<u8>,
    pub(crate) is_cut: bool,
}

impl Kept {
    /// As text; what is no UTF-8 is replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Runs `job`, gives it `input` and waits for its end.
pub(crate) async fn run(job: &Job, input: &[u8]) -> Ended {
    let marker = next_marker();
    let mut child = match command(job, &marker).spawn() {
        Ok(child) => child,
        Err(error) => return Ended::NotRun(format!("cannot be started: {error}")),
    };
    let mut group = Group::of(&child, &marker);
    let (mut stdout, mut stderr) = (Kept::default(), Kept::default());
    let finished = finish(&mut child, &mut group, input, &mut stdout, &mut stderr);
    match tokio::time::timeout(job.timeout, finished).await {
        Ok(Ok(code)) => Ended::Exited { code, stdout, stderr },
        Ok(Err(error)) => Ended::NotRun(format!("cannot be awaited: {error}")),
        Err(_) => {
            group.kill();
            // Reaped here, so that nothing of it is left when the caller goes on.
            child.wait().await.map(|_| group.forget()).unwrap_or_default();
            Ended::TimedOut(job.timeout)
        }
    }
}

fn command(job: &Job, marker: &str) -> Command {
    let mut command = match &job.program {
        Program::Line(line) => shell(line),
        Program::Exact(program, arguments) => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
    };
    command.env_clear().envs(job.variables.iter().map(|(name, value)| (name, value)));
    command.env(MARKER, marker);
    command.current_dir(&job.folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
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
    // The line goes to `cmd` as it is: `cmd` does not understand the usual quoting of arguments.
    command.arg("/C").raw_arg(line);
    command
}

/// Feeds and reads the process until it ends; its exit code.
async fn finish(
    child: &mut Child,
    group: &mut Group,
    input: &[u8],
    stdout: &mut Kept,
    stderr: &mut Kept,
) -> io::Result<Option<i32>> {
    let (stdin, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let exchange = async { tokio::join!(feed(stdin, input), keep(out, stdout), keep(err, stderr)) };
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
            // What it left running may hold the pipes; what was said until now counts.
            tokio::time::timeout(REST, &mut exchange).await.map(|_| ()).unwrap_or_default();
            status
        }
    };
    Ok(status.code())
}

/// Writes `input` and closes the pipe. A hook need not read what it is told.
async fn feed(stdin: Option<ChildStdin>, input: &[u8]) {
    let Some(mut stdin) = stdin else { return };
    if stdin.write_all(input).await.is_ok() {
        stdin.shutdown().await.unwrap_or_default();
    }
}

/// Keeps the first [`OUTPUT_BYTES_MAX`] bytes of `pipe` and reads the rest away, so that nobody waits to be read.
async fn keep(pipe: Option<impl AsyncRead + Unpin>, kept: &mut Kept) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        let room = OUTPUT_BYTES_MAX.saturating_sub(kept.bytes.len());
        kept.is_cut |= count > room;
        kept.bytes.extend(buffer.iter().take(count.min(room)));
    }
}

/// A process that has not been reaped, and all that came from it; ended when this is dropped. Once the process is reaped its
/// number may be somebody else's, and what it left running is meant to run.
struct Group {
    killer: Option<ProcessTree>,
}

impl Group {
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

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
