//! The demo from outside: what happens, what it leaves, and that it leaves nothing else.

use std::path::Path;
use std::sync::{Arc, Mutex};

use expect_test::expect;
use rheon_app::session::{NoticeSink, SystemContext};
use rheon_app::sessions::EnvVars;
use rheon_app::{DemoError, DemoFiles, DemoOptions, DemoReport, demo};
use rheon_testkit::Trace;
use rheon_types::{AgentEvent, Event, RunEnd, ToolCallId, ToolEvent};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

struct Stage {
    dir: TempDir,
    home: TempDir,
}

impl Stage {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    fn options(&self, files: DemoFiles) -> DemoOptions {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let variables = [("HOME", self.home.path().as_os_str().to_owned()), ("PATH", path)];
        let environment: EnvVars = variables.into_iter().collect();
        DemoOptions {
            fast: true,
            files,
            dir: self.dir.path().to_owned(),
            trace: None,
            system: SystemContext::of_process(environment, self.dir.path()),
        }
    }

    fn is_empty(&self) -> bool {
        std::fs::read_dir(self.dir.path()).unwrap().next().is_none()
    }
}

async fn play(options: DemoOptions) -> (Result<DemoReport, DemoError>, Trace) {
    let trace = Trace::new();
    let report = demo(options, &CancellationToken::new(), quiet(), |event| trace.observe(event)).await;
    trace.assert_order();
    (report, trace)
}

fn quiet() -> NoticeSink {
    Arc::new(|_| {})
}

/// The calls in the model's order, each with how it ended: everything that the tools really did.
fn calls(events: &[Event]) -> String {
    let ended = |wanted: &ToolCallId| {
        let end = |event: &Event| match &event.kind {
            AgentEvent::Tool(ToolEvent::End { call_id, is_error, result, .. }) if call_id == wanted => {
                let first = result.as_text().lines().next().unwrap_or_default().to_owned();
                Some(format!("{}: {first}", if *is_error { "failed" } else { "ok" }))
            }
            _ => None,
        };
        events.iter().find_map(end).unwrap_or_else(|| "never ended".into())
    };
    let line = |event: &Event| match &event.kind {
        AgentEvent::Tool(ToolEvent::Start { call_id, name, args, .. }) => {
            Some(format!("{name} {args}\n  {}\n", ended(call_id)))
        }
        AgentEvent::Tool(ToolEvent::Blocked { name, reason, .. }) => {
            Some(format!("{name} blocked: {reason}\n"))
        }
        _ => None,
    };
    events.iter().filter_map(line).collect()
}

#[tokio::test]
async fn a_failing_test_becomes_green_with_the_real_tools() {
    let stage = Stage::new();
    let events = Mutex::new(Vec::new());
    let cancel = CancellationToken::new();
    let on_event = |event: &Event| events.lock().unwrap().push(event.clone());
    let report = demo(stage.options(DemoFiles::Keep), &cancel, quiet(), on_event).await.unwrap();
    expect![[r#"
        bash {"command":"./test.sh"}
          ok: FAILED  Hello World -> hello_world, expected hello-world
        search {"pattern":"slug\\(\\)"}
          ok: slug.sh
        read {"path":"slug.sh"}
          ok: 1	#!/bin/sh
        edit {"edits":[{"new_string":"tr -s ' ' '-'","old_string":"tr -s ' ' '_'"}],"path":"slug.sh"}
          ok: changed slug.sh: 1 replaced, +1 -1 lines
        bash {"command":"./test.sh"}
          ok: ok      Hello World -> hello-world
    "#]]
    .assert_eq(&calls(&events.lock().unwrap()));
    assert_eq!((&report.output.end, report.output.turns), (&RunEnd::Completed, 5));
    let dir = report.dir.unwrap();
    let mended = std::fs::read_to_string(dir.join("slug.sh")).unwrap();
    assert!(mended.contains("tr -s ' ' '-'"), "{mended}");
    let tests = std::process::Command::new("sh").arg("test.sh").current_dir(&dir).output().unwrap();
    assert!(tests.status.success());
    assert!(report.is_saved);
    let sessions = stage.home.path().join(".local/share/rheon/sessions");
    assert!(sessions.is_dir());
}

#[tokio::test]
async fn it_leaves_nothing_if_asked() {
    let stage = Stage::new();
    let (report, _) = play(stage.options(DemoFiles::Remove)).await;
    let report = report.unwrap();
    assert_eq!((report.dir, report.is_saved), (None, false));
    assert!(stage.is_empty());
    assert!(!stage.home.path().join(".local/share/rheon/sessions").exists());
}

#[tokio::test]
async fn a_cancelled_demo_has_a_report_and_leaves_nothing() {
    for stop_at in ["agent.start", "text.delta", "tool.start", "tool.end", "turn.end"] {
        let stage = Stage::new();
        let (cancel, trace) = (CancellationToken::new(), Trace::new());
        let observe = |event: &Event| {
            trace.observe(event);
            if event.kind.name() == stop_at {
                cancel.cancel();
            }
        };
        let report = demo(stage.options(DemoFiles::Remove), &cancel, quiet(), observe).await.unwrap();
        trace.assert_order();
        // The script is quick: what was asked to stop may be done before it hears of it.
        assert!(matches!(report.output.end, RunEnd::Aborted | RunEnd::Completed), "at {stop_at}");
        assert!(stage.is_empty(), "at {stop_at}");
    }
}

#[tokio::test]
async fn without_a_place_to_work_it_says_what_to_do() {
    let stage = Stage::new();
    let dir = Path::new("/there/is/no/such/folder").to_owned();
    let (report, trace) = play(DemoOptions { dir, ..stage.options(DemoFiles::Remove) }).await;
    expect!["cannot create a workspace in /there/is/no/such/folder: no such directory; set TMPDIR to a writable directory"]
        .assert_eq(&report.unwrap_err().to_string());
    assert_eq!(trace.text(), "");
}

#[tokio::test]
async fn without_a_home_it_is_played_all_the_same() {
    let stage = Stage::new();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let environment: EnvVars = [("PATH", path)].into_iter().collect();
    let system = SystemContext::of_process(environment, stage.dir.path());
    let (report, _) = play(DemoOptions { system, ..stage.options(DemoFiles::Keep) }).await;
    let report = report.unwrap();
    assert_eq!((&report.output.end, report.is_saved), (&RunEnd::Completed, false));
}
