//! Resumes sessions of 500 MB in fresh processes: time and memory growth.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use rheon_store::sessions::{JournalStore, SessionFiles};
use serde_json::Value;

use crate::fixture::{INLINE, Large, PAYLOADS, files, journal, lease, name};
use crate::{report, runtime};

/// Set by the first process for those it starts: the method and the session.
const CHILD: &str = "RHEON_BENCH_OPEN";
const ROUNDS: usize = 5;

/// Ways to read a session.
const RESUME: &str = "resume";
const READ: &str = "read";
const LINES: &str = "lines";

pub(crate) fn measure() {
    for large in [PAYLOADS, INLINE] {
        drop(large.sessions());
        let mut best = [RESUME, READ, LINES].map(|way| (way, f64::MAX, f64::MAX, 0.0));
        for round in 0..=ROUNDS {
            for (way, nanos, work, mebibytes) in &mut best {
                let [taken, worked, grown] = child(way, large);
                // The first round only fills the page cache.
                if round > 0 {
                    *nanos = taken.min(*nanos);
                    *work = worked.min(*work);
                    *mebibytes = grown.max(*mebibytes);
                }
            }
        }
        for (way, nanos, work, mebibytes) in best {
            report(&format!("open/{}/{way}", large.name), nanos);
            report(&format!("open/{}/{way}/work", large.name), work);
            report(&format!("open/{}/{way}/mib", large.name), mebibytes);
        }
    }
}

/// The time a fresh process takes, its CPU time, and the growth of its peak memory in MiB.
fn child(way: &str, large: Large) -> [f64; 3] {
    let program = std::env::current_exe().expect("the benchmark has a path");
    let mut child = Command::new(program);
    child.env(CHILD, format!("{way} {}", large.name)).stderr(Stdio::inherit());
    let output = child.output().expect("the benchmark can be started");
    assert!(output.status.success(), "the process failed that opens the session");
    let printed = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = printed.split_whitespace().map(|text| text.parse().expect("a number")).collect();
    numbers.try_into().expect("the process prints three numbers")
}

pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

pub(crate) fn run_child() {
    let asked = std::env::var(CHILD).expect("the first process says what to do");
    let (way, session) = asked.split_once(' ').expect("a way and a session");
    let large = [PAYLOADS, INLINE].into_iter().find(|large| large.name == session).expect("a session");
    let sessions = large.sessions();
    let runtime = runtime();
    // The kernel hands out pages in batches; memory used before does not count.
    let (before, work) = (peak_mib(), work_nanos());
    let start = Instant::now();
    let messages = match way {
        RESUME => {
            let store = JournalStore::new(sessions, None, lease());
            let resumed = runtime.block_on(store.resume(&name(session))).expect("the session can be opened");
            let messages = resumed.state.messages().len();
            std::mem::forget(resumed);
            messages
        }
        READ => {
            let mut messages = 0;
            let visit =
                |event: rheon_types::Event| messages += usize::from(event.kind.name() == "message.end");
            sessions.read(&name(session), visit).expect("the session can be read");
            messages
        }
        _ => lines(&sessions, session),
    };
    let nanos = start.elapsed().as_secs_f64() * 1e9;
    assert_eq!(messages, large.messages() as usize, "all messages are there");
    println!("{nanos} {} {}", work_nanos() - work, peak_mib() - before);
}

/// A naive client: parses each line as a `Value`, drops it, and reads each payload.
fn lines(sessions: &SessionFiles, session: &str) -> usize {
    let path = journal(sessions, session);
    let mut messages = 0;
    for line in BufReader::new(File::open(&path).expect("the journal is there")).lines() {
        let line = line.expect("the journal is text");
        let value: Value = serde_json::from_str(&line).expect("a line is JSON");
        let kind = value.pointer("/event/kind/type").and_then(Value::as_str).unwrap_or_default();
        messages += usize::from(kind == "message.end" || kind == "slim.message_end");
    }
    let blobs = path.ancestors().nth(3).map(|dir| dir.join("blobs")).expect("the journal is in a directory");
    let bytes: usize =
        files(Path::new(&blobs)).iter().map(|path| std::fs::read(path).map_or(0, |it| it.len())).sum();
    assert!(bytes == 0 || bytes > 400_000_000, "payloads are where they were looked for");
    messages
}

/// The CPU time of this process in nanoseconds. The kernel counts in hundredths of a second.
fn work_nanos() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("the system tells of its processes");
    let (_, fields) = stat.rsplit_once(") ").expect("the name of the program is in brackets");
    let ticks = fields.split(' ').skip(11).take(2).map(|text| text.parse::<f64>().expect("a number"));
    ticks.sum::<f64>() * 1e7
}

/// The peak memory of this process in MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the system tells of its processes");
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the system tells of the peak");
    let kibibytes: f64 = line.trim().trim_end_matches(" kB").parse().expect("the peak is a number");
    kibibytes / 1024.0
}
