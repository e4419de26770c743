//! Tests of what stands where nothing may come to be.
#![cfg(unix)]

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};

use super::Placeholder;

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".vscode");
    (folder, path)
}

/// A placeholder of an agent that was killed.
fn left_behind(path: &Path) -> File {
    fs::create_dir(path).unwrap();
    let folder = File::open(path).unwrap();
    folder
        .set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(86_420)))
        .unwrap();
    folder
}

#[test]
fn it_goes_with_the_last_that_needs_it() {
    let (_folder, path) = place();
    let (first, second) = (Placeholder::at(&path).unwrap(), Placeholder::at(&path).unwrap());
    drop(first);
    assert!(path.is_dir() && Placeholder::is_at(&path));
    drop(second);
    assert!(!path.exists() && !Placeholder::is_at(&path));
}

#[test]
fn one_that_was_left_behind_is_removed_and_joined() {
    let (_folder, path) = place();
    drop(left_behind(&path));
    Placeholder::sweep(&path);
    assert!(!path.exists());
    drop(left_behind(&path));
    assert!(Placeholder::is_at(&path));
    drop(Placeholder::at(&path).unwrap());
    assert!(!path.exists());
}

#[test]
fn one_that_another_agent_needs_stays_and_goes_with_that_agent() {
    let (_folder, path) = place();
    let other = left_behind(&path);
    flock(&other, FlockOperation::LockShared).unwrap();
    Placeholder::sweep(&path);
    drop(Placeholder::at(&path).unwrap());
    assert!(path.exists());
    drop(other);
    Placeholder::sweep(&path);
    assert!(!path.exists());
}

#[test]
fn what_is_not_ours_is_never_removed() {
    let (_folder, path) = place();
    fs::create_dir(&path).unwrap();
    Placeholder::sweep(&path);
    assert!(Placeholder::at(&path).is_none() && path.is_dir(), "an empty folder of the user");
    fs::write(path.join("settings.json"), "{}").unwrap();
    File::open(&path)
        .unwrap()
        .set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(86_420)))
        .unwrap();
    Placeholder::sweep(&path);
    assert!(Placeholder::at(&path).is_none() && path.is_dir(), "a folder with something in it");
    fs::remove_dir_all(&path).unwrap();
    fs::write(&path, "").unwrap();
    Placeholder::sweep(&path);
    assert!(Placeholder::at(&path).is_none() && path.is_file(), "an empty file of the user");
}

#[test]
fn what_the_user_puts_into_it_makes_it_theirs() {
    let (_folder, path) = place();
    let placeholder = Placeholder::at(&path).unwrap();
    fs::write(path.join("settings.json"), "{}").unwrap();
    fs::remove_file(path.join("settings.json")).unwrap();
    drop(placeholder);
    Placeholder::sweep(&path);
    assert!(path.is_dir());
}
