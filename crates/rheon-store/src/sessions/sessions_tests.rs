//! Sessions on a real disk: written, killed, damaged, forked, deleted.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use rheon_testkit::{Scenario, Turn, echo, scripted};
use rheon_types::{Event, SessionId, Store, Timestamp};
use serde_json::json;
use tempfile::TempDir;

use super::{SessionFileError, SessionFiles};
use crate::SessionName;
use crate::journal::{JournalError, Lease};

fn lease() -> Lease {
    Lease { pid: 7, host: Some("desk".into()), at: Timestamp::from_millis(1) }
}

fn sessions() -> (TempDir, SessionFiles) {
    let dir = tempfile::tempdir().unwrap();
    let sessions = SessionFiles::new(dir.path().join("data"), 1 << 30);
    (dir, sessions)
}

fn name(id: &str) -> SessionName {
    SessionName::new(id).unwrap()
}

/// A run with a tool and a long text, stored in session `s`.
async fn stored_run(sessions: &SessionFiles) -> Vec<Event> {
    let journal =
        Arc::new(sessions.create(&"s".into(), Some(Path::new("/srv/my project")), &lease()).unwrap());
    let long = "long ".repeat(20_000);
    let scenario = Scenario::new()
        .turn(Turn::say("I echo.").tool_call_with_id("a", "echo", json!({ "text": long })))
        .turn("Done.");
    let ran = scripted(scenario)
        .tool(echo())
        .with(|builder| builder.store(Arc::clone(&journal) as Arc<dyn Store>))
        .run("go")
        .await;
    let events = ran.trace.events().into_iter().filter(|event| event.kind.is_durable()).collect();
    drop(ran);
    // A sync that started with the last model call may still hold the journal.
    while Arc::strong_count(&journal) > 1 {
        tokio::task::yield_now().await;
    }
    events
}

fn read(sessions: &SessionFiles, id: &str) -> Vec<Event> {
    let mut events = Vec::new();
    sessions.read(&name(id), |event| events.push(event)).unwrap();
    events
}

#[tokio::test]
async fn stored_events_are_read_back_exactly_and_files_are_private() {
    let (dir, sessions) = sessions();
    let events = stored_run(&sessions).await;
    assert_eq!(read(&sessions, "s"), events);
    let listed = sessions.list(None);
    assert_eq!(listed.len(), 1);
    assert_eq!(listed, sessions.list(Some(Path::new("/srv/my project"))));
    let header = listed[0].header.clone().unwrap();
    assert_eq!((header.session_id, header.project.as_deref()), ("s".into(), Some("/srv/my project")));
    // The long text is a payload, so that lines stay short.
    assert!(listed[0].bytes < 20_000, "{}", listed[0].bytes);
    for path in [dir.path().join("data/projects"), listed[0].path.clone()] {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{mode:o} {}", path.display());
    }
}

#[tokio::test]
async fn a_second_writer_gets_the_name_of_the_first() {
    let (_directory, sessions) = sessions();
    let journal = sessions.create(&"s".into(), None, &lease()).unwrap();
    let second = sessions.open(&name("s"), &lease(), |_| {}).map(drop).unwrap_err();
    let message = second.to_string();
    assert!(message.contains("is in use by process 7 on desk; close it there"), "{message}");
    assert_eq!(read(&sessions, "s"), []);
    let again = sessions.create(&"s".into(), None, &lease()).map(drop).unwrap_err();
    assert!(matches!(again, SessionFileError::Journal(JournalError::Exists { .. })), "{again}");
    drop(journal);
    sessions.open(&name("s"), &lease(), |_| {}).unwrap();
}

#[tokio::test]
async fn a_journal_cut_at_any_byte_opens_with_all_complete_lines_and_loses_no_byte() {
    let (_directory, sessions) = sessions();
    let events = stored_run(&sessions).await;
    let path = sessions.list(None)[0].path.clone();
    let whole = fs::read(&path).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for length in (first..whole.len()).step_by(29).chain([whole.len()]) {
        fs::write(&path, &whole[..length]).unwrap();
        let mut kept = Vec::new();
        let (journal, opened) = sessions.open(&name("s"), &lease(), |event| kept.push(event)).unwrap();
        assert_eq!(kept, events[..kept.len()], "cut at {length}");
        let lines = whole[..length].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(kept.len(), lines.saturating_sub(2), "cut at {length}");
        let cut: Vec<u8> = opened.damaged_copy.map(|aside| fs::read(aside).unwrap()).unwrap_or_default();
        let after = fs::read(&path).unwrap();
        assert!(after.starts_with(&whole[..length - cut.len()]), "cut at {length}");
        assert_eq!(cut, whole[length - cut.len()..length], "cut at {length}");
        // And it can be written to.
        let next = Event { seq: journal.seq() + 1, ..events[0].clone() };
        journal.append(&next).unwrap();
        drop(journal);
        let mut back = read(&sessions, "s");
        assert_eq!(back.pop(), Some(next));
        assert_eq!(back, kept);
    }
}

#[tokio::test]
async fn a_changed_byte_is_detected_and_earlier_lines_are_kept() {
    let (_directory, sessions) = sessions();
    let events = stored_run(&sessions).await;
    let path = sessions.list(None)[0].path.clone();
    let whole = fs::read(&path).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for place in (first..whole.len()).step_by(31) {
        let mut changed = whole.clone();
        changed[place] ^= 0x04;
        fs::write(&path, &changed).unwrap();
        let mut kept = Vec::new();
        let scan = sessions.read(&name("s"), |event| kept.push(event)).unwrap();
        assert_eq!(kept, events[..kept.len()], "changed at {place}");
        let damage = scan.damage.unwrap();
        assert!(usize::try_from(damage.offset).unwrap() <= place, "{damage}");
    }
    // Without its first line it is not a journal, but still listed.
    fs::write(&path, &whole[first..]).unwrap();
    let error = sessions.read(&name("s"), |_| {}).unwrap_err();
    assert!(error.to_string().contains("is not a session journal: the line is not a record"), "{error}");
    assert!(sessions.list(None)[0].header.is_err());
}

#[tokio::test]
async fn a_fork_shares_earlier_events_and_continues_independently() {
    let (_directory, sessions) = sessions();
    let events = stored_run(&sessions).await;
    let fork = |from: &str, seq, to: &str| sessions.fork(&name(from), seq, &to.into(), &lease());
    let journal = fork("s", 5, "child").unwrap();
    let next = Event { seq: 6, session_id: "child".into(), ..events[0].clone() };
    journal.append(&next).unwrap();
    drop(journal);
    let mut expected = events[..5].to_vec();
    expected.push(next.clone());
    assert_eq!(read(&sessions, "child"), expected);
    drop(fork("child", 6, "grandchild").unwrap());
    assert_eq!(read(&sessions, "grandchild"), expected);
    assert_eq!(read(&sessions, "s"), events);
    expect!["session child has no event 99; the last one is 6"]
        .assert_eq(&fork("child", 99, "x").map(drop).unwrap_err().to_string());
    expect!["cannot delete session s: it has forks (1); delete those first"]
        .assert_eq(&sessions.delete(&name("s"), &lease()).unwrap_err().to_string());
    for id in ["grandchild", "child", "s"] {
        sessions.delete(&name(id), &lease()).unwrap();
    }
    assert_eq!(sessions.list(None), []);
    expect!["no session s"].assert_eq(&sessions.delete(&name("s"), &lease()).unwrap_err().to_string());
}

#[tokio::test]
async fn payloads_are_removed_with_the_last_session_that_uses_them() {
    let (_directory, sessions) = sessions();
    stored_run(&sessions).await;
    let later = Timestamp::from_millis(4_102_444_800_000);
    assert_eq!(sessions.sweep(later).unwrap(), 0);
    sessions.delete(&name("s"), &lease()).unwrap();
    assert_eq!(sessions.sweep(later).unwrap(), 100_000);
}

#[tokio::test]
async fn a_gap_in_the_numbers_is_rejected_on_write() {
    let (_directory, sessions) = sessions();
    let events = stored_run(&sessions).await;
    let (journal, _) = sessions.open(&name("s"), &lease(), |_| {}).unwrap();
    let error = journal.append(&Event { seq: 99, ..events[0].clone() }).unwrap_err();
    assert!(error.to_string().contains("event 99 after event"), "{error}");
    let last = journal.seq();
    journal.append(&Event { seq: last + 1, ..events[0].clone() }).unwrap();
    assert_eq!(journal.seq(), last + 1);
}

#[test]
fn ids_that_are_paths_are_rejected() {
    let (dir, sessions) = sessions();
    for id in ["../x", "", "a/b", "..", "a\0b"] {
        let error = sessions.create(&SessionId::from(id), None, &lease()).map(drop).unwrap_err();
        assert!(matches!(error, SessionFileError::Name(_)), "{error}");
    }
    assert!(!dir.path().join("data").exists());
}

#[test]
fn what_a_later_version_wrote_is_read_and_forked_and_not_written_to() {
    let (_directory, sessions) = sessions();
    drop(sessions.create(&"s".into(), None, &lease()).unwrap());
    let path = sessions.list(None)[0].path.clone();
    let mut text = fs::read_to_string(&path).unwrap();
    let content = r#""fence":1,"future":{"x":1}}"#;
    let line = format!("{{\"sum\":\"{:08x}\",{content}\n", crc32fast::hash(content.as_bytes()));
    text.push_str(&line);
    fs::write(&path, &text).unwrap();
    let problem = || sessions.open(&name("s"), &lease(), |_| {}).map(drop).unwrap_err().to_string();
    assert!(problem().contains("newer version of Rheon (1 unknown lines)"), "{}", problem());
    assert_eq!(sessions.read(&name("s"), |_| {}).unwrap().unknown, 1);
    drop(sessions.fork(&name("s"), 0, &"f1".into(), &lease()).unwrap());
    drop(sessions.open(&name("f1"), &lease(), |_| {}).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let newer = text.lines().next().unwrap().replace("\"version\":1", "\"version\":2");
    let (_, content) = newer.split_at(18);
    let line = format!("{{\"sum\":\"{:08x}\",{content}\n", crc32fast::hash(content.as_bytes()));
    // What follows may have another form, which is not damage to be cut off.
    let text = format!("{line}a line of a later form\n");
    fs::write(&path, &text).unwrap();
    assert!(problem().contains("(format version 2 instead of 1)"), "{}", problem());
    assert!(problem().ends_with("update Rheon, or fork the session (--fork-session)"), "{}", problem());
    assert_eq!(sessions.read(&name("s"), |_| {}).unwrap().header.version, 2);
    drop(sessions.fork(&name("s"), 0, &"f2".into(), &lease()).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_session_with_an_event_of_a_later_version_is_read_and_forked_and_not_written_to() {
    let (_directory, sessions) = sessions();
    let journal = sessions.create(&"s".into(), None, &lease()).unwrap();
    let kind = serde_json::from_value(json!({ "type": "turn.magic", "wand": 3 })).unwrap();
    let event = Event { seq: 1, at: Timestamp::from_millis(1), session_id: "s".into(), run_id: None, kind };
    journal.append(&event).unwrap();
    drop(journal);
    let path = sessions.list(None)[0].path.clone();
    let text = fs::read_to_string(&path).unwrap();
    let error = sessions.open(&name("s"), &lease(), |_| {}).map(drop).unwrap_err().to_string();
    assert!(error.contains("newer version of Rheon (event 1 is an unknown \"turn.magic\")"), "{error}");
    let mut read = Vec::new();
    sessions.read(&name("s"), |event| read.push(event)).unwrap();
    assert_eq!(read, [event]);
    drop(sessions.fork(&name("s"), 1, &"f".into(), &lease()).unwrap());
    let mut seen = 0;
    drop(sessions.open(&name("f"), &lease(), |_| seen += 1).unwrap());
    assert_eq!((seen, fs::read_to_string(&path).unwrap()), (1, text));
}

#[tokio::test]
async fn a_payload_that_cannot_be_stored_is_reported_with_its_directory() {
    let (_directory, sessions) = sessions();
    let events = stored_run(&sessions).await;
    let blobs = sessions.blobs().dir().to_owned();
    fs::remove_dir_all(&blobs).unwrap();
    fs::write(&blobs, "a file in the way").unwrap();
    let journal = sessions.create(&"other".into(), None, &lease()).unwrap();
    let refused = events.iter().find_map(|event| journal.append(event).err()).unwrap().to_string();
    assert!(refused.contains(&format!("cannot store a large payload in {}: ", blobs.display())), "{refused}");
}

#[tokio::test]
async fn a_fork_from_an_inherited_event_has_only_the_events_before_it() {
    let (_directory, sessions) = sessions();
    let events = stored_run(&sessions).await;
    let last = events.last().unwrap().seq;
    drop(sessions.fork(&name("s"), last, &"child".into(), &lease()).unwrap());
    drop(sessions.fork(&name("child"), 3, &"grandchild".into(), &lease()).unwrap());
    assert_eq!(read(&sessions, "child"), events);
    assert_eq!(read(&sessions, "grandchild"), events[..3]);
}

#[test]
fn sessions_are_found_by_id_prefix_and_by_age() {
    let (_directory, sessions) = sessions();
    let (here, there) = (Path::new("/here"), Path::new("/there"));
    for (id, project, age) in [("ab1", here, 3), ("ab2", here, 1), ("ab3", there, 2), ("cd", here, 2)] {
        let journal = sessions.create(&id.into(), Some(project), &lease()).unwrap();
        let file = fs::File::open(journal.path()).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 - age);
        file.set_modified(time).unwrap();
    }
    let text = |names: Vec<SessionName>| names.iter().map(SessionName::as_str).collect::<Vec<_>>().join(" ");
    assert_eq!(text(sessions.names(Some(here), "ab")), "ab1 ab2");
    assert_eq!(text(sessions.names(None, "ab")), "ab1 ab2 ab3");
    assert_eq!(text(sessions.names(None, "x")), "");
    let newest = sessions.newest(here, 2).into_iter().map(|listed| listed.name).collect();
    assert_eq!(text(newest), "ab2 cd");
    assert_eq!(sessions.listed(&name("ab3")).unwrap().header.unwrap().project.as_deref(), Some("/there"));
    assert!(matches!(sessions.listed(&name("ab4")), Err(SessionFileError::Missing { .. })));
}

#[test]
fn every_disk_error_has_a_suggestion() {
    use rustix::io::Errno;
    let all = [
        Errno::ACCESS,
        Errno::EXIST,
        Errno::NOTDIR,
        Errno::MFILE,
        Errno::FBIG,
        Errno::NOSPC,
        Errno::DQUOT,
        Errno::ROFS,
        Errno::NOLCK,
        Errno::OPNOTSUPP,
        Errno::IO,
    ];
    let steps: String = all.map(|errno| format!("{}\n", crate::journal::next_step(&errno.into()))).concat();
    expect![[r#"
        make it writable, or use another directory
        a file is in the way of a directory: move it, or use another directory
        a file is in the way of a directory: move it, or use another directory
        too many open files: close some or raise the limit (ulimit -n), then try again
        raise the file size limit (ulimit -f) and try again
        free some disk space and try again; everything saved so far is safe
        free some disk space and try again; everything saved so far is safe
        use a writable directory
        this file system does not support locks: use a directory on a local disk
        this file system does not support locks: use a directory on a local disk
        check the disk or use another directory, then try again
    "#]]
    .assert_eq(&steps);
}

#[test]
fn the_lock_of_a_dead_process_is_waited_for_and_that_of_a_living_one_is_not() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let dead = child.id();
    child.wait().unwrap();
    let host = rustix::system::uname().nodename().to_str().ok().map(str::to_owned);
    // The parent of a test lives as long as the test.
    let living = std::os::unix::process::parent_id();
    for (pid, is_waited_for) in [(dead, true), (living, false)] {
        let lease = Lease { pid, host: host.clone(), at: Timestamp::from_millis(1) };
        let (_directory, sessions) = sessions();
        let mut journal = Some(sessions.create(&"s".into(), None, &lease).unwrap());
        let path = sessions.list(None)[0].path.clone();
        let mut waits = 0;
        let opened = crate::journal::file::open_waiting(&path, || {
            waits += 1;
            // The last process that has the file open ends while this one waits.
            drop(journal.take_if(|_| waits == 3));
            true
        });
        assert_eq!((opened.is_ok(), waits), if is_waited_for { (true, 3) } else { (false, 0) });
        // It is read from its start.
        if let Ok(mut file) = opened {
            assert_eq!(std::io::Seek::stream_position(&mut file).unwrap(), 0);
        }
    }
}

#[test]
fn a_directory_without_sessions_contains_none() {
    let (_dir, sessions) = sessions();
    assert!(!sessions.contains(&name("s")).unwrap());
}

#[tokio::test]
async fn a_store_with_many_sessions_keeps_few_files_open() {
    let (dir, sessions) = sessions();
    let store = super::JournalStore::new(sessions.clone(), None, lease());
    let event = |session: usize, seq: u64| Event {
        seq,
        at: Timestamp::from_millis(1),
        session_id: format!("s{session}").into(),
        run_id: None,
        kind: rheon_types::SessionEvent::Title { title: format!("{session}/{seq}") }.into(),
    };
    let open_files = || {
        let files =
            fs::read_dir("/proc/self/fd").unwrap().flatten().filter_map(|fd| fs::read_link(fd.path()).ok());
        files.filter(|path| path.starts_with(dir.path())).count()
    };
    for seq in 1..=2 {
        for session in 0..150 {
            store.append(&event(session, seq)).unwrap();
        }
    }
    assert!(open_files() <= 70, "{} files are open", open_files());
    for session in [0, 70, 149] {
        let expected = [event(session, 1), event(session, 2)];
        assert_eq!(read(&sessions, &format!("s{session}")), expected);
    }
}

#[tokio::test]
async fn a_deleted_session_leaves_no_piece_behind() {
    let (dir, sessions) = sessions();
    stored_run(&sessions).await;
    let path = sessions.listed(&name("s")).unwrap().path;
    let mut text = fs::read(&path).unwrap();
    text.truncate(text.len() - 3);
    fs::write(&path, text).unwrap();
    let (journal, opened) = sessions.open(&name("s"), &lease(), |_| ()).unwrap();
    let piece = opened.damaged_copy.unwrap();
    drop(journal);
    assert!(piece.exists());
    sessions.delete(&name("s"), &lease()).unwrap();
    assert!(!piece.exists() && !path.exists());
    drop(dir);
}
