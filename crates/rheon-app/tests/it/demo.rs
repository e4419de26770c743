//! The demo from outside: what happens, what it leaves, and that it leaves nothing else.

use std::panic::AssertUnwindSafe;
use std::path::Path;

use expect_test::expect;
use futures::FutureExt;
use rheon_app::{DemoError, DemoOptions, DemoReport, demo};
use rheon_testkit::Trace;
use rheon_types::{AgentEvent, Event, RunEnd};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

fn options(folder: &TempDir) -> DemoOptions {
    DemoOptions { fast: true, keep: false, folder: folder.path().to_owned() }
}

fn is_empty(folder: &TempDir) -> bool {
    std::fs::read_dir(folder.path()).unwrap().next().is_none()
}

async fn play(options: DemoOptions) -> (Result<DemoReport, DemoError>, Trace) {
    let trace = Trace::new();
    let report = demo(options, &CancellationToken::new(), |event| trace.observe(event)).await;
    trace.assert_order();
    (report, trace)
}

#[tokio::test(start_paused = true)]
async fn it_is_played_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let (report, trace) = play(options(&folder)).await;
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        message.start user
        message.end user "Write a short plan for releasing our library, with its risks, as notes. Then read me the plan."
        llm.start scripted
        message.start assistant
        message.end assistant ToolUse ("Two notes will do: the plan, and what could go wrong. Neither needs the other, so I can write both at once.") "I am a scripted model, so no network is needed; the loop, the tools and the files are real. I begin with two notes." [write_note call_1_0 {"name":"release-plan","text":"1. Freeze the public interface.\n2. Let two users try it for a week.\n3. Tag, publish, tell people.\n"}] [write_note call_1_1 {"name":"risks","text":"- A breaking change slips in: compare the interface before the tag.\n"}]
        llm.end ToolUse
        tool.start write_note call_1_0 {"name":"release-plan","text":"1. Freeze the public interface.\n2. Let two users try it for a week.\n3. Tag, publish, tell people.\n"}
        tool.start write_note call_1_1 {"name":"risks","text":"- A breaking change slips in: compare the interface before the tag.\n"}
        tool.end write_note call_1_0 ok "kept release-plan (98 bytes)"
        tool.end write_note call_1_1 ok "kept risks (68 bytes)"
        message.start toolResult
        message.end toolResult call_1_0 "kept release-plan (98 bytes)"
        message.start toolResult
        message.end toolResult call_1_1 "kept risks (68 bytes)"
        turn.end 0 results=2 tokens=530
        turn.start 1 Continuation
        llm.start scripted
        message.start assistant
        message.end assistant ToolUse "Both are kept. Now I read the plan back." [read_note call_2_0 {"name":"plan"}]
        llm.end ToolUse
        tool.start read_note call_2_0 {"name":"plan"}
        tool.end read_note call_2_0 error "there is no note named \"plan\"; there are: release-plan, risks"
        message.start toolResult
        message.end toolResult call_2_0 error "there is no note named \"plan\"; there are: release-plan, risks"
        turn.end 1 results=1 tokens=587
        turn.start 2 Continuation
        llm.start scripted
        message.start assistant
        message.end assistant ToolUse ("There is no such note, but the error lists the names. It is called release-plan.") "I had the name wrong; the error lists the right one." [read_note call_3_0 {"name":"release-plan"}]
        llm.end ToolUse
        tool.start read_note call_3_0 {"name":"release-plan"}
        tool.end read_note call_3_0 ok "1. Freeze the public interface.\n2. Let two users try it for a week.\n3. Tag, publish, tell people.\n"
        message.start toolResult
        message.end toolResult call_3_0 "1. Freeze the public interface.\n2. Let two users try it for a week.\n3. Tag, publish, tell people.\n"
        turn.end 2 results=1 tokens=668
        turn.start 3 Continuation
        llm.start scripted
        message.start assistant
        message.end assistant Stop "The plan, as it stands in the file:\n\n1. Freeze the public interface.\n2. Let two users try it for a week.\n3. Tag, publish, tell people.\n\nThe one risk I see is a breaking change; it has a note of its own."
        llm.end Stop
        turn.end 3 results=0 tokens=765
        agent.end completed "The plan, as it stands in the file:\n\n1. Freeze the public interface.\n2. Let two users try it for a week.\n3. Tag, publish, tell people.\n\nThe one risk I see is a breaking change; it has a note of its own.""#]].assert_eq(&trace.durable_text());
    report.unwrap();
}

#[tokio::test(start_paused = true)]
async fn it_tells_what_was_made_and_removes_it() {
    let folder = tempfile::tempdir().unwrap();
    let report = play(options(&folder)).await.0.unwrap();
    expect![[r#"
        (
            [
                NoteFile {
                    name: "release-plan.md",
                    bytes: 98,
                },
                NoteFile {
                    name: "risks.md",
                    bytes: 68,
                },
            ],
            Usage {
                input: 704,
                output: 260,
                cache_read: 1586,
                cache_write: 0,
                total_tokens: 2550,
            },
            4,
            None,
        )
    "#]]
    .assert_debug_eq(&(&report.notes, &report.output.usage, report.output.turns, &report.kept));
    assert!(is_empty(&folder));
}

#[tokio::test(start_paused = true)]
async fn with_pauses_the_same_happens() {
    let folder = tempfile::tempdir().unwrap();
    let (_, fast) = play(options(&folder)).await;
    let (_, paced) = play(DemoOptions { fast: false, ..options(&folder) }).await;
    assert_eq!(paced.text(), fast.text());
}

#[tokio::test(start_paused = true)]
async fn it_keeps_the_workspace_if_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (report, _) = play(DemoOptions { keep: true, ..options(&folder) }).await;
    let kept = report.unwrap().kept.unwrap();
    assert_eq!(kept.parent(), Some(folder.path()));
    let risks = std::fs::read_to_string(kept.join("risks.md")).unwrap();
    assert_eq!(risks, "- A breaking change slips in: compare the interface before the tag.\n");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_demo_has_a_report_and_leaves_nothing() {
    for stop_at in ["agent.start", "thinking.delta", "text.delta", "tool.start", "tool.end", "turn.end"] {
        let folder = tempfile::tempdir().unwrap();
        let cancel = CancellationToken::new();
        let trace = Trace::new();
        let observe = |event: &Event| {
            trace.observe(event);
            if event.kind.name() == stop_at {
                cancel.cancel();
            }
        };
        let report = demo(DemoOptions { fast: false, ..options(&folder) }, &cancel, observe).await.unwrap();
        trace.assert_order();
        assert_eq!(report.output.end, RunEnd::Aborted, "at {stop_at}");
        assert!(is_empty(&folder), "at {stop_at}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_demo_that_is_dropped_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    let (sender, first_tool) = tokio::sync::oneshot::channel();
    let mut sender = Some(sender);
    let observe = |event: &Event| {
        if matches!(event.kind, AgentEvent::ToolEnd { .. }) {
            sender.take().into_iter().for_each(|sender| sender.send(()).unwrap());
        }
    };
    tokio::select! {
        biased;
        told = first_tool => told.unwrap(),
        _ = demo(DemoOptions { fast: false, ..options(&folder) }, &cancel, observe) => panic!("it was not dropped"),
    }
    assert!(is_empty(&folder));
}

#[tokio::test(start_paused = true)]
async fn an_observer_that_panics_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    let playing = demo(options(&folder), &cancel, |event| {
        assert!(!matches!(event.kind, AgentEvent::ToolStart { .. }), "no tools, please");
    });
    assert!(AssertUnwindSafe(playing).catch_unwind().await.is_err());
    assert!(is_empty(&folder));
}

#[tokio::test(start_paused = true)]
async fn without_a_place_to_work_it_says_what_to_do() {
    let (report, trace) =
        play(DemoOptions { fast: true, keep: false, folder: Path::new("/there/is/no/such/folder").into() })
            .await;
    expect!["cannot make a workspace in /there/is/no/such/folder: there is no such folder; set TMPDIR to a folder that can be written"]
        .assert_eq(&report.unwrap_err().to_string());
    assert_eq!(trace.text(), "");
}
