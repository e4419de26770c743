//! How far back contents fit.

use std::io::Write as _;
use std::path::Path;

use serde_json::value::RawValue;

use super::{Room, newest, stored_bytes};
use crate::journal::record::{Entry, encode};

/// A file of events with these texts, and where each line begins.
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

/// The number of the line from which on contents fit, and what is left.
fn fitting(texts: &[&str], last: u64, bytes: u64) -> (usize, Room) {
    let (file, offsets) = file(texts);
    let mut room = Room::Bytes(bytes);
    let from = newest(Path::new("journal"), &file, last, &mut room, bytes).unwrap();
    (offsets.iter().position(|offset| *offset == from).unwrap(), room)
}

#[test]
fn events_fit_as_long_as_there_is_room() {
    // Each event is 19 bytes long and its text.
    let texts = ["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"];
    assert_eq!(stored_bytes("{\"seq\":1,\"text\":\"aaaaaaaaaa\"}", 0), 29);
    assert_eq!(fitting(&texts, u64::MAX, 0), (3, Room::Bytes(0)));
    assert_eq!(fitting(&texts, u64::MAX, 29), (2, Room::Bytes(0)));
    assert_eq!(fitting(&texts, u64::MAX, 57), (2, Room::Bytes(0)));
    assert_eq!(fitting(&texts, u64::MAX, 58), (1, Room::Bytes(0)));
    assert_eq!(fitting(&texts, u64::MAX, 87), (0, Room::Bytes(0)));
    assert_eq!(fitting(&texts, u64::MAX, 1_000), (0, Room::Bytes(913)));
}

#[test]
fn events_after_the_last_that_belongs_to_the_session_take_no_room() {
    assert_eq!(fitting(&["a", "b", "c"], 1, 20), (0, Room::Bytes(0)));
    assert_eq!(fitting(&["a", "b", "c"], 2, 20), (1, Room::Bytes(0)));
}

#[test]
fn an_event_that_never_fits_does_not_take_the_room_of_others() {
    let long = "x".repeat(1_000);
    assert_eq!(fitting(&["a", &long, "c"], u64::MAX, 45), (0, Room::Bytes(5)));
}

#[test]
fn without_an_end_of_room_nothing_is_read() {
    let (file, _) = file(&["a"]);
    let mut room = Room::Endless;
    assert_eq!(newest(Path::new("journal"), &file, 9, &mut room, u64::MAX).unwrap(), 0);
}
