//! Tests of real processes, without a sandbox and without a namespace.
#![cfg(target_os = "linux")]

use std::future::Future;
use std::path::PathBuf;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use tokio_util::sync::CancellationToken;

use super::super::launch::Containment;
use super::{Capture, EndReason, Launcher, ProcessError, ProcessOutcome, ShellLine, StopCondition, run};
use crate::process::stubborn::{left, stubborn};
use crate::process::{OutputLimits, ProcessEnvironment, ProcessSetup, ResourceLimits};

fn launcher() -> Launcher {
    let find = |name: &str| PathBuf::from("/usr/bin").join(name);
    Launcher {
        prefix: Vec::new(),
        bash: find("bash"),
        variables: Vec::new(),
        setup: ProcessSetup::PLAIN,
        view: None,
        containment: Containment::Supervisor,
        restrictions: None,
        limits: ResourceLimits::default(),
        helper: None,
        guard: None,
    }
}

fn line(text: &str) -> ShellLine {
    let environment = ProcessEnvironment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin");
    ShellLine { text: text.into(), dir: "/".into(), environment }
}

fn capture() -> Mutex<Capture> {
    Mutex::new(Capture::new(OutputLimits { head_bytes: 10_000, tail_bytes: 10_000, spill: None }))
}

fn stop() -> StopCondition {
    StopCondition { timeout: None, cancel: CancellationToken::new() }
}

async fn ran(text: &str) -> (ProcessOutcome, String) {
    let capture = capture();
    let outcome = run(&line(text), launcher(), stop(), &capture, |_| {}).await.unwrap();
    (outcome, capture.into_inner().unwrap().finish().head)
}

#[tokio::test]
async fn output_arrives_in_order_and_the_exit_code_is_told() {
    let (outcome, output) = ran("echo one; echo two >&2; echo three; exit 7").await;
    assert_eq!(output, "one\ntwo\nthree\n");
    assert_eq!((outcome.end, outcome.exit_code, outcome.signal), (EndReason::Finished, Some(7), None));
}

#[tokio::test]
async fn a_signal_is_told() {
    let (outcome, _) = ran("kill -9 $$").await;
    assert_eq!((outcome.end, outcome.exit_code, outcome.signal), (EndReason::Finished, None, Some(9)));
}

#[tokio::test]
async fn the_dir_in_which_the_shell_ended_is_told_and_programs_cannot_tell_another() {
    let (outcome, _) = ran("cd /usr; exit 3").await;
    assert_eq!(outcome.dir, Some("/usr".into()));
    let (outcome, output) =
        ran("cd /usr; ls /proc/self/fd; perl -e 'open(F, \">&=10\") and syswrite(F, \"\\0/etc\\n\")'").await;
    assert_eq!(outcome.dir, Some("/usr".into()), "{output}");
    // The shell itself can break what it tells; then nothing is believed.
    let (outcome, output) = ran("cd /usr; for fd in /proc/self/fd/*; do echo /etc >$fd; done").await;
    assert_ne!(outcome.dir, Some("/etc".into()), "{output}");
    let odd = tempfile::tempdir().unwrap();
    let odd = odd.path().join("two\nlines");
    std::fs::create_dir(&odd).unwrap();
    let (outcome, _) = ran(&format!("cd '{}'", odd.display())).await;
    assert_eq!(outcome.dir, Some(odd));
    let (outcome, _) = ran("cd /usr; exec true").await;
    assert_eq!(outcome.dir, None);
}

#[tokio::test]
async fn nothing_can_be_read_and_there_is_no_terminal() {
    let (outcome, output) = ran("read answer; echo \"read=$? answer=$answer\"; cat; (: </dev/tty) 2>/dev/null; \
                               echo tty=$?; echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $TERM; stat -Lc %t:%T /dev/stdin").await;
    assert_eq!(output, "read=1 answer=\ntty=1\ncat cat 0 dumb\n1:3\n");
    assert_eq!(outcome.exit_code, Some(0));
}

#[tokio::test]
async fn the_command_keeps_its_quotes_its_parameters_and_its_heredocs() {
    let (_, output) = ran("echo 'it'\\''s' \"$0\" $#\ncat <<'END'\n$HOME 'x'\nEND\n# comment").await;
    assert_eq!(output, "it's /usr/bin/bash 0\n$HOME 'x'\n");
}

#[tokio::test]
async fn a_process_that_holds_the_pipe_does_not_keep_the_caller() {
    let (outcome, output) = ran("setsid sleep 61 & echo done").await;
    assert_eq!((outcome.end, outcome.exit_code, output.as_str()), (EndReason::Finished, Some(0), "done\n"));
}

#[tokio::test]
async fn a_process_that_closes_its_output_is_awaited_nevertheless() {
    let (outcome, output) = ran("echo first; exec >&- 2>&-; for i in {1..2000}; do :; done; exit 5").await;
    assert_eq!((outcome.exit_code, output.as_str()), (Some(5), "first\n"));
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let (outcome, output) = ran(&stubborn("rheon-process-left-behind")).await;
    assert_eq!((outcome.exit_code, output.as_str()), (Some(0), "ready\n"));
    assert_eq!(left("rheon-process-left-behind"), Vec::<String>::new());
}

#[tokio::test]
async fn cancelling_leaves_no_process() {
    let stop = stop();
    let cancel = stop.cancel.clone();
    let text = format!("{}; wait", stubborn("rheon-process-cancelled"));
    let capture = capture();
    let ready = |capture: &Mutex<Capture>| {
        if capture.lock().unwrap().latest(100).contains("ready") {
            cancel.cancel();
        }
    };
    let outcome = run(&line(&text), launcher(), stop, &capture, ready).await.unwrap();
    assert_eq!((outcome.end, outcome.exit_code, outcome.signal), (EndReason::Canceled, None, Some(9)));
    assert_eq!(left("rheon-process-cancelled"), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_command_that_takes_too_long_is_ended() {
    let stop = StopCondition { timeout: Some(std::time::Duration::from_secs(120)), ..stop() };
    let text = "bash -c 'exec -a rheon-process-late sleep 60' & wait";
    let outcome = run(&line(text), launcher(), stop, &capture(), |_| {}).await.unwrap();
    assert_eq!(outcome.end, EndReason::TimedOut);
    assert_eq!(left("rheon-process-late"), Vec::<String>::new());
}

#[tokio::test]
async fn dropping_the_future_at_any_poll_leaves_no_process() {
    for polls in 0..8 {
        let text =
            "(setsid bash -c 'exec -a rheon-process-dropped sleep 60' &); echo a; echo b >&2; sleep 60";
        let capture = capture();
        let line = line(text);
        let mut future = Box::pin(run(&line, launcher(), stop(), &capture, |_| {}));
        let mut polled = 0;
        std::future::poll_fn(|context: &mut Context<'_>| {
            if polled == polls {
                return Poll::Ready(());
            }
            polled += 1;
            assert!(future.as_mut().poll(context).is_pending());
            // After the second line nothing more comes.
            if capture.lock().unwrap().latest(100).contains('b') { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        drop(future);
        assert_eq!(left("rheon-process-dropped"), Vec::<String>::new());
    }
}

#[tokio::test]
async fn dropping_the_future_before_the_process_is_started_leaves_no_process() {
    for _ in 0..20 {
        let line = line("exec -a rheon-process-early sleep 60");
        let capture = capture();
        let mut future = Box::pin(run(&line, launcher(), stop(), &capture, |_| {}));
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(left("rheon-process-early"), Vec::<String>::new());
}

#[tokio::test]
async fn a_hundred_megabytes_of_output_are_counted() {
    let capture = capture();
    let mut most = 0;
    let text = "head -c 104857600 /dev/zero | tr '\\0' x";
    let seen = |capture: &Mutex<Capture>| most = most.max(capture.lock().unwrap().kept_bytes());
    run(&line(text), launcher(), stop(), &capture, seen).await.unwrap();
    let output = capture.into_inner().unwrap().finish();
    assert_eq!((most, output.bytes, output.omitted_bytes), (20_000, 104_857_600, 104_837_600));
}

#[tokio::test]
async fn a_line_that_the_kernel_cannot_take_is_refused() {
    let refused = |text: String| async move {
        run(&line(&text), launcher(), stop(), &capture(), |_| {}).await.unwrap_err().to_string()
    };
    assert_eq!(
        [refused("x".repeat(100_001)).await, refused("a\0b".into()).await],
        [
            "the command has 100001 bytes, but at most 100000 are possible; write it to a file and run that",
            "the command contains a NUL byte; remove it"
        ]
    );
    let (outcome, output) = ran(&format!("echo {}", "x".repeat(90_000))).await;
    assert_eq!((outcome.exit_code, output.len()), (Some(0), 20_000 - 10_000));
}

#[tokio::test]
async fn a_program_that_is_missing_is_named() {
    let launcher = Launcher { prefix: vec!["/nowhere/program".into()], ..launcher() };
    let error = run(&line("true"), launcher, stop(), &capture(), |_| {}).await.unwrap_err();
    assert!(
        matches!(&error, ProcessError::Start { program, .. } if program == "/nowhere/program"),
        "{error}"
    );
}

#[tokio::test]
async fn without_a_supervisor_a_program_that_is_missing_and_a_dir_that_is_gone_are_told() {
    let alone = || Launcher { containment: Containment::Namespace, ..launcher() };
    let missing = Launcher { prefix: vec!["/nowhere/program".into()], ..alone() };
    let gone = ShellLine { dir: "/nowhere/folder".into(), ..line("true") };
    let refused = |line: ShellLine, launcher: Launcher| async move {
        run(&line, launcher, stop(), &capture(), |_| {}).await.unwrap_err().to_string()
    };
    assert_eq!(
        [refused(line("true"), missing).await, refused(gone, alone()).await],
        [
            "cannot start /nowhere/program: No such file or directory (os error 2)",
            "cannot start /usr/bin/bash: No such file or directory (os error 2)"
        ]
    );
}

#[tokio::test]
async fn a_program_without_a_dir_is_looked_for_in_the_path_of_the_command() {
    let launcher = Launcher { bash: "bash".into(), containment: Containment::Namespace, ..launcher() };
    let capture = capture();
    let outcome = run(&line("echo $0"), launcher, stop(), &capture, |_| {}).await.unwrap();
    let output = capture.into_inner().unwrap().finish().head;
    assert_eq!((outcome.exit_code, output.as_str()), (Some(0), "/usr/bin/bash\n"));
}
