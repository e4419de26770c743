//! Sessions on disk, replayed: whole ones, ones that a crash cut off, ones that go on from others, and those kept as tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::sdk;
use rheon::agent::BudgetPool;
use rheon::context::WindowSettings;
use rheon::prelude::*;
use rheon::replay::{ReplayError, ReplayUntil, replay};
use rheon::replay::{ReplaySessionError, replay_session};
use rheon::store::SessionName;
use rheon::store::journal::Lease;
use rheon::store::sessions::{BLOB_BYTES_MAX, JournalStore, SessionFiles};
use rheon::types::Caps;
use rheon::types::{AskFirst, ProviderError, ProviderErrorKind, Store, Timestamp, Usage};
use rheon_testkit::{FnTool, Scenario, ScriptedAgent, TestClock, Turn, echo, fails, scripted};

fn journals(dir: &Path) -> Arc<JournalStore> {
    let lease = Lease { pid: 7, host: None, at: Timestamp::from_millis(5) };
    Arc::new(JournalStore::new(SessionFiles::new(dir, BLOB_BYTES_MAX), None, lease))
}

fn name(text: &str) -> SessionName {
    SessionName::new(text).unwrap()
}

fn read(sessions: &SessionFiles, name: &SessionName) -> Vec<Event> {
    let mut events = Vec::new();
    sessions.read(name, |event| events.push(event)).unwrap();
    events
}

fn tools() -> Vec<Arc<dyn Tool>> {
    let write = FnTool::new("write", |_, _| async { Ok(ToolResult::text("written")) });
    vec![Arc::new(write.effect(Effect::Idempotent)), Arc::new(echo()), Arc::new(fails())]
}

/// An agent that thinks, fails, tries again, calls tools side by side and asks.
fn worker(scenario: Scenario) -> ScriptedAgent {
    scripted(scenario).with(sdk(|builder| {
        builder.tools(tools()).permission_policy(AskFirst).on_approval(|request| async move {
            match request.call_id.as_str() {
                "b" => PermissionResponse::denied("not that file"),
                "c" => PermissionResponse::allowed_with(json!({ "path": "diary" })),
                _ => PermissionDecision::Allow.into(),
            }
        })
    }))
}

fn scenario() -> Scenario {
    Scenario::new()
        .turn(Turn::new().text("Half an ans").cut())
        .turn(Turn::fail(ProviderError::new(ProviderErrorKind::Overloaded, "try later")))
        .turn(
            Turn::new()
                .text("I look and write.")
                .tool_call_with_id("a", "echo", json!({ "text": "hi", "share": 0.1 }))
                .tool_call_with_id("b", "write", json!({ "path": "secret" }))
                .tool_call_with_id("c", "write", json!({ "path": "notes" }))
                .tool_call_with_id("d", "fails", json!({}))
                .tool_call_with_id("e", "nowhere", json!({})),
        )
        .turn("Done.")
        .turn("Yes.")
}

#[tokio::test(start_paused = true)]
async fn a_session_on_disk_is_replayed_to_the_byte() {
    let dir = tempfile::tempdir().unwrap();
    let journals = journals(dir.path());
    let (agent, ..) = worker(scenario()).with(sdk(|builder| builder.journals(&journals))).build();
    agent.run("go").await.unwrap();
    agent.run("really?").await.unwrap();
    let events = read(journals.sessions(), &name("s"));
    let replayed = replay_session(journals.sessions(), &name("s"), ReplayUntil::End).unwrap();
    assert_eq!(replayed.events, events);
    assert_eq!((replayed.runs, replayed.taken), (2, 0));
    for last in [1, 7, events.len() as u64 - 1] {
        let replayed = replay_session(journals.sessions(), &name("s"), ReplayUntil::Seq(last)).unwrap();
        assert_eq!(replayed.events.len() as u64, last);
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_cut_off_anywhere_and_gone_on_with_is_replayed() {
    let whole = tempfile::tempdir().unwrap();
    let store = journals(whole.path());
    let (agent, ..) = worker(scenario()).with(sdk(|builder| builder.journals(&store))).build();
    agent.run("go").await.unwrap();
    let events = read(store.sessions(), &name("s"));
    for length in 1..=events.len() {
        let dir = tempfile::tempdir().unwrap();
        let store = journals(dir.path());
        events.iter().take(length).for_each(|event| store.append(event).unwrap());
        store.close(&"s".into());
        let cut = replay_session(store.sessions(), &name("s"), ReplayUntil::End);
        assert_eq!(cut.unwrap().events, events[..length], "cut off after {length}");

        let session = store.resume(&name("s")).await.unwrap();
        let (agent, ..) =
            worker(Scenario::new().turn("I go on.")).with(sdk(|it| it.resumed(&store, &session))).build();
        agent.run("go on").await.unwrap();
        let recorded = read(store.sessions(), &name("s"));
        let replayed = replay_session(store.sessions(), &name("s"), ReplayUntil::End);
        let replayed = replayed.unwrap_or_else(|error| panic!("cut off after {length}: {error}"));
        assert_eq!(replayed.events, recorded, "cut off after {length}");
    }
}

#[tokio::test(start_paused = true)]
async fn from_any_event_on_another_model_may_answer() {
    let dir = tempfile::tempdir().unwrap();
    let store = journals(dir.path());
    let (agent, ..) = worker(scenario()).with(sdk(|builder| builder.journals(&store))).build();
    agent.run("go").await.unwrap();
    drop(agent);
    let recorded = read(store.sessions(), &name("s"));
    for seq in [1, 4, 12, recorded.len() as u64] {
        let other = format!("other-{seq}");
        let session = store.fork(&name("s"), seq, &other.as_str().into()).await.unwrap();
        let another = scripted(Scenario::new().turn("I would do otherwise.")).with(sdk(|builder| {
            builder.model("another").clock(Arc::new(TestClock::default())).resumed(&store, &session)
        }));
        another.run("and you?").await.result.unwrap();
        let events = read(store.sessions(), &name(&other));
        assert_eq!(events[..seq as usize], recorded[..seq as usize], "the past is that of the first");
        assert!(
            events.iter().any(
                |event| matches!(&event.kind, AgentEvent::Model(ModelEvent::Start { model, .. }) if &**model == "another")
            )
        );
        let replayed = replay_session(store.sessions(), &name(&other), ReplayUntil::End);
        let replayed = replayed.unwrap_or_else(|error| panic!("from {seq}: {error}"));
        assert_eq!(replayed.events, events, "from {seq}");
    }
    assert_eq!(read(store.sessions(), &name("s")), recorded, "the first session is as it was");
}

/// An agent whose window is small and whose budget is shared with one that has taken most of it.
fn frugal(scenario: Scenario, budget: &BudgetPool) -> ScriptedAgent {
    let budget = budget.clone();
    let window = WindowSettings { tokens_max: Some(4_000), ..WindowSettings::default() };
    let text = "All work and no play makes a dull log. ".repeat(70);
    let read = FnTool::new("read", move |_, _| std::future::ready(Ok(ToolResult::text(text.clone()))));
    scripted(scenario).tool(read.effect(Effect::Pure)).with(move |builder| {
        builder.window(window).budget(budget).max_tokens(500).system_prompt("Be frugal.")
    })
}

fn reading(calls: usize) -> Scenario {
    let usage = |input, output| Usage { input, output, ..Usage::default() };
    let overflow = ProviderError::new(ProviderErrorKind::ContextOverflow, "prompt is too long");
    let scenario = Scenario::new().respond(move |request| {
        let last = request.messages.for_model().next_back();
        let is_summary = last.is_some_and(|last| last.text().contains("write a hand-over"));
        is_summary.then(|| Turn::say("I have read much.").usage(usage(3_800, 60)))
    });
    let read = || Turn::new().text("I read.").tool_call("read", json!({}));
    let scenario = (0..calls).fold(scenario, |scenario, _| scenario.turn(read()));
    let scenario = scenario.turn(Turn::fail(overflow)).turn(Turn::say("Done.").usage(usage(900, 30)));
    scenario.turn("Yes.")
}

fn budget(tokens: u64) -> BudgetPool {
    let caps = Caps { tokens: Some(tokens), ..Caps::default() };
    BudgetPool::new(caps, Arc::new(TestClock::default()))
}

#[tokio::test(start_paused = true)]
async fn a_session_with_a_window_and_a_budget_that_was_cut_off_anywhere_is_replayed() {
    let whole = tempfile::tempdir().unwrap();
    let store = journals(whole.path());
    let (agent, ..) = frugal(reading(6), &budget(25_000)).with(sdk(|it| it.journals(&store))).build();
    agent.run("go").await.unwrap();
    agent.compact("what was read").unwrap().finish().await.unwrap();
    agent.run("really?").await.unwrap();
    let events = read(store.sessions(), &name("s"));
    let count = |name: &str| events.iter().filter(|event| event.kind.name() == name).count();
    let shown: Vec<&str> = events.iter().map(|event| event.kind.name()).collect();
    assert!(count("compaction.end") >= 3 && count("budget.warning") == 1, "{shown:?}");
    let replayed = replay_session(store.sessions(), &name("s"), ReplayUntil::End).unwrap();
    assert_eq!((replayed.events.len(), replayed.taken), (events.len(), 0));

    for length in 1..=events.len() {
        let dir = tempfile::tempdir().unwrap();
        let store = journals(dir.path());
        events.iter().take(length).for_each(|event| store.append(event).unwrap());
        store.close(&"s".into());
        let session = store.resume(&name("s")).await.unwrap();
        let (agent, ..) =
            frugal(reading(1), &budget(50_000)).with(sdk(|it| it.resumed(&store, &session))).build();
        // Whatever comes of it.
        drop(agent.run("go on").await);
        let recorded = read(store.sessions(), &name("s"));
        let replayed = replay_session(store.sessions(), &name("s"), ReplayUntil::End);
        let replayed = replayed.unwrap_or_else(|error| panic!("cut off after {length}: {error}"));
        assert_eq!(replayed.events, recorded, "cut off after {length}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_begins_with_a_window_that_is_cut_goes_on_and_is_replayed() {
    let dir = tempfile::tempdir().unwrap();
    let store = journals(dir.path());
    let (agent, ..) = frugal(reading(6), &budget(90_000)).with(sdk(|it| it.journals(&store))).build();
    agent.run("go").await.unwrap();
    let next = agent.new_session().unwrap();
    agent.run("and on").await.unwrap();
    store.close(&next);
    drop(agent);
    let next = name(next.as_str());
    let session = store.resume(&next).await.unwrap();
    assert!(!session.state.cuts().is_empty(), "what lies over the conversation is in the new log too");
    let (agent, ..) =
        frugal(reading(2), &budget(90_000)).with(sdk(|it| it.resumed(&store, &session))).build();
    agent.run("go on").await.unwrap();
    let replayed = replay_session(store.sessions(), &next, ReplayUntil::End).unwrap();
    assert_eq!((replayed.events, replayed.taken), (read(store.sessions(), &next), 0));
}

/// The sessions that are kept as tests.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions")
}

#[test]
fn every_kept_session_is_replayed() {
    let sessions = SessionFiles::new(kept(), BLOB_BYTES_MAX);
    let listed = sessions.list(None);
    assert!(!listed.is_empty(), "no session is in {}", kept().display());
    for session in listed {
        let replayed = replay_session(&sessions, &session.name, ReplayUntil::End);
        let replayed = replayed.unwrap_or_else(|error| panic!("{}: {error}", session.path.display()));
        assert_eq!(replayed.events, read(&sessions, &session.name), "{}", session.path.display());
    }
}

#[tokio::test(start_paused = true)]
#[ignore = "writes the session that the test above replays"]
async fn a_session_to_keep_is_recorded() {
    let store = journals(&kept());
    let (agent, ..) = worker(scenario())
        .with(sdk(|builder| builder.journals(&store).session("tools-retries-and-approvals")))
        .build();
    agent.run("Write the notes.").await.unwrap();
    agent.run("Is it done?").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_not_there_or_was_changed_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let store = journals(dir.path());
    let missing = replay_session(store.sessions(), &name("s"), ReplayUntil::End).unwrap_err();
    assert!(matches!(missing, ReplaySessionError::Unreadable(_)), "{missing}");

    let (agent, ..) = worker(scenario()).with(sdk(|builder| builder.journals(&store))).build();
    agent.run("go").await.unwrap();
    let mut events = read(store.sessions(), &name("s"));
    let asked = events.iter().position(|event| event.kind.name() == "approval.resolved").unwrap();
    if let AgentEvent::Approval(ApprovalEvent::Resolved { decision, .. }) = &mut events[asked].kind {
        *decision = PermissionDecision::Allow;
    }
    let ReplayError::Differs(difference) = replay(events, ReplayUntil::End).unwrap_err() else { panic!() };
    assert_eq!((difference.seq, difference.name), (asked as u64 + 2, "tool.blocked".to_owned()));
}
