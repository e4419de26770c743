//! Tests of cache layers: which directories get one, how sessions share them, and how they are removed.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{CacheMode, CacheSettings, Caches};
use crate::caches::{CacheUsage, CleanReport, clean_caches, list_caches};

struct Fixture {
    _dir: TempDir,
    settings: CacheSettings,
}

fn fixture(mode: CacheMode) -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let home = base.join("home");
    for name in [".cargo", ".npm", "project"] {
        fs::create_dir_all(home.join(name)).unwrap();
    }
    let settings = CacheSettings {
        mode,
        project: home.join("project"),
        dir: home.join(".local/state/rheon/caches"),
        home,
        bytes_max: 1_000_000,
        reports: Default::default(),
    };
    Fixture { _dir: dir, settings }
}

fn lowers(caches: &Caches) -> Vec<&Path> {
    caches.layers.iter().filter_map(|layer| layer.overlay.as_ref()).map(|it| it.lower.as_path()).collect()
}

#[test]
fn what_exists_gets_a_layer_and_what_does_not_a_directory_of_its_own() {
    let Fixture { _dir, settings } = fixture(CacheMode::Overlay);
    let caches = Caches::prepare(&settings, &[]).unwrap();
    assert_eq!(lowers(&caches), [settings.home.join(".cargo"), settings.home.join(".npm")]);
    let variables = caches.layers.iter().filter(|layer| layer.overlay.is_none());
    let variables = variables.filter_map(|layer| layer.private.as_ref()).flat_map(|it| &it.variables);
    let names: Vec<&str> = variables.map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["XDG_CACHE_HOME", "PIP_CACHE_DIR", "GOMODCACHE", "GRADLE_USER_HOME", "MAVEN_ARGS"]);
}

#[test]
fn a_cache_is_where_the_user_moved_it_and_never_around_the_workspace() {
    let Fixture { _dir, mut settings } = fixture(CacheMode::Overlay);
    let elsewhere = settings.home.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let moved = [("CARGO_HOME".to_owned(), elsewhere.display().to_string())];
    assert_eq!(lowers(&Caches::prepare(&settings, &moved).unwrap()), [elsewhere, settings.home.join(".npm")]);
    settings.project = settings.home.join(".npm/package");
    fs::create_dir(&settings.project).unwrap();
    assert_eq!(lowers(&Caches::prepare(&settings, &[]).unwrap()), [settings.home.join(".cargo")]);
}

#[test]
fn other_modes_mount_nothing() {
    for (mode, shared) in [(CacheMode::Shared, 2), (CacheMode::Private, 0)] {
        let Fixture { _dir, settings } = fixture(mode);
        let caches = Caches::prepare(&settings, &[]).unwrap();
        assert_eq!((lowers(&caches), caches.shared.len()), (Vec::new(), shared));
    }
}

#[test]
fn two_sessions_have_two_layers_and_the_next_one_finds_the_first() {
    let Fixture { _dir, settings } = fixture(CacheMode::Overlay);
    let upper = |caches: &Caches| -> PathBuf { caches.layers[0].overlay.as_ref().unwrap().upper.clone() };
    let one = Caches::prepare(&settings, &[]).unwrap();
    let two = Caches::prepare(&settings, &[]).unwrap();
    assert_ne!(upper(&one), upper(&two));
    let first = upper(&one);
    fs::write(first.join("file"), "x").unwrap();
    drop(one);
    let three = Caches::prepare(&settings, &[]).unwrap();
    assert_eq!(upper(&three), first);
    assert!(first.join("file").exists());
}

#[test]
fn a_layer_over_the_limit_begins_empty_and_cleaning_spares_what_is_in_use() {
    use std::os::unix::fs::PermissionsExt as _;
    let Fixture { _dir, settings } = fixture(CacheMode::Overlay);
    let caches = Caches::prepare(&settings, &[]).unwrap();
    let upper = caches.layers[0].overlay.as_ref().unwrap().upper.clone();
    let slot = upper.parent().unwrap().parent().unwrap().to_path_buf();
    fs::write(upper.join("big"), "x").unwrap();
    // As Go makes them.
    fs::set_permissions(&upper, fs::Permissions::from_mode(0o555)).unwrap();
    assert_eq!(clean_caches(&settings.dir), CleanReport { layers: 0, bytes: 0, in_use: 1 });
    let listed = list_caches(&settings.dir);
    let [CacheUsage { project, bytes: 1.., is_in_use: true }] = listed.as_slice() else {
        panic!("{listed:?}")
    };
    assert!(project.starts_with("project-"), "{project}");
    drop(caches);
    fs::write(slot.join("size"), "1000001").unwrap();
    let caches = Caches::prepare(&settings, &[]).unwrap();
    assert!(!upper.join("big").exists());
    drop(caches);
    let report = clean_caches(&settings.dir);
    assert_eq!((report.layers, report.in_use), (1, 0));
    assert!(!slot.exists());
}
