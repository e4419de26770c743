//! Forks a large session without copying it.

use std::time::Instant;

use rheon_types::SessionId;

use crate::fixture::{PAYLOADS, dir, journal, lease, name};
use crate::race::{race, way, whole};
use crate::report;

const ROUNDS: usize = 7;

pub(crate) fn measure() {
    let sessions = PAYLOADS.sessions();
    let path = journal(&sessions, PAYLOADS.name);
    let mut last = 0;
    sessions.read(&name(PAYLOADS.name), |event| last = event.seq).expect("the session can be read");
    let copy = dir("store-fork-copy");
    let mut written = 0;
    race(
        ROUNDS,
        1.0,
        [
            way("fork/session", || {
                let start = Instant::now();
                let forked = sessions.fork(&name(PAYLOADS.name), last, &SessionId::from("fork"), &lease());
                drop(forked.expect("the session can be forked"));
                let taken = start.elapsed();
                written = std::fs::metadata(journal(&sessions, "fork")).map_or(0, |file| file.len());
                sessions.delete(&name("fork"), &lease()).expect("the fork can be deleted");
                taken
            }),
            whole("fork/copy", || {
                std::fs::copy(&path, &copy).expect("the journal can be copied");
            }),
        ],
    );
    report("fork/bytes", written as f64);
    report("fork/copy/bytes", std::fs::metadata(&copy).map_or(0, |file| file.len()) as f64);
    std::fs::remove_file(&copy).ok();
}
