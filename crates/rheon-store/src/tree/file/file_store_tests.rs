//! The file store as a `SessionStore`, and beside other writers.

use std::os::unix::fs::PermissionsExt;

use super::FileSessionStore;
use crate::session_name::SessionName;
use crate::tree::conformance::conformance;
use crate::tree::file::lock::SaveLock;
use crate::tree::fixtures::{long_session, session};
use crate::tree::{MemorySessionStore, SessionStore};

#[tokio::test]
async fn files_conform() {
    let root = tempfile::tempdir().unwrap();
    let count = std::sync::atomic::AtomicU32::new(0);
    conformance(|| {
        let n = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        FileSessionStore::new(root.path().join(format!("deep/{n}/sessions")))
    })
    .await;
}

#[tokio::test]
async fn memory_conforms() {
    conformance(MemorySessionStore::new).await;
}

#[tokio::test]
async fn the_error_names_the_other_writer() {
    let root = tempfile::tempdir().unwrap();
    let store = FileSessionStore::new(root.path());
    store.save_session(&session("s", "agent", 1)).get().await.unwrap();
    let lock = SaveLock::take(root.path(), &SessionName::new("s").unwrap()).unwrap();
    let refused = store.save_session(&session("s", "agent", 2)).get().await.unwrap_err();
    let expected = format!("session s is being saved by process {}; try again", std::process::id());
    assert_eq!(refused.to_string(), expected);
    assert_eq!(store.delete_session(&"s".into()).get().await.unwrap_err().to_string(), expected);
    // Reads and other sessions are not blocked.
    assert_eq!(store.load_session(&"s".into()).get().await.unwrap(), session("s", "agent", 1));
    store.save_session(&session("t", "agent", 1)).get().await.unwrap();
    drop(lock);
    store.save_session(&session("s", "agent", 2)).get().await.unwrap();
    let names: Vec<_> = names(root.path());
    assert_eq!(names, ["s.json", "t.json"]);
}

#[tokio::test]
async fn files_are_private_to_the_user() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("a/b");
    FileSessionStore::new(&dir).save_session(&session("s", "agent", 1)).get().await.unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&root.path().join("a"))), (0o700, 0o700));
    assert_eq!(mode(&dir.join("s.json")), 0o600);
}

#[tokio::test]
async fn a_session_over_the_limit_leaves_the_old_file() {
    let root = tempfile::tempdir().unwrap();
    let small = long_session("s", 1, "x");
    let bytes = {
        FileSessionStore::new(root.path()).save_session(&small).get().await.unwrap();
        root.path().join("s.json").metadata().unwrap().len()
    };
    let store = FileSessionStore::with_file_bytes_max(root.path(), bytes);
    store.save_session(&small).get().await.unwrap();
    let refused = store.save_session(&long_session("s", 1, "xy")).get().await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("session s is larger than {bytes} bytes; store fewer events or raise the limit")
    );
    assert_eq!(store.load_session(&"s".into()).get().await.unwrap(), small);
    let smaller = FileSessionStore::with_file_bytes_max(root.path(), bytes - 1);
    assert!(smaller.load_session(&"s".into()).get().await.is_err());
    assert_eq!(names(root.path()), ["s.json"]);
}

fn names(dir: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
