//! A store keeps what happened before it has effects; where it cannot, nothing more is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use rheon_testkit::{FnTool, InMemoryStore, Scenario, Turn, event_line, scripted};
use rheon_types::{Answer, Effect, Event, Store, StoreError, ToolResult};
use serde_json::json;
use std::sync::Mutex;

fn writes(runs: &Arc<AtomicUsize>) -> FnTool {
    let runs = Arc::clone(runs);
    FnTool::new("writes", move |_, _| {
        runs.fetch_add(1, Ordering::SeqCst);
        async { Ok(ToolResult::text("written")) }
    })
    .effect(Effect::Unsafe)
}

fn scenario() -> Scenario {
    Scenario::new().turn(Turn::call("writes", json!({}))).turn("Done.").turn("Later.")
}

/// Notes appends and syncs on one list.
#[derive(Default)]
struct Diary(Mutex<Vec<String>>);

impl Store for Diary {
    fn append(&self, event: &Event) -> Result<(), StoreError> {
        self.0.lock().unwrap().push(event_line(&event.kind));
        Ok(())
    }

    fn sync(&self) -> Answer<'_, Result<(), StoreError>> {
        Answer::later(async {
            tokio::task::yield_now().await;
            self.0.lock().unwrap().push("-- sync".into());
            Ok(())
        })
    }
}

#[tokio::test(start_paused = true)]
async fn what_would_be_lost_is_safe_before_an_effect() {
    let diary = Arc::new(Diary::default());
    let store: Arc<dyn Store> = Arc::clone(&diary) as Arc<dyn Store>;
    let runs = Arc::new(AtomicUsize::new(0));
    scripted(scenario()).tool(writes(&runs)).with(|builder| builder.store(store)).run("go").await;
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        message.start user
        message.end user "go"
        -- sync
        llm.start scripted
        message.start assistant
        message.end assistant ToolUse [writes call_1_0 {}]
        llm.end ToolUse
        tool.start writes call_1_0 {}
        -- sync
        tool.end writes call_1_0 ok "written"
        message.start toolResult
        message.end toolResult call_1_0 "written"
        turn.end 0 results=1 tokens=0
        turn.start 1 Continuation
        llm.start scripted
        message.start assistant
        message.end assistant Stop "Done."
        llm.end Stop
        turn.end 1 results=0 tokens=0
        agent.end completed "Done."
        -- sync
        -- sync"#]]
    .assert_eq(&diary.0.lock().unwrap().join("\n"));
}

#[tokio::test(start_paused = true)]
async fn the_store_keeps_exactly_the_durable_events() {
    let store = Arc::new(InMemoryStore::default());
    let runs = Arc::new(AtomicUsize::new(0));
    let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
    let ran = scripted(scenario()).tool(writes(&runs)).with(|builder| builder.store(shared)).run("go").await;
    let durable: Vec<Event> =
        ran.trace.events().into_iter().filter(|event| event.kind.is_durable()).collect();
    assert_eq!(store.events(), durable);
    let numbers: Vec<u64> = durable.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=durable.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_stops_the_run_before_the_next_effect_wherever_it_strikes() {
    let whole = 20;
    for room in 0..whole {
        let store = Arc::new(InMemoryStore::with_append_limit(room));
        let runs = Arc::new(AtomicUsize::new(0));
        let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
        let ran =
            scripted(scenario()).tool(writes(&runs)).with(|builder| builder.store(shared)).run("go").await;
        let error = ran.result.as_ref().unwrap_err().to_string();
        assert_eq!(
            error, "the session log could not be written: no space left in the test store",
            "room {room}"
        );
        let kept: Vec<String> = store.events().iter().map(|event| event_line(&event.kind)).collect();
        let intents = kept.iter().filter(|line| line.starts_with("tool.start")).count();
        assert_eq!(runs.load(Ordering::SeqCst), intents, "room {room}: no tool runs without a kept intent");
        let prompt_kept = kept.iter().any(|line| line.starts_with("message.end user"));
        assert!(
            prompt_kept || ran.provider.request_count() == 0,
            "room {room}: no call without a kept prompt"
        );

        store.set_append_limit(None);
        let later = ran.agent.run("again").await;
        ran.trace.events();
        assert!(later.is_ok(), "room {room}: the agent goes on once there is room: {later:?}");
        let numbers: Vec<u64> = store.events().iter().map(|event| event.seq).collect();
        assert_eq!(
            numbers,
            (1..=numbers.len() as u64).collect::<Vec<_>>(),
            "room {room}: no gaps in the store"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_sync_stops_the_run_before_the_model_is_paid() {
    let store = Arc::new(InMemoryStore::default());
    store.fail_syncs(true);
    let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
    let ran = scripted(Scenario::new().turn("never")).with(|builder| builder.store(shared)).run("go").await;
    assert_eq!(ran.provider.request_count(), 0);
    expect![[r#"
        agent.start scripted
        turn.start 0 User
        message.start user
        message.end user "go"
        turn.end 0 results=0 tokens=0
        agent.end failed(the session log could not be written: the test store cannot sync) """#]]
    .assert_eq(&ran.trace.durable_text());
}
