//! Formats the output and the status of a command for the model.

use std::path::Path;

use serde_json::{Value, json};

use rheon_sandbox::process::{EndReason, Output, ProcessOutcome};
use rheon_sandbox::{ContactOutcome, HostContact};

/// The output as text: all of it, or its head and tail with a line between them that says what was left out and where
/// it is.
pub(super) fn output(output: &Output) -> String {
    let mut text = output.head.clone();
    if let Some(tail) = &output.tail {
        end_line(&mut text);
        text.push_str(&omission(output));
        text.push('\n');
        text.push_str(tail);
    }
    end_line(&mut text);
    text
}

fn omission(output: &Output) -> String {
    let location = match (&output.spill_file, &output.spill_problem) {
        (Some(file), None) if file.bytes >= output.bytes => {
            format!("the full output is in {}", file.path.display())
        }
        (Some(file), _) => {
            format!("the first {} bytes of the output are in {}", file.bytes, file.path.display())
        }
        (None, Some(problem)) => format!("cannot save the output: {problem}"),
        (None, None) => "the output was not saved".into(),
    };
    format!("[{} bytes left out here; {location}]", output.omitted_bytes)
}

/// How the command ended, in one line.
pub(super) fn status(ended: &ProcessOutcome) -> String {
    let code = match (ended.exit_code, ended.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => killed_by(signal),
        (None, None) => "exit code unknown".into(),
    };
    match ended.end {
        EndReason::Finished => code,
        EndReason::TimedOut => format!(
            "timed out after {} ms and was stopped with all its child processes ({code}); set a larger timeout_ms, or run it \
             in the background",
            ended.duration.as_millis()
        ),
        EndReason::Canceled => format!("cancelled and stopped with all its child processes ({code})"),
    }
}

fn killed_by(signal: i32) -> String {
    match SIGNALS.iter().find(|(number, _)| *number == signal) {
        Some((_, name)) => format!("killed by signal {signal} ({name})"),
        None => format!("killed by signal {signal}"),
    }
}

/// The signals that end programs and have the same number on all systems.
const SIGNALS: [(i32, &str); 14] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
];

/// The details of a finished command for user interfaces.
pub(super) fn details(ended: &ProcessOutcome, output: &Output, dir: &Path) -> Value {
    json!({
        "exit_code": ended.exit_code,
        "signal": ended.signal,
        "duration_ms": u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX),
        "cwd": dir,
        "truncated": output.omitted_bytes > 0,
        "output_bytes": output.bytes,
        "output_file": output.spill_file.as_ref().map(|file| file.path.to_path_buf()),
    })
}

/// The hosts that a command contacted, for user interfaces and the log.
pub(super) fn hosts(contacts: &[HostContact]) -> Value {
    let outcome = |contact: &HostContact| match contact.outcome {
        ContactOutcome::Allowed => "allowed",
        ContactOutcome::NotListed => "not_listed",
        ContactOutcome::PrivateAddress => "private_address",
        ContactOutcome::Unreachable => "unreachable",
    };
    contacts
        .iter()
        .map(|contact| json!({ "host": contact.host, "port": contact.port, "outcome": outcome(contact) }))
        .collect()
}

/// Tells which hosts the sandbox refused.
pub(super) fn refused_hosts(contacts: &[HostContact]) -> Option<String> {
    let names = |refused: ContactOutcome| -> String {
        let refused = contacts.iter().filter(|contact| contact.outcome == refused).take(HOSTS_SHOWN_MAX);
        let names: Vec<String> =
            refused.map(|contact| format!("{}:{}", contact.host, contact.port)).collect();
        names.join(", ")
    };
    let problems = [
        (ContactOutcome::NotListed, "is not among the hosts that commands may reach; the user can allow it"),
        (
            ContactOutcome::PrivateAddress,
            "has a private address; the user can allow it in sandbox.network with private: before the name",
        ),
    ];
    let told: Vec<String> = problems
        .into_iter()
        .map(|(outcome, problem)| (names(outcome), problem))
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, problem)| format!("{names} {problem}"))
        .collect();
    (!told.is_empty()).then(|| told.join("; "))
}

const HOSTS_SHOWN_MAX: usize = 10;

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}
