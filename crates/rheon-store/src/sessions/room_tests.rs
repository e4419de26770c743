//! Resumes sessions that are too large to keep in memory.

use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use rheon_testkit::{FnTool, Scenario, Turn, scripted};
use rheon_types::{
    AgentMessage, Content, Effect, Event, Message, Store, Timestamp, ToolResult, unanswered_calls,
};
use serde_json::json;

use super::{JournalStore, ResumedSession, SessionFiles};
use crate::journal::Lease;
use crate::{SessionName, TruncationReport};

/// The output length of each call; the first two are stored as payloads.
const OUTPUTS: [usize; 4] = [50_000, 40_000, 20_000, 9_000];

fn store(dir: &Path, contents_bytes_max: u64) -> Arc<JournalStore> {
    let lease = Lease { pid: 7, host: None, at: Timestamp::from_millis(5) };
    let store = JournalStore::new(SessionFiles::new(dir, 1 << 30), None, lease);
    Arc::new(store.with_contents_bytes_max(contents_bytes_max))
}

fn name(id: &str) -> SessionName {
    SessionName::new(id).unwrap()
}

/// A run that prints `outputs` one after the other, stored in session `s`.
async fn stored_run(dir: &Path, outputs: &'static [usize]) -> Vec<Event> {
    let store = store(dir, 0);
    let print = FnTool::new("print", |arguments, _| async move {
        let bytes = usize::try_from(arguments["bytes"].as_u64().unwrap()).unwrap();
        Ok(ToolResult::text("line\n".repeat(bytes / 5)))
    });
    let mut scenario = Scenario::new();
    for (place, bytes) in outputs.iter().enumerate() {
        let arguments = json!({ "bytes": bytes, "padding": "p".repeat(3_000) });
        scenario =
            scenario.turn(Turn::say("Next.").tool_call_with_id(format!("call_{place}"), "print", arguments));
    }
    let ran = scripted(scenario.turn("Done."))
        .tool(print.effect(Effect::Unsafe))
        .with(|builder| builder.store(Arc::clone(&store) as Arc<dyn Store>))
        .run("go")
        .await;
    drop(ran);
    while Arc::strong_count(&store) > 1 {
        tokio::task::yield_now().await;
    }
    read(&store, "s")
}

fn read(store: &JournalStore, id: &str) -> Vec<Event> {
    let mut events = Vec::new();
    store.sessions().read(&name(id), |event| events.push(event)).unwrap();
    events
}

async fn resumed(dir: &Path, contents_bytes_max: u64) -> ResumedSession {
    store(dir, contents_bytes_max).resume(&name("s")).await.unwrap()
}

/// The conversation, one line per block, with the length of long texts.
fn outline(messages: &[Arc<AgentMessage>]) -> String {
    let shown = |text: &str| if text.len() > 200 { format!("{} bytes", text.len()) } else { text.to_owned() };
    let mut lines = Vec::new();
    for message in messages.iter().filter_map(|message| message.as_llm()) {
        if let Message::ToolResult(result) = message {
            lines.push(format!("result of {}:", result.tool_call_id));
        }
        lines.extend(message.content().iter().map(|block| match block {
            Content::Text { text } => shown(text),
            Content::ToolCall(call) => {
                let padding = call.arguments["padding"].as_str().unwrap();
                format!("{} of {} bytes, padding {}", call.id, call.arguments["bytes"], shown(padding))
            }
            Content::Image { .. } | Content::Thinking { .. } => panic!("there is none"),
        }));
    }
    lines.join("\n")
}

#[tokio::test]
async fn a_session_that_fits_is_not_truncated() {
    let dir = tempfile::tempdir().unwrap();
    let events = stored_run(dir.path(), &OUTPUTS).await;
    let whole = resumed(dir.path(), u64::MAX).await;
    let fits = resumed(dir.path(), 1 << 20).await;
    assert_eq!(fits.state, whole.state);
    assert_eq!(fits.state, crate::fold::SessionState::from_events(&events));
    assert_eq!(fits.truncation, TruncationReport::default());
}

#[tokio::test]
async fn older_texts_become_notes_and_everything_else_stays() {
    let dir = tempfile::tempdir().unwrap();
    let events = stored_run(dir.path(), &OUTPUTS).await;
    let whole = resumed(dir.path(), u64::MAX).await;
    let noted = resumed(dir.path(), 48_000).await;
    expect![[r#"
        go
        Next.
        call_0 of 50000 bytes, padding [Omitted when the session was resumed: a text of about 3 KB. The session log has all of it.]
        result of call_0:
        [Omitted when the session was resumed: a text of about 50 KB. The session log has all of it.]
        Next.
        call_1 of 40000 bytes, padding [Omitted when the session was resumed: a text of about 3 KB. The session log has all of it.]
        result of call_1:
        [Omitted when the session was resumed: a text of about 40 KB. The session log has all of it.]
        Next.
        call_2 of 20000 bytes, padding 3000 bytes
        result of call_2:
        20000 bytes
        Next.
        call_3 of 9000 bytes, padding 3000 bytes
        result of call_3:
        9000 bytes
        Done."#]].assert_eq(&outline(&noted.state.messages()));
    expect!["TruncationReport { texts: 4, bytes: 96000 }"].assert_eq(&format!("{:?}", noted.truncation));
    let (noted, whole) = (noted.state, whole.state);
    assert!(unanswered_calls(&noted.messages().into_iter().collect()).is_empty());
    assert_eq!(
        (noted.spending, noted.seq, noted.run_counts()),
        (whole.spending, whole.seq, whole.run_counts())
    );
    assert_eq!((&noted.tasks, &noted.model, noted.mode), (&whole.tasks, &whole.model, whole.mode));
    // The journal has everything, however it was opened.
    assert_eq!(read(&store(dir.path(), 0), "s"), events);
}

#[tokio::test]
async fn without_a_budget_every_long_text_is_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let events = stored_run(dir.path(), &OUTPUTS).await;
    let noted = resumed(dir.path(), 0).await;
    let longest =
        noted.state.messages().iter().map(|message| serde_json::to_string(message).unwrap().len()).max();
    assert!(longest.unwrap() < 1_000, "{longest:?}");
    assert_eq!(noted.state.messages().len(), 10);
    assert_eq!(noted.truncation.texts, 8);
    assert_eq!(read(&store(dir.path(), 0), "s"), events);
}

#[tokio::test]
async fn a_huge_message_becomes_a_note_and_takes_no_budget() {
    let dir = tempfile::tempdir().unwrap();
    let events = stored_run(dir.path(), &[9_000, 150_000, 9_000]).await;
    let noted = resumed(dir.path(), 100_000).await;
    expect![[r#"
        go
        Next.
        call_0 of 9000 bytes, padding 3000 bytes
        result of call_0:
        9000 bytes
        Next.
        call_1 of 150000 bytes, padding 3000 bytes
        result of call_1:
        [Omitted when the session was resumed: a text of about 150 KB. The session log has all of it.]
        Next.
        call_2 of 9000 bytes, padding 3000 bytes
        result of call_2:
        9000 bytes
        Done."#]]
    .assert_eq(&outline(&noted.state.messages()));
    assert_eq!(read(&store(dir.path(), 0), "s"), events);
}

#[tokio::test]
async fn a_fork_keeps_its_own_texts_before_those_of_its_parent() {
    let dir = tempfile::tempdir().unwrap();
    let events = stored_run(dir.path(), &OUTPUTS).await;
    let fork = |to: &'static str, contents_bytes_max| {
        let store = store(dir.path(), contents_bytes_max);
        let last = events.last().unwrap().seq;
        async move { store.fork(&name("s"), last, &to.into()).await.unwrap() }
    };
    let (whole, noted) = (fork("whole", u64::MAX).await, fork("noted", 48_000).await);
    assert_eq!(
        outline(&noted.state.messages()),
        outline(&resumed(dir.path(), 48_000).await.state.messages())
    );
    assert_eq!(
        outline(&whole.state.messages()),
        outline(&resumed(dir.path(), u64::MAX).await.state.messages())
    );
}

#[tokio::test]
async fn an_unfinished_call_keeps_its_full_arguments() {
    let dir = tempfile::tempdir().unwrap();
    let events = stored_run(dir.path(), &OUTPUTS).await;
    let path = store(dir.path(), 0).sessions().list(None)[0].path.clone();
    let journal = std::fs::read(&path).unwrap();
    let started = events.iter().rposition(|event| event.kind.name() == "tool.start").unwrap();
    // The header and the lease precede the events.
    let length: usize =
        journal.split_inclusive(|byte| *byte == b'\n').take(started + 3).map(<[u8]>::len).sum();
    std::fs::write(&path, &journal[..length]).unwrap();
    let noted = resumed(dir.path(), 0).await;
    let arguments: Vec<_> = noted.unfinished_calls.iter().map(|doubt| (*doubt.arguments).clone()).collect();
    assert_eq!(arguments, [json!({ "bytes": 9_000, "padding": "p".repeat(3_000) })]);
    let messages = noted.state.messages().into_iter().collect();
    assert!(unanswered_calls(&messages).is_empty());
    // Closed runs stay closed with a larger budget.
    let whole = resumed(dir.path(), u64::MAX).await;
    assert_eq!((whole.unfinished_calls.len(), whole.state.open_runs().count()), (0, 0));
    assert_eq!(read(&store(dir.path(), 0), "s")[..=started], events[..=started]);
}
