//! Runs a hook inside the sandbox: whatever it sources, imports or calls, the model may have changed. What it leaves
//! running ends with it.

use rheon_sandbox::Sandbox;
use rheon_sandbox::process::{
    EndReason, Output, OutputLimits, ProcessEnvironment, ShellLine, StopCondition, exchange,
};
use rheon_types::CallGrant;
use tokio_util::sync::CancellationToken;

use crate::hooks::run::{CapturedOutput, HookExit, OUTPUT_BYTES_MAX, ProcessSpec, Program};

/// Runs a process with `input` on stdin, with what commands of the session may reach.
pub(crate) async fn run_sandboxed(spec: &ProcessSpec, input: &[u8], sandbox: &Sandbox) -> HookExit {
    // Its access to hosts ends when this is dropped.
    let call = match sandbox.call(&CallGrant::default()) {
        Ok(call) => call,
        Err(error) => return HookExit::NotRun(format!("could not be started in the sandbox: {error}")),
    };
    let environment = spec
        .variables
        .iter()
        .fold(ProcessEnvironment::rebuilt([], &[]), |all, (name, value)| all.with(name, value));
    let line = ShellLine { text: shell_text(&spec.program), dir: spec.dir.clone(), environment };
    let stop = StopCondition { timeout: Some(spec.timeout), cancel: CancellationToken::new() };
    let limits = OutputLimits { head_bytes: OUTPUT_BYTES_MAX, tail_bytes: 0, spill: None };
    match exchange(&line, call.launcher(), input, stop, limits).await {
        Ok(ended) => match ended.outcome.end {
            EndReason::Finished => HookExit::Exited {
                code: ended.outcome.exit_code,
                stdout: captured(ended.output),
                stderr: captured(ended.errors),
            },
            EndReason::TimedOut | EndReason::Canceled => HookExit::TimedOut(spec.timeout),
        },
        Err(error) => HookExit::NotRun(format!("could not be started in the sandbox: {error}")),
    }
}

fn captured(output: Output) -> CapturedOutput {
    let mut captured = CapturedOutput::from(output.head);
    captured.is_cut = output.omitted_bytes > 0;
    captured
}

/// The program as a line of bash.
fn shell_text(program: &Program) -> String {
    let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
    match program {
        Program::ShellLine(line) => format!("/bin/sh -c {}", quoted(line)),
        Program::Executable(program, arguments) => {
            let words = std::iter::once(program).chain(arguments).map(|word| quoted(word));
            words.collect::<Vec<_>>().join(" ")
        }
    }
}
