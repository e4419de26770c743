//! Lines that read input.

use tokio_util::sync::CancellationToken;

use super::*;
use crate::process::ProcessEnvironment;
use crate::sandbox::{Boundary, Requirement, Sandbox};

#[tokio::test]
async fn input_output_and_errors_are_apart_at_every_level() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let strong = Sandbox::choose(Requirement::default(), Boundary::new([&root])).await;
    let none = Sandbox::choose(Requirement::NoSandbox, Boundary::new([&root])).await;
    for sandbox in [strong, none].into_iter().flatten() {
        // Longer than a pipe holds.
        let input = "x".repeat(300_000);
        for (text, output, errors) in [
            ("wc -c; echo problem >&2; exit 3", "300000\n", "problem\n"),
            ("echo not read; exit 3", "not read\n", ""),
            ("exec 1>&-; head -c 2 >&2; exit 3", "", "xx"),
        ] {
            let environment = ProcessEnvironment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin");
            let line = ShellLine { text: text.into(), dir: root.clone(), environment };
            let limits = OutputLimits { head_bytes: 1_000, tail_bytes: 0, spill: None };
            let stop = StopCondition { timeout: None, cancel: CancellationToken::new() };
            let ended = exchange(&line, sandbox.launcher(), input.as_bytes(), stop, limits).await.unwrap();
            assert_eq!(
                (ended.outcome.exit_code, ended.output.head.as_str(), ended.errors.head.as_str()),
                (Some(3), output, errors),
                "{text} at {}",
                sandbox.level()
            );
        }
    }
}
