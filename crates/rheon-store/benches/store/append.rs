//! Appends events, with and without a sync after each, compared with plain writes of the same bytes.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rheon_store::journal::Journal;
use rheon_store::sessions::SessionFiles;
use rheon_types::{AgentEvent, Event, Store as _, Timestamp, ToolEvent, ToolResult};

use crate::fixture::{dir, journal, lease};
use crate::log::output;
use crate::race::{race, way, whole};
use crate::runtime;

const ROUNDS: usize = 7;
const UNSYNCED: u64 = 1_000;
const SYNCED: u64 = 30;

pub(crate) fn measure() {
    let root = dir("store-append");
    std::fs::remove_dir_all(&root).ok();
    // 100 KB is stored as a payload, the others are not.
    for (name, bytes) in [("1kb", 700), ("20kb", 20_000), ("100kb", 100_000)] {
        let sessions = SessionFiles::new(root.join(name), 1 << 40);
        let open = |id: &str| sessions.create(&id.into(), None, &lease()).expect("the session is new");
        let line = {
            let sample = open("sample");
            sample.append(&event(1, bytes)).expect("the journal can be written");
            let content = std::fs::read(journal(&sessions, "sample")).expect("the journal can be read");
            let last =
                content.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().expect("there is a line");
            // Payloads beside the journal count too.
            let mut line = last.to_vec();
            line.resize(line.len().max(bytes), b' ');
            line.push(b'\n');
            line
        };
        let runtime = runtime();
        let unsynced = Numbered::new(open("unsynced"), bytes);
        let synced = Numbered::new(open("synced"), bytes);
        let (bare, bare_synced) = (file(&root.join("bare")), file(&root.join("bare-synced")));
        let unsynced_times = if bytes > 50_000 { SYNCED } else { UNSYNCED };
        race(
            ROUNDS,
            unsynced_times as f64,
            [
                way(format!("append/{name}"), || {
                    unsynced.append(unsynced_times, |journal, event| {
                        journal.append(event).expect("the journal can be written");
                    })
                }),
                whole(format!("append/{name}/write"), || {
                    (0..unsynced_times).for_each(|_| write(&bare, &line));
                }),
            ],
        );
        race(
            ROUNDS,
            SYNCED as f64,
            [
                way(format!("append/{name}/synced"), || {
                    synced.append(SYNCED, |journal, event| {
                        journal.append(event).expect("the journal can be written");
                        runtime
                            .block_on(async { journal.sync().get().await })
                            .expect("the journal can be synced");
                    })
                }),
                whole(format!("append/{name}/write+fdatasync"), || {
                    for _ in 0..SYNCED {
                        write(&bare_synced, &line);
                        bare_synced.sync_data().expect("the file can be synced");
                    }
                }),
            ],
        );
    }
    std::fs::remove_dir_all(&root).ok();
}

fn file(path: &Path) -> File {
    OpenOptions::new().create(true).append(true).open(path).expect("the target directory is writable")
}

fn write(mut file: &File, line: &[u8]) {
    file.write_all(line).expect("the file can be written");
}

fn event(seq: u64, bytes: usize) -> Event {
    let kind = AgentEvent::Tool(ToolEvent::End {
        call_id: format!("call_{seq}").into(),
        name: "read".into(),
        result: Arc::new(ToolResult::text(output(seq, bytes))),
        is_error: false,
        duration_ms: 4,
        child_run_id: None,
    });
    let at = Timestamp::from_millis(1_790_000_000_000 + seq);
    Event { seq, at, session_id: "session".into(), run_id: Some("session.main.1".into()), kind }
}

/// A journal with numbered events.
struct Numbered {
    journal: Journal,
    bytes: usize,
}

impl Numbered {
    fn new(journal: Journal, bytes: usize) -> Self {
        Self { journal, bytes }
    }

    /// The time to append this many events, which are created before.
    fn append(&self, times: u64, append: impl Fn(&Journal, &Event)) -> Duration {
        let first = self.journal.seq() + 1;
        let events: Vec<Event> = (first..first + times).map(|seq| event(seq, self.bytes)).collect();
        let start = Instant::now();
        events.iter().for_each(|event| append(&self.journal, event));
        start.elapsed()
    }
}
