//! Runs a line that reads input, and collects its output and its errors apart, as hooks need it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::capture::{Capture, Output, OutputLimits};
use super::launch::{Launcher, PipedProcess, ProcessError, ShellLine, start_piped};
use super::pipe::{receiver, sender};
use super::run::{ProcessOutcome, StopCondition, finish};

/// What a line with input printed, and how it ended.
#[derive(Debug)]
pub struct Exchange {
    pub outcome: ProcessOutcome,
    pub output: Output,
    pub errors: Output,
}

/// How long to wait for the rest of the errors after the process has ended.
const GRACE: Duration = Duration::from_millis(250);

/// Runs a line to its end with `input` as its standard input, which it need not read.
pub async fn exchange(
    line: &ShellLine,
    launcher: Launcher,
    input: &[u8],
    stop: StopCondition,
    limits: OutputLimits,
) -> Result<Exchange, ProcessError> {
    let PipedProcess { process, input: writer, errors } = start_piped(line, launcher)?;
    let broken = |source| ProcessError::Start { program: "the pipe".into(), source };
    let (mut writer, mut errors) = (sender(writer).map_err(broken)?, receiver(errors).map_err(broken)?);
    let captures = [limits.clone(), limits].map(|limits| Mutex::new(Capture::new(limits)));
    let [output_capture, errors_capture] = &captures;
    let feed = async move {
        // It fails if the line closes its input, which it may.
        drop(writer.write_all(input).await);
    };
    let read = async {
        let mut chunk = vec![0; 16 * 1024];
        while let Ok(bytes @ 1..) = errors.read(&mut chunk).await {
            let chunk = chunk.get(..bytes).unwrap_or_default();
            errors_capture.lock().unwrap_or_else(PoisonError::into_inner).push(chunk);
        }
    };
    let aside = async { tokio::join!(feed, read) };
    tokio::pin!(aside);
    let ended = finish(process, stop, output_capture, |_| {});
    tokio::pin!(ended);
    let mut is_aside_done = false;
    let outcome = loop {
        tokio::select! {
            outcome = &mut ended => break outcome?,
            _ = &mut aside, if !is_aside_done => is_aside_done = true,
        }
    };
    if !is_aside_done {
        drop(tokio::time::timeout(GRACE, &mut aside).await);
    }
    let [output, errors] = captures.each_ref().map(|capture| {
        std::mem::replace(
            &mut *capture.lock().unwrap_or_else(PoisonError::into_inner),
            Capture::new(OutputLimits { head_bytes: 0, tail_bytes: 0, spill: None }),
        )
        .finish()
    });
    Ok(Exchange { outcome, output, errors })
}

#[cfg(all(test, target_os = "linux"))]
#[path = "exchange_tests.rs"]
mod tests;
