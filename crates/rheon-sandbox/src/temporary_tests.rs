//! Tests of temporary directories: their mode, and what a later program removes.
#![cfg(unix)]

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use super::{TemporaryDirectory, sweep, system};

#[test]
fn only_the_user_can_read_it_and_it_goes_with_its_owner() {
    let dir = TemporaryDirectory::new("rheon-test-").unwrap();
    assert_eq!(fs::metadata(dir.path()).unwrap().permissions().mode() & 0o777, 0o700);
    let path = dir.path().to_path_buf();
    drop(dir);
    assert!(!path.exists());
}

#[test]
fn a_later_program_removes_what_has_no_owner_and_nothing_else() {
    let parent = tempfile::tempdir().unwrap();
    let make = |name: &str, age: u64| {
        let path = parent.path().join(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("file"), "x").unwrap();
        let time = SystemTime::now() - Duration::from_secs(age);
        File::open(&path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
        path
    };
    let abandoned = make("rheon-a.session", 1_000);
    let young = make("rheon-b.session", 0);
    let owned = make("rheon-c.session", 1_000);
    let other = make("rheon-d", 1_000);
    let foreign = make("other.session", 1_000);
    let _lock = system::lock(&owned).unwrap();
    sweep(parent.path());
    let left: Vec<bool> =
        [abandoned, young, owned, other, foreign].iter().map(|path| path.exists()).collect();
    assert_eq!(left, [false, true, true, true, true]);
}
