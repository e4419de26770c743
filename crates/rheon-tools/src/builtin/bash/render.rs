//! What the model reads of a command's output and end.

use std::path::Path;

use serde_json::{Value, json};

use rheon_sandbox::process::{EndReason, Output, ProcessOutcome};

/// The output as text: all of it, or its head and tail with a line between that says what is missing and where it is.
pub(super) fn output(output: &Output) -> String {
    let mut text = output.head.clone();
    if let Some(tail) = &output.tail {
        end_line(&mut text);
        text.push_str(&missing(output));
        text.push('\n');
        text.push_str(tail);
    }
    end_line(&mut text);
    text
}

fn missing(output: &Output) -> String {
    let place = match (&output.spill_file, &output.spill_problem) {
        (Some(file), None) if file.bytes >= output.bytes => {
            format!("the whole output is in {}", file.path.display())
        }
        (Some(file), _) => {
            format!("the first {} bytes of the output are in {}", file.bytes, file.path.display())
        }
        (None, Some(problem)) => format!("the output was not saved: {problem}"),
        (None, None) => "the output was not saved".into(),
    };
    format!("[{} bytes left out here; {place}]", output.omitted_bytes)
}

/// One line on how it ended.
pub(super) fn end(ended: &ProcessOutcome) -> String {
    let code = match (ended.exit_code, ended.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}, no exit code"),
        (None, None) => "exit code unknown".into(),
    };
    match ended.end {
        EndReason::Finished => code,
        EndReason::TimedOut => format!(
            "stopped after {} ms with all that it started: it took too long ({code}); give a larger timeout_ms, or run \
             it in the background",
            ended.duration.as_millis()
        ),
        EndReason::Canceled => format!("stopped with all that it started, because it was cancelled ({code})"),
    }
}

/// What user interfaces are told of a command that ended.
pub(super) fn details(ended: &ProcessOutcome, output: &Output, folder: &Path) -> Value {
    json!({
        "exit_code": ended.exit_code,
        "signal": ended.signal,
        "duration_ms": u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX),
        "cwd": folder,
        "truncated": output.omitted_bytes > 0,
        "output_bytes": output.bytes,
        "output_file": output.spill_file.as_ref().map(|file| file.path.to_path_buf()),
    })
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}
