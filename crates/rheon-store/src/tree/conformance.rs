//! The conformance suite of `SessionStore`. An implementation joins with one test that calls [`conformance`].

use std::sync::Arc;

use rheon_types::SessionId;

use super::fixtures::{long_session, session};
use super::{Session, SessionStore, SessionStoreError};

/// Checks the stores that `make` creates, each of them empty.
pub(crate) async fn conformance<S: SessionStore + 'static>(make: impl Fn() -> S) {
    round_trip(&make()).await;
    overwrite(&make()).await;
    list_order(&make()).await;
    missing(&make()).await;
    ids_that_are_paths(&make()).await;
    agents(&make()).await;
    huge(&make()).await;
    concurrent_saves(Arc::new(make())).await;
}

async fn load(store: &impl SessionStore, id: &str) -> Result<Session, SessionStoreError> {
    store.load_session(&SessionId::from(id)).get().await
}

async fn list(store: &impl SessionStore) -> Vec<String> {
    store.list_session_ids().get().await.unwrap().iter().map(SessionId::to_string).collect()
}

async fn round_trip(store: &impl SessionStore) {
    let text = "naïve \u{202e}日本語 🦀 \u{0}\u{1b}[31m \"quoted\" \\ \u{2028} e\u{301}";
    let saved = long_session("0192f3a4-7c1e-7b2a-9d3e-1f2a3b4c5d6e", 3, text);
    store.save_session(&saved).get().await.unwrap();
    assert_eq!(load(store, saved.session_id.as_str()).await.unwrap(), saved);
    let empty = session("empty.session_1", "", 0);
    store.save_session(&empty).get().await.unwrap();
    assert_eq!(load(store, "empty.session_1").await.unwrap(), empty);
}

async fn overwrite(store: &impl SessionStore) {
    store.save_session(&long_session("s", 100, "long")).get().await.unwrap();
    let short = long_session("s", 1, "short");
    store.save_session(&short).get().await.unwrap();
    assert_eq!(load(store, "s").await.unwrap(), short);
    assert_eq!(list(store).await, ["s"]);
}

async fn list_order(store: &impl SessionStore) {
    assert!(list(store).await.is_empty());
    for (id, last_active_ms) in [("b", 2_000), ("a", 1_000), ("e", 3_000), ("d", 3_000), ("c", u64::MAX)] {
        store.save_session(&session(id, "agent", last_active_ms)).get().await.unwrap();
    }
    assert_eq!(list(store).await, ["c", "e", "d", "b", "a"]);
    store.save_session(&session("a", "agent", 4_000)).get().await.unwrap();
    assert_eq!(list(store).await, ["c", "a", "e", "d", "b"]);
}

async fn missing(store: &impl SessionStore) {
    let id = SessionId::from("s");
    let text = "no session s; list the sessions to see their ids";
    assert_eq!(load(store, "s").await.unwrap_err().to_string(), text);
    assert_eq!(store.delete_session(&id).get().await.unwrap_err().to_string(), text);
    store.save_session(&session("s", "agent", 1)).get().await.unwrap();
    store.delete_session(&id).get().await.unwrap();
    assert_eq!(store.delete_session(&id).get().await.unwrap_err().to_string(), text);
    assert_eq!(load(store, "s").await.unwrap_err().to_string(), text);
    assert!(list(store).await.is_empty());
    assert!(store.load_sessions_for_agent(&"agent".into()).get().await.unwrap().sessions.is_empty());
}

async fn ids_that_are_paths(store: &impl SessionStore) {
    for id in
        ["", ".", "..", "../s", "/etc/passwd", "a/b", "a\\b", "a\0", ".hidden", "-s", "é", &"a".repeat(129)]
    {
        let wrong = session(id, "agent", 1);
        let saved = store.save_session(&wrong).get().await;
        assert!(matches!(saved, Err(SessionStoreError::Name(_))), "{id:?}");
        assert!(matches!(load(store, id).await, Err(SessionStoreError::Name(_))), "{id:?}");
        let deleted = store.delete_session(&wrong.session_id).get().await;
        assert!(matches!(deleted, Err(SessionStoreError::Name(_))), "{id:?}");
    }
    assert!(list(store).await.is_empty());
}

async fn agents(store: &impl SessionStore) {
    for (id, agent, at) in [("a", "one", 1_000), ("b", "two", 2_000), ("c", "one", 3_000)] {
        store.save_session(&session(id, agent, at)).get().await.unwrap();
    }
    let found = store.load_sessions_for_agent(&"one".into()).get().await.unwrap();
    assert_eq!(found.sessions, [session("c", "one", 3_000), session("a", "one", 1_000)]);
    assert!(found.broken.is_empty());
}

async fn huge(store: &impl SessionStore) {
    let saved = long_session("huge", 5_000, &"x".repeat(1_000));
    store.save_session(&saved).get().await.unwrap();
    assert_eq!(load(store, "huge").await.unwrap(), saved);
}

async fn concurrent_saves<S: SessionStore + 'static>(store: Arc<S>) {
    let mut saves = Vec::new();
    for n in 0..24 {
        let store = Arc::clone(&store);
        let saved = long_session(if n % 2 == 0 { "even" } else { "odd" }, n + 1, "text");
        saves.push(tokio::spawn(async move { store.save_session(&saved).get().await }));
    }
    for save in saves {
        save.await.unwrap().unwrap();
    }
    for id in ["even", "odd"] {
        let loaded = load(&*store, id).await.unwrap();
        let messages = loaded.loops[0].messages.len();
        assert_eq!(loaded, long_session(id, messages, "text"));
    }
}
