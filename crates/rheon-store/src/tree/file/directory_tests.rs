//! Crashes, broken files and files of other programs.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;

use crate::session_name::SessionName;
use crate::tree::file::lock::SaveLock;
use crate::tree::fixtures::{long_session, session};
use crate::tree::{
    FileSessionStore, SessionStore, SessionStoreError, delete_session, list_session_ids, load_session,
    load_sessions_for_agent, save_session,
};

fn names(dir: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_file_is_readable() {
    let root = tempfile::tempdir().unwrap();
    save_session(&session("s", "agent", 7), root.path()).unwrap();
    expect![[r#"
        {
          "version": 1,
          "session": {
            "session_id": "s",
            "agent_id": "agent",
            "created_at": 1,
            "last_active_at": 7,
            "formation": {
              "type": "firstLoop"
            },
            "loops": []
          }
        }
    "#]]
    .assert_eq(&fs::read_to_string(root.path().join("s.json")).unwrap());
}

#[tokio::test]
async fn a_save_killed_before_its_rename_loses_nothing() {
    let root = tempfile::tempdir().unwrap();
    let old = long_session("s", 10, "old");
    save_session(&old, root.path()).unwrap();
    let whole = fs::read(root.path().join("s.json")).unwrap();
    // What such a save leaves: its lock, and any part of its file.
    for cut in [0, 1, whole.len() / 2, whole.len()] {
        fs::write(root.path().join(".s.tmp"), &whole[..cut]).unwrap();
        fs::write(root.path().join(".s.lock"), "1\n").unwrap();
        assert_eq!(load_session(&"s".into(), root.path()).unwrap(), old);
        assert_eq!(list_session_ids(root.path()).unwrap(), ["s".into()]);
    }
    let new = long_session("s", 3, "new");
    save_session(&new, root.path()).unwrap();
    assert_eq!(load_session(&"s".into(), root.path()).unwrap(), new);
    assert_eq!(names(root.path()), ["s.json"]);
    // Leftovers of sessions that are never saved again are removed by the first save of a store.
    fs::write(root.path().join(".gone.tmp"), "{").unwrap();
    fs::write(root.path().join(".gone.lock"), "").unwrap();
    fs::write(root.path().join(".profile"), "not ours").unwrap();
    FileSessionStore::new(root.path()).save_session(&new).get().await.unwrap();
    assert_eq!(names(root.path()), [".profile", "s.json"]);
}

#[test]
fn one_broken_file_does_not_hide_the_others() {
    let root = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(root.path().join(name), text).unwrap();
    save_session(&session("good", "agent", 1), root.path()).unwrap();
    put("torn.json", r#"{ "version": 1, "session": { "session_id": "to"#);
    put("empty.json", "");
    put("newer.json", r#"{ "version": 2, "session": {} }"#);
    put("latin.json", "{ \"version\": 1, \"session\": ");
    fs::write(root.path().join("latin.json"), b"\xff\xfe").unwrap();
    fs::copy(root.path().join("good.json"), root.path().join("renamed.json")).unwrap();
    fs::create_dir(root.path().join("folder.json")).unwrap();
    std::os::unix::fs::symlink("good.json", root.path().join("link.json")).unwrap();
    put("notes.txt", "not a session");
    let mut ids = list_session_ids(root.path()).unwrap();
    ids.sort();
    let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
    assert_eq!(ids, ["empty", "good", "latin", "newer", "renamed", "torn"]);
    let found = load_sessions_for_agent(&"agent".into(), root.path()).unwrap();
    assert_eq!(found.sessions, [session("good", "agent", 1)]);
    let mut errors: Vec<String> = found.broken.iter().map(|broken| broken.error.to_string()).collect();
    errors.sort();
    let errors = errors.join("\n").replace(&root.path().display().to_string(), "DIR");
    expect![[r#"
        cannot read session empty: EOF while parsing a value at line 1 column 0; repair or remove DIR/empty.json
        cannot read session latin: expected value at line 1 column 1; repair or remove DIR/latin.json
        cannot read session renamed: it contains session good; repair or remove DIR/renamed.json
        cannot read session torn: EOF while parsing a string at line 1 column 46; repair or remove DIR/torn.json
        session newer has format version 2; this version of Rheon reads up to 1: update Rheon"#]]
    .assert_eq(&errors);
    // Saving over a broken file moves it aside. A file of a later version is left alone.
    save_session(&session("torn", "agent", 2), root.path()).unwrap();
    assert!(fs::read_to_string(root.path().join(".torn.broken")).unwrap().ends_with("\"to"));
    let refused = save_session(&session("newer", "agent", 2), root.path()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "session newer has format version 2; this version of Rheon reads up to 1: update Rheon"
    );
    assert!(save_session(&session("renamed", "agent", 2), root.path()).is_err());
    assert!(save_session(&session("link", "agent", 2), root.path()).is_err());
    assert_eq!(load_session(&"good".into(), root.path()).unwrap(), session("good", "agent", 1));
}

#[test]
fn a_directory_that_cannot_be_created_is_named() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    let dir = file.join("sessions");
    let refused = save_session(&session("s", "agent", 1), &dir).unwrap_err().to_string();
    assert!(refused.starts_with(&format!("cannot create the directory {}: ", dir.display())), "{refused}");
    assert!(list_session_ids(&root.path().join("nowhere")).unwrap().is_empty());
    assert!(delete_session(&"s".into(), &root.path().join("nowhere")).is_err());
}

#[test]
fn racing_writers_take_turns() {
    let root = tempfile::tempdir().unwrap();
    let name = SessionName::new("s").unwrap();
    let (holders, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let race = || {
        for round in 0..200 {
            // A lock on a removed lock file must not count.
            if let Ok(_lock) = SaveLock::take(root.path(), &name) {
                assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                taken.fetch_add(1, Ordering::SeqCst);
                std::thread::yield_now();
                holders.fetch_sub(1, Ordering::SeqCst);
            }
            if round % 20 == 0 {
                match save_session(&long_session("s", 20, "text"), root.path()) {
                    Ok(()) | Err(SessionStoreError::Locked { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(race);
        }
    });
    assert!(taken.into_inner() > 0);
    save_session(&long_session("s", 20, "text"), root.path()).unwrap();
    assert_eq!(load_session(&"s".into(), root.path()).unwrap(), long_session("s", 20, "text"));
    assert_eq!(names(root.path()), ["s.json"]);
}
