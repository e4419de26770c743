//! `run`: runs a command that prints a secret.

use std::process::Stdio;
use std::time::Duration;

use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use super::Redactor;

/// How long a command may take: long enough to touch a security key.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// How much of stderr an error message shows.
const EXCERPT_CHARS_MAX: usize = 300;

/// How long to wait for output after the command has exited: a child process may keep the pipe open.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Runs `command_line` in the shell with stdin closed and returns its trimmed output. The error says what happened,
/// without secrets. The shell is killed after [`TIMEOUT`], and when the future is dropped.
pub(crate) async fn run(command_line: &str) -> Result<SecretString, String> {
    let mut child = shell(command_line)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("cannot be started: {error}"))?;
    let mut printed = Zeroizing::new(Vec::new());
    let mut stderr_text = Zeroizing::new(Vec::new());
    let Ok(outcome) = tokio::time::timeout(TIMEOUT, finish(&mut child, &mut printed, &mut stderr_text)).await
    else {
        return Err(format!("did not finish within {} s and was stopped", TIMEOUT.as_secs()));
    };
    let status = outcome?;
    let text = Zeroizing::new(String::from_utf8_lossy(&printed).into_owned());
    if !status.success() {
        let stderr_text = Zeroizing::new(String::from_utf8_lossy(&stderr_text).into_owned());
        return Err(format!("failed ({status}){}", stderr_excerpt(&stderr_text, &text)));
    }
    if std::str::from_utf8(&printed).is_err() {
        return Err("printed invalid UTF-8".to_owned());
    }
    if text.trim().is_empty() {
        let stderr_text = Zeroizing::new(String::from_utf8_lossy(&stderr_text).into_owned());
        return Err(format!("printed nothing{}", stderr_excerpt(&stderr_text, &text)));
    }
    Ok(SecretString::from(text.trim()))
}

#[cfg(not(windows))]
fn shell(command_line: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(command_line);
    command
}

#[cfg(windows)]
fn shell(command_line: &str) -> Command {
    let mut command = Command::new("cmd");
    // Pass the line to `cmd` unchanged: `cmd` does not understand the usual quoting of arguments.
    command.arg("/C").raw_arg(command_line);
    command
}

async fn finish(
    child: &mut Child,
    printed: &mut Vec<u8>,
    stderr_text: &mut Vec<u8>,
) -> Result<std::process::ExitStatus, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let read =
        async { tokio::join!(take(stdout, printed), take_all(stderr, stderr_text)).0.map_err(unreadable) };
    tokio::pin!(read);
    tokio::select! {
        output = &mut read => {
            if output? == PipeOutput::Truncated {
                return Err(format!("printed more than {OUTPUT_BYTES_MAX} bytes"));
            }
            child.wait().await.map_err(unreadable)
        }
        status = child.wait() => {
            if let Ok(output) = tokio::time::timeout(DRAIN_TIMEOUT, &mut read).await && output? == PipeOutput::Truncated {
                return Err(format!("printed more than {OUTPUT_BYTES_MAX} bytes"));
            }
            status.map_err(unreadable)
        }
    }
}

/// Whether a pipe's output fit into the limit.
#[derive(PartialEq)]
enum PipeOutput {
    Complete,
    Truncated,
}

/// Reads the first [`OUTPUT_BYTES_MAX`] bytes of `pipe` into `output` and discards the rest: a command with a lot of
/// stderr output may still print a key.
async fn take_all(mut pipe: Option<impl AsyncRead + Unpin>, output: &mut Vec<u8>) -> std::io::Result<()> {
    take(pipe.as_mut(), output).await?;
    if let Some(pipe) = &mut pipe {
        tokio::io::copy(pipe, &mut tokio::io::sink()).await?;
    }
    Ok(())
}

/// Reads the first [`OUTPUT_BYTES_MAX`] bytes of `pipe` into `output`, then closes it.
async fn take(pipe: Option<impl AsyncRead + Unpin>, output: &mut Vec<u8>) -> std::io::Result<PipeOutput> {
    let Some(mut pipe) = pipe else { return Ok(PipeOutput::Complete) };
    let limit = u64::try_from(OUTPUT_BYTES_MAX).unwrap_or(u64::MAX);
    // Allocate everything at once: a growing buffer leaves copies of the secret behind.
    output.reserve_exact(OUTPUT_BYTES_MAX + 1);
    (&mut pipe).take(limit + 1).read_to_end(output).await?;
    if output.len() > OUTPUT_BYTES_MAX {
        output.truncate(OUTPUT_BYTES_MAX);
        return Ok(PipeOutput::Truncated);
    }
    Ok(PipeOutput::Complete)
}

/// The start of the command's stderr on one line, with the printed secret redacted.
fn stderr_excerpt(stderr_text: &str, printed: &str) -> String {
    let mut secrets = vec![SecretString::from(printed.trim())];
    secrets.extend(printed.lines().map(|line| SecretString::from(line.trim())));
    let text = Redactor::new(secrets).redact(stderr_text.trim()).into_owned();
    if text.is_empty() { String::new() } else { format!(": {}", shorten(&text)) }
}

/// The start of `text` on one line.
pub(crate) fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT_CHARS_MAX) {
        Some((end, _)) => format!("{} ...", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// A configured command and its cached output.
pub(crate) struct SecretCommand {
    command_line: String,
    printed: super::cached::CachedCredential<SecretString>,
}

impl SecretCommand {
    pub(crate) fn new(command_line: impl Into<String>) -> Self {
        Self { command_line: command_line.into(), printed: super::cached::CachedCredential::default() }
    }

    /// The cached output; runs the command if there is none. `failed` turns a failure into an error.
    pub(crate) async fn get(
        &self,
        failed: impl FnOnce(String) -> super::AuthError,
    ) -> Result<SecretString, super::AuthError> {
        self.printed.get_or(|_| true, async || run(&self.command_line).await.map_err(failed)).await
    }

    pub(crate) fn forget(&self) -> bool {
        self.printed.forget()
    }

    pub(crate) fn known(&self) -> Vec<SecretString> {
        self.printed.known().into_iter().filter(|secret| !secret.expose_secret().is_empty()).collect()
    }
}

/// Omits the command line: people put keys into it.
impl std::fmt::Debug for SecretCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretCommand").finish_non_exhaustive()
    }
}
