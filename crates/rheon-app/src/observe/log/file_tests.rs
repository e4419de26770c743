//! A file for every day, within bounds, for its owner alone; old ones go.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rheon_types::Timestamp;

use super::{DAY_BYTES_MAX, DAY_MS, DayFiles, FULL};

/// 2023-11-14T22:13:20Z.
const FIRST_DAY: Timestamp = Timestamp::from_millis(1_700_000_000_000);

fn later(days: u64) -> Timestamp {
    Timestamp::from_millis(FIRST_DAY.as_millis() + days * DAY_MS)
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn nothing_is_made_before_the_first_line_and_all_is_for_the_owner_alone() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("state/logs");
    let mut files = DayFiles::new(dir.clone(), 14);
    assert!(!dir.exists());
    files.write(FIRST_DAY, "one\n").unwrap();
    files.write(FIRST_DAY, "two\n").unwrap();
    DayFiles::new(dir.clone(), 14).write(FIRST_DAY, "another program\n").unwrap();
    let path = dir.join("rheon-2023-11-14.log");
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\nanother program\n");
    assert_eq!((mode(&path), mode(&dir)), (0o600, 0o700));
}

#[test]
fn a_new_day_has_a_new_file_and_days_that_are_not_kept_go() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path();
    for name in ["rheon-notes.log", "rheon-2023-11-14.log.gz", "other-2001-01-01.log", "rheon-2001-01-01.log"]
    {
        fs::write(dir.join(name), "").unwrap();
    }
    let mut files = DayFiles::new(dir.to_owned(), 2);
    for days in 0..4 {
        files.write(later(days), "line\n").unwrap();
    }
    let kept = [
        "other-2001-01-01.log",
        "rheon-2023-11-14.log.gz",
        "rheon-2023-11-16.log",
        "rheon-2023-11-17.log",
        "rheon-notes.log",
    ];
    assert_eq!(names(dir), kept);
}

#[test]
fn a_day_that_is_full_takes_no_more() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("rheon-2023-11-14.log");
    fs::File::create(&path).unwrap().set_len(DAY_BYTES_MAX - 6).unwrap();
    let mut files = DayFiles::new(place.path().to_owned(), 14);
    for line in ["abcd\n", "fits\n", "too late\n"] {
        files.write(FIRST_DAY, line).unwrap();
    }
    let text = fs::read(&path).unwrap();
    let end = format!("abcd\nfits\n{FULL}");
    assert_eq!(String::from_utf8_lossy(&text[text.len() - end.len()..]), end);
    assert_eq!(text.len(), DAY_BYTES_MAX as usize - 6 + end.len());
}
