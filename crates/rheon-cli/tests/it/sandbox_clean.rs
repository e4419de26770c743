//! `rheon sandbox clean`: what commands wrote to package caches is removed.

use std::fs;

use crate::support::{Place, Ran};

#[test]
fn what_commands_wrote_to_caches_is_removed_on_request() {
    let place = Place::new();
    let home = place.path().canonicalize().unwrap().join("home");
    let layer = home.join(".local/state/rheon/caches/project-0/0/cargo/upper");
    fs::create_dir_all(&layer).unwrap();
    fs::write(layer.join("file"), "text").unwrap();
    let mut command = place.rheon(&["sandbox", "clean"]);
    command.current_dir(place.path()).env("HOME", &home);
    let ran = Ran::from(command.output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Removed 1 layer (4 bytes).\n"), "{}", ran.stderr);
    assert!(!home.join(".local/state/rheon/caches/project-0").exists());
}
