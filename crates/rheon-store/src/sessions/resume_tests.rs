//! Resumes sessions after a normal end, after a kill at any point, and from a fork.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use rheon_testkit::{Agent, FnTool, LogPosition, Scenario, TestClock, Trace, Turn, scripted};
use rheon_types::event::OrderChecker;
use rheon_types::{Effect, Event, Store, Timestamp, ToolResult, unanswered_calls};
use serde_json::json;

use super::{JournalStore, ResumedSession, SessionFiles};
use crate::SessionName;
use crate::journal::Lease;

fn lease() -> Lease {
    Lease { pid: 7, host: None, at: Timestamp::from_millis(5) }
}

fn store(dir: &Path) -> Arc<JournalStore> {
    Arc::new(JournalStore::new(SessionFiles::new(dir, 1 << 30), None, lease()))
}

fn name() -> SessionName {
    SessionName::new("s").unwrap()
}

/// Counts how often it ran.
fn deploy(count: &Arc<AtomicUsize>) -> FnTool {
    let count = Arc::clone(count);
    FnTool::new("deploy", move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Ok(ToolResult::text("deployed")) }
    })
    .effect(Effect::Unsafe)
}

fn scenario() -> Scenario {
    Scenario::new().turn(Turn::new().tool_call_with_id("a", "deploy", json!({}))).turn("It is live.")
}

/// An agent that continues the resumed session.
fn agent(resumed: &ResumedSession, store: &Arc<JournalStore>, scenario: Scenario) -> (Agent, Trace) {
    let state = &resumed.state;
    let run_counts = state.run_counts().iter().map(|(name, n)| (name.clone(), *n)).collect();
    let (agent, trace, _) = scripted(scenario)
        .with(|builder| {
            builder
                .store(Arc::clone(store) as Arc<dyn Store>)
                .history(state.messages().into_iter().collect())
                .position(LogPosition { seq: state.seq, run_counts, ..LogPosition::default() })
                .clock(Arc::new(TestClock::default()))
        })
        .build();
    (agent, trace)
}

fn read(store: &JournalStore) -> Vec<Event> {
    let mut events = Vec::new();
    store.sessions().read(&name(), |event| events.push(event)).unwrap();
    events
}

async fn first_run(dir: &Path) -> (Vec<Event>, Vec<u8>) {
    let store = store(dir);
    let count = Arc::new(AtomicUsize::new(0));
    let ran = scripted(scenario())
        .tool(deploy(&count))
        .with(|builder| builder.store(Arc::clone(&store) as Arc<dyn Store>))
        .run("deploy")
        .await;
    drop(ran);
    while Arc::strong_count(&store) > 1 {
        tokio::task::yield_now().await;
    }
    let events = read(&store);
    let path = store.sessions().list(None)[0].path.clone();
    (events, std::fs::read(path).unwrap())
}

#[tokio::test]
async fn a_session_continues_where_it_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let (before, _) = first_run(dir.path()).await;
    let store = store(dir.path());
    let resumed = store.resume(&name()).await.unwrap();
    assert_eq!(resumed.unfinished_calls, []);
    let (agent, _) = agent(&resumed, &store, Scenario::new().turn("Yes, it is."));
    agent.run("is it?").await.unwrap();
    drop(agent);
    let after = read(&store);
    assert_eq!(after[..before.len()], before);
    assert!(after.iter().enumerate().all(|(place, event)| event.seq == place as u64 + 1));
    let runs: Vec<&str> = after
        .iter()
        .filter(|event| event.kind.name() == "agent.start")
        .map(|event| event.run_id.as_ref().unwrap().as_str())
        .collect();
    assert_eq!(runs, ["s.c.1", "s.c.2"]);
}

#[tokio::test]
async fn a_session_killed_after_any_line_resumes_without_repeating_calls() {
    let dir = tempfile::tempdir().unwrap();
    let (events, whole) = first_run(dir.path()).await;
    let path = store(dir.path()).sessions().list(None)[0].path.clone();
    let lines: Vec<usize> =
        whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(place, _)| place + 1).collect();
    let mut in_doubt = 0;
    for length in lines.into_iter().skip(1) {
        std::fs::write(&path, &whole[..length]).unwrap();
        let store = store(dir.path());
        let resumed = store.resume(&name()).await.unwrap();
        in_doubt += resumed.unfinished_calls.len();
        let kept = resumed.opened.scan.seq;
        let (agent, _) = agent(&resumed, &store, Scenario::new().turn("I look first."));
        agent.run("go on").await.unwrap();
        assert!(unanswered_calls(&agent.messages()).is_empty());
        drop(agent);
        let after = read(&store);
        let kept = usize::try_from(kept).unwrap();
        assert_eq!(after[..kept], events[..kept]);
        let mut order = OrderChecker::new();
        after.iter().for_each(|event| order.observe(event).unwrap());
        assert!(order.open_runs().is_empty(), "cut at {length}");
        store.close(&name().session_id());
    }
    assert_eq!(in_doubt, 1);
}

#[tokio::test]
async fn the_model_gets_a_note_about_an_unfinished_call() {
    let dir = tempfile::tempdir().unwrap();
    let (events, whole) = first_run(dir.path()).await;
    let path = store(dir.path()).sessions().list(None)[0].path.clone();
    let place = events.iter().position(|event| event.kind.name() == "tool.start").unwrap();
    // The header and the lease precede the events.
    let length: usize = whole.split_inclusive(|byte| *byte == b'\n').take(place + 3).map(<[u8]>::len).sum();
    std::fs::write(&path, &whole[..length]).unwrap();
    let store = store(dir.path());
    let resumed = store.resume(&name()).await.unwrap();
    assert_eq!(resumed.unfinished_calls.len(), 1);
    let texts: Vec<String> = resumed
        .state
        .messages()
        .iter()
        .filter_map(|message| message.as_llm())
        .map(|message| message.text())
        .collect();
    expect![[r#"
        deploy

        Outcome unknown: the program ended while this ran, so it may have run in part or in full. Check before you repeat it."#]].assert_eq(&texts.join("\n"));
}

#[tokio::test]
async fn a_fork_continues_by_itself_and_a_new_session_gets_its_own_journal() {
    let dir = tempfile::tempdir().unwrap();
    let (events, _) = first_run(dir.path()).await;
    let store = store(dir.path());
    let resumed = store.fork(&name(), 4, &"fork".into()).await.unwrap();
    assert_eq!(resumed.state.messages().len(), 1);
    let (agent, trace) = {
        let run_counts = resumed.state.run_counts().iter().map(|(name, n)| (name.clone(), *n)).collect();
        let (agent, trace, _) = scripted(Scenario::new().turn("Another way.").turn("Anew."))
            .with(|builder| {
                builder
                    .session("fork")
                    .store(Arc::clone(&store) as Arc<dyn Store>)
                    .history(resumed.state.messages().into_iter().collect())
                    .position(LogPosition { seq: resumed.state.seq, run_counts, ..LogPosition::default() })
            })
            .build();
        (agent, trace)
    };
    agent.run("differently").await.unwrap();
    let rotated = agent.new_session().unwrap();
    agent.run("anew").await.unwrap();
    trace.assert_order();
    assert_eq!(read(&store), events);
    let mut names: Vec<String> =
        store.sessions().list(None).iter().map(|listed| listed.name.to_string()).collect();
    names.sort();
    let mut expected = ["fork".to_owned(), rotated.to_string(), "s".to_owned()];
    expected.sort();
    assert_eq!(names, expected);
}
