//! Locks whose files are removed.

use std::fs::{self, File};

use super::{SaveLock, is_still_there};
use crate::session_name::SessionName;

#[test]
fn a_lock_file_that_was_removed_or_replaced_is_not_the_lock() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join(".s.lock");
    let file = File::create(&path).unwrap();
    assert!(is_still_there(&file, &path).unwrap());
    fs::remove_file(&path).unwrap();
    assert!(!is_still_there(&file, &path).unwrap());
    let other = File::create(&path).unwrap();
    assert!(!is_still_there(&file, &path).unwrap());
    assert!(is_still_there(&other, &path).unwrap());
}

#[test]
fn a_link_instead_of_the_lock_file_is_not_followed() {
    let root = tempfile::tempdir().unwrap();
    let target = root.path().join("precious");
    fs::write(&target, "data").unwrap();
    std::os::unix::fs::symlink(&target, root.path().join(".s.lock")).unwrap();
    assert!(SaveLock::take(root.path(), &SessionName::new("s").unwrap()).is_err());
    assert_eq!(fs::read_to_string(&target).unwrap(), "data");
}

#[test]
fn the_lock_of_a_dead_process_is_reused() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join(".s.lock");
    fs::write(&path, "999999\n").unwrap();
    let lock = SaveLock::take(root.path(), &SessionName::new("s").unwrap()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", std::process::id()));
    drop(lock);
    assert!(!path.exists());
}
