//! One capture precedes the first change of a turn, whatever its outcome.

use std::fs;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rheon_testkit::{FnTool, Scenario, TestClock, Turn, scripted};
use rheon_types::{
    AgentEvent, AgentOutput, AssistantMessage, Content, Effect, Hook as _, Message, RunEnd, RunEvent,
    SessionEvent, StopReason, Timestamp, ToolCall, ToolError, ToolEvent, ToolResult, Usage,
};
use serde_json::json;

use super::fixture::{Fixture, fixture, moment};
use super::plan::RestoreSelection;
use super::probe::Io;
use super::turn::{CheckpointFailurePolicy, TurnCheckpoints};
use super::{ChangeKind, CheckpointId, Checkpoints};

fn hook(checkpoints: Arc<Checkpoints>) -> TurnCheckpoints {
    TurnCheckpoints::new(checkpoints, Arc::new(TestClock::default()), |call: &ToolCall| {
        call.name.as_str() != "look"
    })
    .session("s".into(), || 42)
}

fn tool(fixture: &Fixture, name: &'static str) -> FnTool {
    let root = fixture.root();
    FnTool::new(name, move |arguments, _| {
        let path = root.join(arguments["path"].as_str().unwrap());
        async move {
            let written = fs::write(path, "new");
            written.map_err(|error| ToolError::Failed(error.to_string()))?;
            Ok(ToolResult::text("done"))
        }
    })
    .effect(Effect::Idempotent)
}

fn look() -> FnTool {
    FnTool::new("look", |_, _| async { Ok(ToolResult::text("seen")) })
}

fn scenario() -> Scenario {
    Scenario::new()
        .turn(Turn::new().tool_call("look", json!({})))
        .turn(
            Turn::new()
                .tool_call("look", json!({}))
                .tool_call("write", json!({ "path": "a" }))
                .tool_call("shell", json!({ "path": "b" })),
        )
        .turn(Turn::new().tool_call("shell", json!({ "path": "c" })))
        .turn("ready")
}

/// The calls and hook reports in the log.
async fn run(fixture: &Fixture, hook: TurnCheckpoints) -> Vec<String> {
    let agent = scripted(scenario()).tool(look()).tool(tool(fixture, "write")).tool(tool(fixture, "shell"));
    let ran = agent.with(|builder| builder.hook(hook)).run("go").await;
    let reports = |event: &AgentEvent| match event {
        AgentEvent::Session(SessionEvent::Checkpoint { id, label }) => Some(format!("{id} {label}")),
        AgentEvent::Run(RunEvent::Error { message }) => Some(message.clone()),
        AgentEvent::Tool(ToolEvent::Start { name, .. }) => Some(name.to_string()),
        AgentEvent::Tool(ToolEvent::Blocked { name, .. }) => Some(format!("{name} blocked")),
        _ => None,
    };
    ran.trace.events().iter().filter_map(|event| reports(&event.kind)).collect()
}

#[tokio::test(start_paused = true)]
async fn each_turn_that_changes_files_has_one_checkpoint_and_can_be_undone() {
    let fixture = fixture();
    fixture.write("a", "old");
    let checkpoints = Arc::new(fixture.again(super::probe::Probe::default()));
    let reports = run(&fixture, hook(Arc::clone(&checkpoints))).await;
    let listed = checkpoints.list().unwrap();
    let labels: Vec<_> = listed.iter().map(|it| format!("{} {}", it.id, it.moment.label)).collect();
    // Each checkpoint precedes the first call it can undo.
    assert_eq!(reports, ["look", "look", &labels[0], "write", "shell", &labels[1], "shell"]);
    let moments: Vec<_> =
        listed.iter().map(|it| (it.moment.label.as_str(), it.moment.turn_index, it.moment.seq)).collect();
    assert_eq!(moments, [("before write in turn 1", 1, 42), ("before shell in turn 2", 2, 42)]);
    assert_eq!(fixture.tree(), "a 644 new\nb 644 new\nc 644 new\n");
    let changed: Vec<_> =
        checkpoints.changed_since(&listed[1].id).unwrap().into_iter().map(|it| (it.path, it.kind)).collect();
    assert_eq!(changed, [("c".into(), ChangeKind::Added)]);
    let back = |id: &CheckpointId| {
        let plan = checkpoints.plan_restore(id, RestoreSelection::All).unwrap();
        assert_eq!(checkpoints.restore(&plan, &moment("rewind")).unwrap().errors, vec![]);
    };
    back(&listed[1].id);
    assert_eq!(fixture.tree(), "a 644 new\nb 644 new\n");
    back(&listed[0].id);
    assert_eq!(fixture.tree(), "a 644 old\n");
}

fn full(fixture: &Fixture) -> Arc<Checkpoints> {
    Arc::new(fixture.seen(|io, _| match io {
        Io::Commit => Err(io::Error::from(io::ErrorKind::StorageFull)),
        _ => Ok(()),
    }))
}

#[tokio::test(start_paused = true)]
async fn a_failed_capture_is_reported_once_per_turn_and_the_calls_run() {
    let fixture = fixture();
    let reports = run(&fixture, hook(full(&fixture))).await;
    assert_eq!(fixture.tree(), "a 644 new\nb 644 new\nc 644 new\n");
    let warnings: Vec<_> = reports.iter().filter(|it| it.contains(' ')).collect();
    assert_eq!(warnings.len(), 2);
    let is_warning = |it: &&String| it.starts_with("cannot save the files for undo: cannot write ");
    assert!(warnings.iter().all(is_warning), "{reports:?}");
}

#[tokio::test(start_paused = true)]
async fn a_failed_capture_blocks_calls_with_the_refuse_policy() {
    let fixture = fixture();
    let reports = run(&fixture, hook(full(&fixture)).on_failure(CheckpointFailurePolicy::Refuse)).await;
    let names: Vec<_> = reports
        .iter()
        .map(|it| if it.starts_with("cannot save the files") { "warning" } else { it })
        .collect();
    let refused = ["warning", "write blocked", "warning", "shell blocked", "warning", "shell blocked"];
    assert_eq!(names, [&["look", "look"][..], &refused].concat());
    assert_eq!(fixture.tree(), "");
}

#[tokio::test]
async fn a_capture_that_times_out_leaves_no_checkpoint() {
    let fixture = fixture();
    fixture.write("a", "old");
    let checkpoints = Arc::new(fixture.again(super::probe::Probe::default()));
    // Another process holds the lock during the whole run.
    fs::create_dir_all(fixture.store()).unwrap();
    let lock = fs::File::create(fixture.store().join("lock")).unwrap();
    lock.lock().unwrap();
    let reports =
        run(&fixture, hook(Arc::clone(&checkpoints)).capture_timeout(Duration::from_millis(1))).await;
    let stopped = "cannot save the files for undo: the capture was canceled";
    assert_eq!(reports, ["look", "look", stopped, "write", "shell", stopped, "shell"]);
    drop(lock);
    // By now the waiting capture has seen that it was canceled, or will.
    let captured = tokio::task::spawn_blocking({
        let checkpoints = Arc::clone(&checkpoints);
        move || checkpoints.capture(&moment("later"))
    });
    captured.await.unwrap().unwrap();
    let labels: Vec<_> = checkpoints.list().unwrap().into_iter().map(|it| it.moment.label).collect();
    assert_eq!(labels, ["later"]);
}

#[tokio::test]
async fn a_late_end_of_a_run_leaves_the_calls_of_the_next_open() {
    let fixture = fixture();
    let checkpoints = Arc::new(fixture.again(super::probe::Probe::default()));
    let hook = hook(Arc::clone(&checkpoints));
    let call = |id: &str| ToolCall {
        id: id.into(),
        name: "write".into(),
        arguments: Arc::new(json!({})),
        malformed: None,
        key_order: None,
    };
    let output = |id: &str| {
        let answer = AssistantMessage {
            content: vec![Content::ToolCall(call(id))],
            stop_reason: StopReason::ToolUse,
            model: "m".into(),
            provider: "p".into(),
            usage: Usage::default(),
            timestamp: Timestamp::default(),
            error_message: None,
        };
        AgentOutput {
            messages: vec![Arc::new(Message::Assistant(answer).into())],
            ..AgentOutput::new(RunEnd::Aborted)
        }
    };
    let mark = || fs::metadata(fixture.store().join("marks/s")).is_ok();
    hook.before_tool(&call("next")).get().await;
    hook.after_run(&output("first")).get().await;
    assert!(!mark(), "the first run has left nothing open");
    hook.after_tool(&call("next"), &ToolResult::text("done"), false).get().await;
    assert!(mark(), "the call of the next run is its own");
    fs::remove_file(fixture.store().join("marks/s")).unwrap();
    // A stopped run does not report the end of its calls.
    hook.before_tool(&call("stopped")).get().await;
    hook.after_run(&output("stopped")).get().await;
    assert!(mark());
}
