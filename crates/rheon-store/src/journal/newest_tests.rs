//! How many of the newest events fit into a budget.

use std::io::Write as _;
use std::path::Path;

use serde_json::value::RawValue;

use super::{ByteBudget, newest, stored_bytes};
use crate::journal::record::{Entry, encode};

/// A file of events with these texts, and the offset of each line.
fn file(texts: &[&str]) -> (std::fs::File, Vec<u64>) {
    let mut file = tempfile::tempfile().unwrap();
    let (mut offset, mut offsets) = (0, Vec::new());
    for (place, text) in texts.iter().enumerate() {
        let json = format!("{{\"seq\":{},\"text\":\"{text}\"}}", place + 1);
        let event = RawValue::from_string(json).unwrap();
        let mut line = Vec::new();
        encode(&Entry { fence: 1, event: Some(&event), ..Entry::default() }, &mut line).unwrap();
        file.write_all(&line).unwrap();
        offsets.push(offset);
        offset += line.len() as u64;
    }
    offsets.push(offset);
    (file, offsets)
}

/// The number of the first line that fits, and the remaining budget.
fn fitting(texts: &[&str], last: u64, bytes: u64) -> (usize, ByteBudget) {
    let (file, offsets) = file(texts);
    let mut budget = ByteBudget::Bytes(bytes);
    let from = newest(Path::new("journal"), &file, last, &mut budget, bytes).unwrap();
    (offsets.iter().position(|offset| *offset == from).unwrap(), budget)
}

#[test]
fn events_fit_within_the_budget() {
    // Each event is 19 bytes plus its text.
    let texts = ["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"];
    assert_eq!(stored_bytes("{\"seq\":1,\"text\":\"aaaaaaaaaa\"}", 0), 29);
    assert_eq!(fitting(&texts, u64::MAX, 0), (3, ByteBudget::Bytes(0)));
    assert_eq!(fitting(&texts, u64::MAX, 29), (2, ByteBudget::Bytes(0)));
    assert_eq!(fitting(&texts, u64::MAX, 57), (2, ByteBudget::Bytes(0)));
    assert_eq!(fitting(&texts, u64::MAX, 58), (1, ByteBudget::Bytes(0)));
    assert_eq!(fitting(&texts, u64::MAX, 87), (0, ByteBudget::Bytes(0)));
    assert_eq!(fitting(&texts, u64::MAX, 1_000), (0, ByteBudget::Bytes(913)));
}

#[test]
fn events_after_the_fork_point_take_no_budget() {
    assert_eq!(fitting(&["a", "b", "c"], 1, 20), (0, ByteBudget::Bytes(0)));
    assert_eq!(fitting(&["a", "b", "c"], 2, 20), (1, ByteBudget::Bytes(0)));
}

#[test]
fn an_oversized_event_takes_no_budget_from_others() {
    let long = "x".repeat(1_000);
    assert_eq!(fitting(&["a", &long, "c"], u64::MAX, 45), (0, ByteBudget::Bytes(5)));
}

#[test]
fn an_unlimited_budget_reads_nothing() {
    let (file, _) = file(&["a"]);
    let mut budget = ByteBudget::Unlimited;
    assert_eq!(newest(Path::new("journal"), &file, 9, &mut budget, u64::MAX).unwrap(), 0);
}
