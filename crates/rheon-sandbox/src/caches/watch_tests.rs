//! Tests of the limit while a session runs.

use std::fs;
use std::sync::mpsc;

use super::{CacheReports, MEASURE_EVERY, QuotaWatch};

#[test]
fn a_session_over_the_limit_is_full_after_the_next_measurement_and_told_once() {
    let dir = tempfile::tempdir().unwrap();
    let slot = dir.path().to_path_buf();
    let (sender, reported) = mpsc::channel();
    let reports = CacheReports::new(move |problem| sender.send(problem).unwrap());
    let watch = QuotaWatch::new(slot.clone(), 10, reports);
    fs::write(slot.join("small"), "0123456789").unwrap();
    watch.state.measure();
    assert!((0..MEASURE_EVERY - 1).all(|_| !watch.is_full()));
    fs::write(slot.join("one more"), "x").unwrap();
    // The eighth command starts a measurement in the background, which reports that it is full.
    assert!(!watch.is_full());
    let problem = reported.recv().unwrap();
    assert!(problem.starts_with("the package caches of this session have 11 bytes"), "{problem}");
    assert!(watch.is_full());
    watch.state.measure();
    assert!(reported.try_recv().is_err());
}
