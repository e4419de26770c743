//! Databases: opening, migrating, full disks, missing permissions, sharing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rusqlite::Connection;

use super::super::fixture_tests::{dump, events, rows, run, source};
use super::super::index::{Index, IndexState};
use super::super::memory::Memory;
use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn memory(path: &Path) -> Result<Memory, DatabaseError> {
    Memory::open(path, OpenMode::ReadWrite)
}

fn pragma(database: &Database, name: &str) -> String {
    database
        .read(|connection| {
            connection.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0))
        })
        .map(|value| format!("{value:?}"))
        .unwrap()
}

#[test]
fn files_are_private_and_pragmas_are_set() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/er/index.db");
    let (index, _) = Index::open(&path).unwrap();
    index.record(&source("s1", "p"), &events("s1", 0, run("a", "b"))).unwrap();
    assert_eq!([mode(&dir.path().join("deep")), mode(path.parent().unwrap())], [0o700, 0o700]);
    for file in fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = file.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    let remembered = memory(&dir.path().join("memory.db")).unwrap();
    let settings = |database: &Database| {
        ["journal_mode", "synchronous", "foreign_keys", "user_version", "trusted_schema"]
            .map(|name| pragma(database, name))
            .join(" ")
    };
    assert_eq!(settings(index.database()), r#"Text("wal") Integer(1) Integer(1) Integer(4) Integer(0)"#);
    assert_eq!(settings(remembered.database()), r#"Text("wal") Integer(2) Integer(1) Integer(4) Integer(0)"#);
}

#[test]
fn a_file_readable_by_others_is_made_private() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    memory(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn an_index_of_every_older_version_is_migrated() {
    let rows = include_str!("index/001_rows.sql");
    let fixture = "PRAGMA application_id = 0x52484958; PRAGMA user_version = 1; \
        INSERT INTO sessions (id, project, path, title, seq) VALUES ('s1', 'p', x'70', 'Fix the parser', 1); \
        INSERT INTO entries (session, seq, loop_id, role, at_ms, text) VALUES (1, 1, 's1.m.0', 'user', 5, 'Fix the parser');";
    let search = include_str!("index/002_search.sql");
    let second = format!("{rows}{search}{fixture}PRAGMA user_version = 2;");
    let third = format!("{second}{}PRAGMA user_version = 3;", include_str!("index/003_run_ids.sql"));
    for (version, sql) in [(0, String::new()), (1, format!("{rows}{fixture}")), (2, second), (3, third)] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.db");
        Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
        let (index, state) = Index::open(&path).unwrap();
        let query = super::super::index::SearchQuery { text: "parser".into(), project: None, limit: 5 };
        let snippets: Vec<_> = index.search(&query).unwrap().into_iter().map(|hit| hit.snippet).collect();
        let expected: (&[&str], _) = if version == 0 {
            (&[], IndexState::Partial)
        } else {
            (&["Fix the «parser»"], IndexState::Whole)
        };
        assert_eq!((snippets.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), state), expected);
        assert_eq!(pragma(index.database(), "user_version"), "Integer(4)");
        index.remove_session(&"s1".into()).unwrap();
        assert!(index.search(&query).unwrap().is_empty());
        index.database().check().unwrap();
    }
}

#[test]
fn a_memory_of_every_older_version_is_migrated() {
    let first = include_str!("memory/001_goals_learnings_approvals.sql");
    let second = include_str!("memory/002_checkpoints.sql");
    let fixture = "PRAGMA application_id = 0x52484d45; \
        INSERT INTO goals VALUES (7, 'p', 'Ship it', 'open', 40, 'half', 's1', 1, 2);";
    let version = |version: u8| format!("PRAGMA user_version = {version};");
    for (goals, sql) in [
        (0, String::new()),
        (1, format!("{first}{fixture}{}", version(1))),
        (1, format!("{first}{second}{fixture}{}", version(2))),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory.db");
        Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
        let memory = memory(&path).unwrap();
        assert_eq!(memory.goals().open_of("p").unwrap().len(), goals);
        assert_eq!(memory.recall("ship", Some("p"), 5).unwrap(), []);
        assert_eq!(pragma(memory.database(), "user_version"), "Integer(4)");
    }
}

#[test]
fn a_memory_of_version_3_keeps_goals_learnings_notes_and_episodes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    fs::write(&path, include_bytes!("memory/version_3.db")).unwrap();
    let memory = memory(&path).unwrap();
    let goals = memory.goals().open_of("p").unwrap();
    let goals: Vec<_> = goals.iter().map(|goal| (goal.id.0, goal.text.as_str())).collect();
    assert_eq!(goals, [(7, "Ship it")]);
    assert_eq!(memory.learnings().relevant("p", "parser", 5).unwrap().len(), 1);
    assert_eq!(memory.recall("ship", Some("p"), 5).unwrap().len(), 1);
    assert_eq!(memory.recall("tests", Some("p"), 5).unwrap().len(), 1);
    let tables = "SELECT name FROM sqlite_schema WHERE name IN ('approvals', 'checkpoints')";
    assert_eq!(rows(memory.database(), tables), "");
    memory.goals().create("p", "Next", &"s2".into(), rheon_types::Timestamp::default()).unwrap();
    assert_eq!(memory.goals().open_of("p").unwrap().len(), 2);
}

#[test]
fn newer_and_foreign_databases_are_rejected_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    drop(memory(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 9).unwrap();
    assert_eq!(
        memory(&path).unwrap_err().to_string(),
        format!(
            "{} has version 9 and this program knows versions up to 4: use the newer program, or move the file away",
            path.display()
        )
    );
    assert!(matches!(Index::open(&path), Err(DatabaseError::Foreign { .. })));
    let other = dir.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = fs::read(&other).unwrap();
    assert!(matches!(Index::open(&other), Err(DatabaseError::Foreign { .. })));
    assert_eq!(fs::read(&other).unwrap(), before);
}

#[test]
fn a_damaged_memory_is_an_error_and_is_not_moved() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let content = "no database ".repeat(100);
    fs::write(&path, &content).unwrap();
    assert!(memory(&path).unwrap_err().is_damage());
    assert_eq!(fs::read_to_string(&path).unwrap(), content);
}

#[test]
fn a_batch_that_dies_halfway_leaves_the_old_state() {
    let dir = tempfile::tempdir().unwrap();
    let (index, _) = Index::open(&dir.path().join("index.db")).unwrap();
    let log = events("s1", 0, run("Fix", "Done."));
    index.record(&source("s1", "p"), &log[..5]).unwrap();
    let before = dump(index.database());
    let dying = log.iter().inspect(|event| assert!(event.seq < 10, "the process dies here"));
    let session = source("s1", "p");
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| index.record(&session, dying))).unwrap_err();
    assert_eq!(dump(index.database()), before);
    assert_eq!(index.record(&session, &log).unwrap().taken, 9);
}

#[test]
fn a_full_disk_is_reported_with_the_path_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let memory = memory(&path).unwrap();
    let create =
        |text: &str| memory.goals().create("p", text, &"s1".into(), rheon_types::Timestamp::default());
    create("small").unwrap();
    let limit_pages = |pages: i64| {
        memory
            .database()
            .read(|connection| {
                connection.pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, i64>(0))
            })
            .unwrap()
    };
    limit_pages(1);
    let error = create(&"x".repeat(1 << 20)).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot write {}: the disk is full; free some space and try again", path.display())
    );
    assert_eq!(memory.goals().open_of("p").unwrap().len(), 1);
    limit_pages(1 << 30);
    create(&"x".repeat(1 << 20)).unwrap();
    assert_eq!(memory.goals().open_of("p").unwrap().len(), 2);
}

#[test]
fn a_read_only_directory_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let path = dir.path().join("file/index.db");
    let error = Index::open(&path).unwrap_err();
    assert!(matches!(&error, DatabaseError::Prepare { path, .. } if path.ends_with("file")), "{error}");

    let closed = dir.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    // Root can write anywhere.
    if fs::write(closed.join("probe"), "").is_err() {
        let error = memory(&closed.join("memory.db")).unwrap_err();
        assert!(
            matches!(&error, DatabaseError::Prepare { path, .. } if path.ends_with("memory.db")),
            "{error}"
        );
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_database_opened_for_reading_is_read_and_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let reader = || Memory::open(&path, OpenMode::ReadOnly);
    assert!(matches!(reader(), Err(DatabaseError::Absent { .. })));
    assert!(!path.exists());
    Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA application_id = 0x52484d45; PRAGMA user_version = 1")
        .unwrap();
    assert!(matches!(reader(), Err(DatabaseError::Older { found: 1, known: 4, .. })));
    fs::remove_file(&path).unwrap();
    let writer = memory(&path).unwrap();
    let at = rheon_types::Timestamp::default();
    writer.goals().create("p", "x", &"s1".into(), at).unwrap();
    let reader = reader().unwrap();
    assert_eq!(reader.goals().open_of("p").unwrap().len(), 1);
    let error = reader.goals().create("p", "y", &"s1".into(), at).unwrap_err();
    assert!(matches!(error, DatabaseError::ReadOnly { .. }), "{error}");
}

#[test]
fn two_writers_wait_for_each_other_and_readers_never_wait() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let at = rheon_types::Timestamp::default();
    let (first, second) = (memory(&path).unwrap(), memory(&path).unwrap());
    std::thread::scope(|scope| {
        let (inside, entered) = std::sync::mpsc::channel();
        let (leave, left) = std::sync::mpsc::channel::<()>();
        let held = &first;
        scope.spawn(move || {
            held.database()
                .write(|connection| {
                    connection
                        .execute("INSERT INTO goals VALUES (NULL, 'p', 'first', 'open', 's', 0, 0)", [])?;
                    inside.send(()).unwrap();
                    left.recv().unwrap();
                    Ok(())
                })
                .unwrap();
        });
        entered.recv().unwrap();
        assert_eq!(second.goals().open_of("p").unwrap(), []);
        let writer = scope.spawn(|| second.goals().create("p", "second", &"s1".into(), at).unwrap());
        leave.send(()).unwrap();
        writer.join().unwrap();
    });
    let texts: Vec<_> = first.goals().open_of("p").unwrap().into_iter().map(|goal| goal.text).collect();
    assert_eq!(texts, ["second", "first"]);
}
