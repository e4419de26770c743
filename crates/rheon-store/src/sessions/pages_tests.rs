//! Pages of sessions that are much longer than one, that grow while they are read, and that go on from others.

use std::path::Path;
use std::sync::Arc;

use rheon_types::event::{Notice, NoticeTopic};
use rheon_types::{Event, SessionEvent, SessionId, Store as _, Timestamp};
use tempfile::TempDir;

use super::PageSize;
use crate::SessionName;
use crate::journal::{Journal, Lease};
use crate::sessions::SessionFiles;

const SIZE: PageSize = PageSize { events_max: 16, bytes_max: 4 * 1024 };

fn lease() -> Lease {
    Lease { pid: 7, host: None, at: Timestamp::from_millis(1) }
}

fn fact(session_id: &SessionId, seq: u64, text: &str) -> Event {
    let notice = Arc::new(Notice::info(NoticeTopic::Config, text));
    let (at, kind) = (Timestamp::from_millis(seq), SessionEvent::Notice { notice }.into());
    Event { seq, at, session_id: session_id.clone(), run_id: None, kind }
}

fn session(id: &str) -> (TempDir, SessionFiles, Journal) {
    let directory = tempfile::tempdir().unwrap();
    let sessions = SessionFiles::new(directory.path().join("data"), 1 << 30);
    let journal = sessions.create(&id.into(), Some(Path::new("/srv/project")), &lease()).unwrap();
    (directory, sessions, journal)
}

#[test]
fn a_journal_of_many_pages_comes_whole_and_no_page_is_larger_than_asked() {
    let (_directory, sessions, journal) = session("s");
    let written: Vec<Event> = (1..=1_000).map(|seq| fact(&"s".into(), seq, &format!("fact {seq}"))).collect();
    written.iter().for_each(|event| journal.append(event).unwrap());
    let mut pages = sessions.pages(&SessionName::new("s").unwrap()).unwrap();
    let (mut read, mut count) = (Vec::new(), 0);
    loop {
        let page = pages.next(read.len() as u64, SIZE).unwrap();
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= SIZE.events_max, "{}", page.len());
        count += 1;
        read.extend(page);
    }
    assert!(read == written);
    assert_eq!(count, 1_000_usize.div_ceil(SIZE.events_max));
    // What is written later comes later.
    let late = fact(&"s".into(), 1_001, "late");
    journal.append(&late).unwrap();
    assert_eq!(pages.next(1_000, SIZE).unwrap(), [late]);
    assert_eq!(pages.next(1_001, SIZE).unwrap(), []);
    // From a number in the middle.
    let mut pages = sessions.pages(&SessionName::new("s").unwrap()).unwrap();
    assert!(
        pages.next(990, SIZE).unwrap()
            == written[990..].iter().cloned().chain([fact(&"s".into(), 1_001, "late")]).collect::<Vec<_>>()
    );
}

#[test]
fn a_page_ends_with_the_event_that_reaches_its_bytes() {
    let (_directory, sessions, journal) = session("s");
    let long = "x".repeat(3 * 1024);
    (1..=10).for_each(|seq| journal.append(&fact(&"s".into(), seq, &long)).unwrap());
    let mut pages = sessions.pages(&SessionName::new("s").unwrap()).unwrap();
    let numbers = |page: Vec<Event>| page.iter().map(|event| event.seq).collect::<Vec<_>>();
    assert_eq!(numbers(pages.next(0, SIZE).unwrap()), [1, 2]);
    assert_eq!(numbers(pages.next(2, SIZE).unwrap()), [3, 4]);
}

#[test]
fn a_fork_has_the_pages_of_those_it_goes_on_from_first() {
    let (_directory, sessions, journal) = session("s");
    (1..=40).for_each(|seq| journal.append(&fact(&"s".into(), seq, "old")).unwrap());
    let fork = sessions.fork(&SessionName::new("s").unwrap(), 25, &"t".into(), &lease()).unwrap();
    (26..=50).for_each(|seq| fork.append(&fact(&"t".into(), seq, "new")).unwrap());
    let mut pages = sessions.pages(&SessionName::new("t").unwrap()).unwrap();
    let mut numbers = Vec::new();
    loop {
        let page = pages.next(numbers.len() as u64, SIZE).unwrap();
        if page.is_empty() {
            break;
        }
        for event in page {
            assert_eq!(event.session_id.as_str(), if event.seq <= 25 { "s" } else { "t" });
            numbers.push(event.seq);
        }
    }
    assert_eq!(numbers, (1..=50).collect::<Vec<_>>());
}
