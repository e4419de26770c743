//! One line of bash from start to end: output is collected, and the time, the caller and the drop of the future can
//! stop it.

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

/// What may stop a line.
#[derive(Debug, Clone)]
pub struct StopCondition {
    /// The longest it may run.
    pub timeout: Option<Duration>,
    /// Fires when it should stop.
    pub cancel: CancellationToken,
}

/// Why a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// By itself.
    Finished,
    /// It ran too long.
    TimedOut,
    /// It was told to stop.
    Canceled,
}

/// How a line ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOutcome {
    /// Why.
    pub end: EndReason,
    /// Its exit code; absent if a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How long it ran.
    pub duration: Duration,
    /// The folder in which the shell ended, if it could tell.
    pub folder: Option<PathBuf>,
}

/// How long is waited for the rest of the output once the process has ended: something may hold the pipe open.
const GRACE: Duration = Duration::from_millis(250);

/// How long after a piece of output the caller is told again.
const SETTLE: Duration = Duration::from_millis(200);

/// How long is waited for a process that was ended. One that hangs in the kernel does not keep the caller.
const KILL_WAIT: Duration = Duration::from_secs(5);

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// The most that is read of what the shell tells: as much as a pipe holds.
const TOLD_BYTES_MAX: u64 = 64 * 1024;

/// Runs a line to its end. Output goes to `capture` as it arrives; `arrived` is called after each piece, and again a
/// moment later, so that a caller that looks only now and then misses nothing. Everything that the line started is ended
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

/// Awaits the end of a line that was started, as [`run`] does.
pub async fn finish(
    process: Process,
    stop: StopCondition,
    capture: &Mutex<Capture>,
    mut arrived: impl FnMut(&Mutex<Capture>),
) -> Result<ProcessOutcome, ProcessError> {
    let broken = |source| ProcessError::Start { program: "the pipe".into(), source };
    let mut output = receiver(process.output).map_err(broken)?;
    let mut folder = receiver(process.folder).map_err(broken)?;
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
    // What was read so far is kept if the grace ends first.
    drop(tokio::time::timeout(GRACE, rest).await);
    arrived(capture);
    let folder = match end {
        EndReason::Finished => ended_in(&told(&mut folder, process.program).await?),
        EndReason::TimedOut | EndReason::Canceled => None,
    };
    let (exit_code, signal) = status.map_or((None, None), |status| (status.code(), signal_of(status)));
    Ok(ProcessOutcome { end, exit_code, signal, duration, folder })
}

/// Keeps what was read; whether there may be more.
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

/// What the shell told. One that began has told at least that, so that silence means that `program` did not start it.
async fn told(pipe: &mut Receiver, program: String) -> Result<Vec<u8>, ProcessError> {
    let mut told = Vec::new();
    let mut limited = pipe.take(TOLD_BYTES_MAX);
    // What was told before the grace ends is there even if somebody holds the pipe open.
    drop(tokio::time::timeout(GRACE, limited.read_to_end(&mut told)).await);
    if told.is_empty() { Err(ProcessError::NotBegun { program }) } else { Ok(told) }
}

/// The folder, which the shell told as the last thing it did: after the last zero byte, with a line break after it.
fn ended_in(told: &[u8]) -> Option<PathBuf> {
    let zero = told.iter().rposition(|byte| *byte == 0)?;
    let last = told.get(zero + 1..)?.strip_suffix(b"\n")?;
    Some(path(last)).filter(|folder| folder.is_absolute())
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
