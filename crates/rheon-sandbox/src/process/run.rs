//! Runs one line of bash: collects output, and stops on timeout, cancellation or drop.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::capture::Capture;
use super::launch::{Launcher, Process, ProcessError, ShellLine, start};
use super::pipe::{Receiver, receiver};

#[derive(Debug, Clone)]
pub struct StopCondition {
    pub timeout: Option<Duration>,
    pub cancel: CancellationToken,
}

/// Why a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    Finished,
    TimedOut,
    Canceled,
}

/// How a line ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOutcome {
    pub end: EndReason,
    /// `None` if a signal ended it.
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub duration: Duration,
    /// The directory in which the shell ended, if it could report it.
    pub dir: Option<PathBuf>,
}

/// How long to wait for the rest of the output after the process has ended: something may hold the pipe open.
const GRACE: Duration = Duration::from_millis(250);

/// How long after a piece of output to call the caller again.
const SETTLE: Duration = Duration::from_millis(200);

/// How long to wait for a killed process. One that hangs in the kernel does not block the caller.
const KILL_WAIT: Duration = Duration::from_secs(5);

const CHUNK_BYTES: usize = 64 * 1024;

/// The limit for the shell's report: the size of a pipe.
const TOLD_BYTES_MAX: u64 = 64 * 1024;

/// Runs a line to its end. Output goes to `capture` as it arrives. `arrived` is called after each piece and once more a
/// moment later, so that a caller that polls now and then misses nothing. Everything that the line started is ended
/// with it, also when the future is dropped.
pub async fn run(
    line: &ShellLine,
    launcher: Launcher,
    stop: StopCondition,
    capture: &Mutex<Capture>,
    arrived: impl FnMut(&Mutex<Capture>),
) -> Result<ProcessOutcome, ProcessError> {
    finish(start(line, launcher)?, stop, capture, arrived).await
}

/// Waits for a started line to end, as [`run`] does.
pub async fn finish(
    process: Process,
    stop: StopCondition,
    capture: &Mutex<Capture>,
    mut arrived: impl FnMut(&Mutex<Capture>),
) -> Result<ProcessOutcome, ProcessError> {
    let broken = |source| ProcessError::Start { program: "the pipe".into(), source };
    let mut output = receiver(process.output).map_err(broken)?;
    let mut dir = receiver(process.dir).map_err(broken)?;
    let (process_tree, mut exit, began) = (process.process_tree, process.exit, process.began);

    let deadline = async {
        match stop.timeout {
            Some(timeout) => tokio::time::sleep_until(began + timeout).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(deadline);
    let settled = tokio::time::sleep(Duration::ZERO);
    tokio::pin!(settled);
    let mut settling = false;
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut open = true;
    let (end, status) = loop {
        tokio::select! {
            biased;
            () = stop.cancel.cancelled() => break (EndReason::Canceled, None),
            () = &mut deadline => break (EndReason::TimedOut, None),
            status = &mut exit => break (EndReason::Finished, Some(received(status)?)),
            read = output.read(&mut chunk), if open => {
                open = keep(read, &chunk, capture);
                arrived(capture);
                if !settling {
                    settled.as_mut().reset(tokio::time::Instant::now() + SETTLE);
                    settling = true;
                }
            }
            () = &mut settled, if settling => {
                settling = false;
                arrived(capture);
            }
        }
    };
    let status = match status {
        Some(status) => Some(status),
        None => {
            process_tree.kill();
            tokio::time::timeout(KILL_WAIT, &mut exit).await.ok().map(received).transpose()?
        }
    };
    let duration = began.elapsed();
    let rest = async {
        while open {
            open = keep(output.read(&mut chunk).await, &chunk, capture);
        }
    };
    // Keep what was read if the grace period ends first.
    drop(tokio::time::timeout(GRACE, rest).await);
    arrived(capture);
    let dir = match end {
        EndReason::Finished => ended_in(&told(&mut dir, process.program).await?),
        EndReason::TimedOut | EndReason::Canceled => None,
    };
    let (exit_code, signal) = status.map_or((None, None), |status| (status.code(), signal_of(status)));
    Ok(ProcessOutcome { end, exit_code, signal, duration, dir })
}

/// Saves what was read and returns whether there may be more.
fn keep(read: std::io::Result<usize>, chunk: &[u8], capture: &Mutex<Capture>) -> bool {
    match read.ok().and_then(|bytes| chunk.get(..bytes)) {
        Some(read) if !read.is_empty() => {
            capture.lock().unwrap_or_else(PoisonError::into_inner).push(read);
            true
        }
        Some(_) | None => false,
    }
}

fn received(
    status: Result<Result<ExitStatus, ProcessError>, oneshot::error::RecvError>,
) -> Result<ExitStatus, ProcessError> {
    status.unwrap_or(Err(ProcessError::Lost))
}

/// Reads the shell's report. A shell that started has reported at least that, so an empty report means that `program`
/// did not start it.
async fn told(pipe: &mut Receiver, program: String) -> Result<Vec<u8>, ProcessError> {
    let mut told = Vec::new();
    let mut limited = pipe.take(TOLD_BYTES_MAX);
    // The report is complete even if something holds the pipe open.
    drop(tokio::time::timeout(GRACE, limited.read_to_end(&mut told)).await);
    if told.is_empty() { Err(ProcessError::NotBegun { program }) } else { Ok(told) }
}

/// The directory, which the shell reports last: after the last NUL byte, followed by a line break.
fn ended_in(told: &[u8]) -> Option<PathBuf> {
    let zero = told.iter().rposition(|byte| *byte == 0)?;
    let last = told.get(zero + 1..)?.strip_suffix(b"\n")?;
    Some(path(last)).filter(|dir| dir.is_absolute())
}

#[cfg(unix)]
fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(unix)]
use std::os::unix::ffi::OsStrExt as _;

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_status: ExitStatus) -> Option<i32> {
    None
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
