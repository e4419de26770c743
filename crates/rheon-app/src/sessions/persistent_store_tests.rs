//! What is not in the journal can still be read, and is written first once the journal can be.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rheon_store::SessionName;
use rheon_store::journal::Lease;
use rheon_store::sessions::{JournalStore, PageSize, SessionFiles};
use rheon_types::event::{Notice, NoticeTopic};
use rheon_types::{Event, SessionEvent, Store as _, Timestamp};
use tempfile::TempDir;

use super::{OnStorageFailure, PersistentStore, Standing};
use crate::sessions::notice_sink::SessionNoticeSink;

struct Fixture {
    _dir: TempDir,
    data: PathBuf,
    sessions: SessionFiles,
    store: PersistentStore,
    notices: Arc<Mutex<Vec<String>>>,
}

fn fixture(on_failure: OnStorageFailure) -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let sessions = SessionFiles::new(&data, 1 << 30);
    let lease = Lease { pid: 7, host: None, at: Timestamp::default() };
    let journals = Arc::new(JournalStore::new(sessions.clone(), Some(Path::new("/srv").to_owned()), lease));
    let notices: Arc<Mutex<Vec<String>>> = Arc::default();
    let tell = Arc::clone(&notices);
    let tell = SessionNoticeSink::new(move |notice| tell.lock().unwrap().push(notice.to_string()));
    let store = PersistentStore::new(journals, on_failure, tell, Standing::New);
    Fixture { _dir: dir, data, sessions, store, notices }
}

/// A fact, which belongs to no run, or an event of a run.
fn event(seq: u64, run: Option<&str>) -> Event {
    let notice = Arc::new(Notice::info(NoticeTopic::Config, "hm"));
    let kind = SessionEvent::Notice { notice }.into();
    let (at, run_id) = (Timestamp::default(), run.map(Into::into));
    Event { seq, at, session_id: "s".into(), run_id, kind }
}

fn unsaved(stage: &Fixture, after: u64) -> Vec<u64> {
    stage.store.unsaved(&"s".into(), after, 100).iter().map(|event| event.seq).collect()
}

fn saved(stage: &Fixture) -> Vec<u64> {
    let mut pages = stage.sessions.pages(&SessionName::new("s").unwrap()).unwrap();
    let size = PageSize { events_max: 100, bytes_max: 1 << 20 };
    pages.next(0, size).unwrap().iter().map(|event| event.seq).collect()
}

#[test]
fn what_comes_after_the_store_gave_up_can_be_read() {
    let stage = fixture(OnStorageFailure::InMemory);
    stage.store.append(&event(1, None)).unwrap();
    stage.store.append(&event(2, None)).unwrap();
    assert_eq!(unsaved(&stage, 0), [1, 2]);
    std::fs::write(&stage.data, "a file").unwrap();
    for seq in 3..=9 {
        stage.store.append(&event(seq, Some("r"))).unwrap();
    }
    assert_eq!(unsaved(&stage, 0), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(unsaved(&stage, 7), [8, 9]);
    assert_eq!(stage.store.unsaved(&"s".into(), 2, 2).len(), 2);
    assert_eq!(stage.notices.lock().unwrap().len(), 1);
}

#[test]
fn facts_that_could_not_be_written_are_written_before_what_is_tried_again() {
    let stage = fixture(OnStorageFailure::Refuse);
    stage.store.append(&event(1, None)).unwrap();
    std::fs::write(&stage.data, "a file").unwrap();
    stage.store.append(&event(2, Some("r"))).unwrap_err();
    assert_eq!(unsaved(&stage, 0), [1]);
    std::fs::remove_file(&stage.data).unwrap();
    stage.store.append(&event(2, Some("r"))).unwrap();
    assert_eq!((saved(&stage), unsaved(&stage, 0)), (vec![1, 2], vec![]));
}
