//! `run`: a command line that prints a secret.

use std::process::Stdio;
use std::time::Duration;

use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use super::Redactor;

/// How long a command may take: long enough for a person to touch a security key.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// How much a command may print.
pub(crate) const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// How much of what it wrote to stderr is shown.
const SHOWN_CHARS_MAX: usize = 300;

/// How long output is awaited after the command itself has ended: something that it left running may hold the pipe.
const REST: Duration = Duration::from_millis(500);

/// Runs `command_line` through the shell, with stdin closed, and gives back what it prints, trimmed; the error says
/// what happened, without secrets. The shell is killed after [`TIMEOUT`], and when the future is dropped.
pub(crate) async fn run(command_line: &str) -> Result<SecretString, String> {
    let mut child = shell(command_line)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("cannot be started: {error}"))?;
    let mut printed = Zeroizing::new(Vec::new());
    let mut complaint = Zeroizing::new(Vec::new());
    let Ok(outcome) = tokio::time::timeout(TIMEOUT, finish(&mut child, &mut printed, &mut complaint)).await
    else {
        return Err(format!("did not finish within {} s and was stopped", TIMEOUT.as_secs()));
    };
    let status = outcome?;
    let text = Zeroizing::new(String::from_utf8_lossy(&printed).into_owned());
    if !status.success() {
        let complaint = Zeroizing::new(String::from_utf8_lossy(&complaint).into_owned());
        return Err(format!("failed ({status}){}", shown(&complaint, &text)));
    }
    if std::str::from_utf8(&printed).is_err() {
        return Err("printed something that is not UTF-8".to_owned());
    }
    if text.trim().is_empty() {
        let complaint = Zeroizing::new(String::from_utf8_lossy(&complaint).into_owned());
        return Err(format!("printed nothing{}", shown(&complaint, &text)));
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
    // The line goes to `cmd` as it is: `cmd` does not understand the usual quoting of arguments.
    command.arg("/C").raw_arg(command_line);
    command
}

/// Reads both pipes until the command ends.
async fn finish(
    child: &mut Child,
    printed: &mut Vec<u8>,
    complaint: &mut Vec<u8>,
) -> Result<std::process::ExitStatus, String> {
    let broken = |error: std::io::Error| format!("cannot be read: {error}");
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let read = async { tokio::join!(take(stdout, printed), take_all(stderr, complaint)).0.map_err(broken) };
    tokio::pin!(read);
    tokio::select! {
        kept = &mut read => {
            if kept? == Kept::Part {
                return Err(format!("printed more than {OUTPUT_BYTES_MAX} bytes"));
            }
            child.wait().await.map_err(broken)
        }
        status = child.wait() => {
            if let Ok(kept) = tokio::time::timeout(REST, &mut read).await && kept? == Kept::Part {
                return Err(format!("printed more than {OUTPUT_BYTES_MAX} bytes"));
            }
            status.map_err(broken)
        }
    }
}

/// How much of a pipe was kept.
#[derive(PartialEq)]
enum Kept {
    All,
    Part,
}

/// Keeps the first [`OUTPUT_BYTES_MAX`] bytes of `pipe` in `kept` and reads the rest away: a command that complains at
/// length may still print a key.
async fn take_all(mut pipe: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) -> std::io::Result<()> {
    take(pipe.as_mut(), kept).await?;
    if let Some(pipe) = &mut pipe {
        tokio::io::copy(pipe, &mut tokio::io::sink()).await?;
    }
    Ok(())
}

/// Keeps the first [`OUTPUT_BYTES_MAX`] bytes of `pipe` in `kept`, then closes it.
async fn take(pipe: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) -> std::io::Result<Kept> {
    let Some(mut pipe) = pipe else { return Ok(Kept::All) };
    let limit = u64::try_from(OUTPUT_BYTES_MAX).unwrap_or(u64::MAX);
    // Room for all of it at once: a buffer that grows leaves copies of the secret behind.
    kept.reserve_exact(OUTPUT_BYTES_MAX + 1);
    (&mut pipe).take(limit + 1).read_to_end(kept).await?;
    if kept.len() > OUTPUT_BYTES_MAX {
        kept.truncate(OUTPUT_BYTES_MAX);
        return Ok(Kept::Part);
    }
    Ok(Kept::All)
}

/// The beginning of a command's complaint, in one line, without what it printed as the secret.
fn shown(complaint: &str, printed: &str) -> String {
    let mut secrets = vec![SecretString::from(printed.trim())];
    secrets.extend(printed.lines().map(|line| SecretString::from(line.trim())));
    let text = Redactor::new(secrets).redact(complaint.trim()).into_owned();
    if text.is_empty() { String::new() } else { format!(": {}", shorten(&text)) }
}

/// The beginning of `text`, in one line.
pub(crate) fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{} ...", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// What a configured command printed, kept until it is forgotten.
pub(crate) struct SecretCommand {
    command_line: String,
    printed: super::shared::Shared<SecretString>,
}

impl SecretCommand {
    pub(crate) fn new(command_line: impl Into<String>) -> Self {
        Self { command_line: command_line.into(), printed: super::shared::Shared::default() }
    }

    /// What it printed last, or prints now. `failed` makes the error out of what happened.
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

/// Without the command line: people write keys into them.
impl std::fmt::Debug for SecretCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretCommand").finish_non_exhaustive()
    }
}
