//! The index: listing pages, searching, and rebuilding.

use std::fs;
use std::hint::black_box;
use std::io::Write as _;
use std::path::PathBuf;

use rheon_store::sessions::SessionFiles;
use rheon_store::sqlite::{Index, ListQuery, SearchQuery, SessionSource};
use rheon_types::Event;

use crate::fixture::{dir, journal, lease};
use crate::log::{Log, Shape};
use crate::race::{race, whole};

const ROUNDS: usize = 20;
const PAGE: usize = 50;
/// Change this to rebuild the index.
const VERSION: &str = "store-index-1";
const SHAPE: Shape = Shape { calls: 1, output_bytes: 300 };
const PROJECTS: usize = 40;

pub(crate) fn measure() {
    list();
    rebuild();
}

/// A small session: a prompt, a call and an answer, 19 events.
fn session(number: usize) -> (SessionSource, Vec<Event>) {
    let id = format!("session-{number:06}");
    let mut events = Vec::new();
    let mut emit = |event| events.push(event);
    let at_ms = 1_790_000_000_000 + (number as u64) * 60_000;
    let prompt = format!("Fix the parser of part {number}; ticket{} is about it.", number % 997);
    Log::new(&id, at_ms, &mut emit).run(1, &prompt, SHAPE);
    let project = format!("/home/me/project-{}", number % PROJECTS);
    (SessionSource { session_id: id.into(), path: PathBuf::from(&project), project, parent: None }, events)
}

/// An index of this many sessions, built once and reused.
fn index(sessions: usize) -> Index {
    let path = dir(VERSION).join(format!("{sessions}.db"));
    let done = path.with_extension("complete");
    if !done.exists() {
        eprintln!("== generating an index of {sessions} sessions once, in the target directory");
        fs::create_dir_all(dir(VERSION)).expect("the target directory is writable");
        fs::remove_file(&path).ok();
        let (index, _) = Index::open(&path).expect("the index can be made");
        index.rebuild((0..sessions).map(session)).expect("the index can be written");
        fs::write(done, "").expect("the target directory is writable");
    }
    Index::open(&path).expect("the index can be opened").0
}

fn list() {
    let (small, large) = (index(10_000), index(100_000));
    let dir = headers();
    let first = ListQuery { limit: PAGE, ..ListQuery::default() };
    let project = ListQuery { project: Some("/home/me/project-7".into()), ..first.clone() };
    let middle = {
        let mut before = None;
        for _ in 0..100 {
            let query = ListQuery { before, limit: 500, ..ListQuery::default() };
            before = large.list(&query).expect("the index can be read").next;
        }
        ListQuery { before, ..first.clone() }
    };
    let some = SearchQuery { text: "ticket7".into(), limit: 20, ..SearchQuery::default() };
    let frequent = SearchQuery { text: "parser".into(), ..some.clone() };
    let page = |index: &Index, query: &ListQuery| {
        assert_eq!(index.list(query).expect("the index can be read").sessions.len(), PAGE, "a page is full");
    };
    let hits = |index: &Index, query: &SearchQuery| {
        assert!(
            !black_box(index.search(query).expect("the index can be read")).is_empty(),
            "something is found"
        );
    };
    race(
        ROUNDS,
        1.0,
        [
            whole("list/10k", || page(&small, &first)),
            whole("list/100k", || page(&large, &first)),
            whole("list/100k/project", || page(&large, &project)),
            whole("list/100k/middle", || page(&large, &middle)),
            whole("list/search", || {
                page(&large, &ListQuery { search: Some("ticket7".into()), ..first.clone() })
            }),
            whole("search/some", || hits(&large, &some)),
        ],
    );
    race(
        3,
        1.0,
        [
            whole("search/frequent", || hits(&large, &frequent)),
            whole("list/10k/headers", || assert!(dir.list(None).len() > 10_000, "all are listed")),
            whole("search/scan", || {
                let all = scan("ticket7");
                assert!(all > 50, "the entries are found: {all}");
            }),
        ],
    );
}

/// A search without an index: looks at every entry.
fn scan(word: &str) -> i64 {
    let path = dir(VERSION).join("100000.db");
    let connection = rusqlite::Connection::open(path).expect("the index can be opened");
    let sql = "SELECT count(*) FROM entries WHERE text LIKE '%' || ?1 || ' %'";
    connection.query_row(sql, [word], |row| row.get(0)).expect("the index can be read")
}

/// A directory of 10,000 journals that contain only their headers.
fn headers() -> SessionFiles {
    let root = dir("store-headers-1");
    let sessions = SessionFiles::new(&root, 1 << 30);
    if !root.join("complete").exists() {
        fs::remove_dir_all(&root).ok();
        drop(sessions.create(&"first".into(), None, &lease()).expect("the session is new"));
        let first = journal(&sessions, "first");
        for number in 0..10_000 {
            fs::copy(&first, first.with_file_name(format!("session-{number}.jsonl")))
                .expect("a file can be copied");
        }
        fs::write(root.join("complete"), "").expect("the target directory is writable");
    }
    sessions
}

fn rebuild() {
    let root = dir("store-rebuild");
    fs::create_dir_all(&root).expect("the target directory is writable");
    let (path, lines) = (root.join("index.db"), root.join("lines"));
    race(
        2,
        1.0,
        [
            whole("rebuild/10k", || {
                let (index, _) = Index::open(&path).expect("the index can be made");
                index.rebuild((0..10_000).map(session)).expect("the index can be written");
            }),
            whole("rebuild/10k/lines", || {
                let mut file = std::io::BufWriter::new(fs::File::create(&lines).expect("a file can be made"));
                for event in (0..10_000).flat_map(|number| session(number).1) {
                    serde_json::to_writer(&mut file, &event).expect("an event can be written");
                    file.write_all(b"\n").expect("the file can be written");
                }
            }),
        ],
    );
    fs::remove_dir_all(&root).ok();
}
