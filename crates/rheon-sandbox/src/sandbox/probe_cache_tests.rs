//! Tests of what is probe_cache between sessions.
#![cfg(target_os = "linux")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::sandbox::machine::SandboxRequest;
use crate::sandbox::{
    Escape, EscapeVerdict, Level, NamespaceUse, NetworkAccess, Programs, Requirement, Sandbox,
};

struct Place {
    dir: TempDir,
    memory: PathBuf,
    programs: Programs,
}

impl Place {
    /// Without namespaces, because fewer processes are started to try it.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("workspace")).unwrap();
        let memory = dir.path().join("state/sandbox.json");
        let programs = Programs { bwrap: None, namespaces: NamespaceUse::Never, ..Programs::find() };
        Self { dir, memory, programs }
    }

    fn boundary(&self) -> Boundary {
        Boundary::new([self.dir.path().join("workspace").canonicalize().unwrap()])
    }

    async fn choose(&self) -> Sandbox {
        self.choose_in(self.boundary()).await
    }

    async fn choose_in(&self, boundary: Boundary) -> Sandbox {
        let programs = self.programs.clone();
        let memory = Some(self.memory.as_path());
        Sandbox::choose_cached(programs, Requirement::NoSandbox, boundary, memory).await.unwrap()
    }

    /// Changes what is probe_cache in a way that no try would find.
    fn mark(&self) {
        let text = fs::read_to_string(&self.memory).unwrap();
        let marked = text.replace("\"shortfall\": null", "\"shortfall\": \"as probe_cache\"");
        assert_ne!(text, marked);
        fs::write(&self.memory, marked).unwrap();
    }
}

#[tokio::test]
async fn what_was_found_is_taken_from_the_file_without_trying_again() {
    let place = Place::new();
    let first = place.choose().await;
    assert_eq!(first.probe_cache(), &ProbeCache::Saved);
    let found = fs::metadata(&place.memory).unwrap();
    assert_eq!((found.mode() & 0o777, found.is_file()), (0o600, true));
    place.mark();
    let second = place.choose().await;
    assert_eq!((second.probe_cache(), second.shortfall()), (&ProbeCache::Hit, Some("as probe_cache")));
    assert_eq!((second.level(), second.report()), (first.level(), first.report()));
    second.forget();
    assert!(!place.memory.exists());
    assert_eq!(place.choose().await.probe_cache(), &ProbeCache::Saved);
    let unasked = Sandbox::choose(Requirement::NoSandbox, place.boundary()).await.unwrap();
    assert_eq!(unasked.probe_cache(), &ProbeCache::Disabled);
}

#[tokio::test]
async fn whatever_can_change_the_outcome_makes_it_be_tried_again() {
    let mut place = Place::new();
    place.choose().await;
    place.mark();
    let open = place.boundary().with_network(NetworkAccess::Open);
    assert_eq!(place.choose_in(open).await.probe_cache(), &ProbeCache::Saved);
    place.choose().await;
    place.mark();
    // A program that was put in the place of another, although it does the same.
    let bash = place.dir.path().join("bash");
    fs::copy(&place.programs.bash, &bash).unwrap();
    place.programs.bash = bash;
    let again = place.choose().await;
    assert_eq!((again.probe_cache(), again.shortfall()), (&ProbeCache::Saved, None));
    let asked = SandboxRequest {
        requirement: Requirement::default(),
        programs: &place.programs,
        boundary: &place.boundary(),
        temporary: place.dir.path(),
    };
    assert_eq!(
        Facts::gather(&asked).unwrap().names(),
        [
            "/proc/self/ns/mnt",
            "/proc/self/ns/pid",
            "/proc/self/ns/user",
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "/proc/sys/kernel/unprivileged_userns_clone",
            "/proc/sys/user/max_user_namespaces",
            "bash",
            "boot",
            "bwrap",
            "hides",
            "kernel",
            "network",
            "own_namespaces",
            "profile",
            "program",
            "requirement",
            "rights",
            "temporary_device",
            "version",
        ]
    );
}

#[tokio::test]
async fn a_file_that_others_could_have_written_or_that_is_damaged_does_not_count() {
    let place = Place::new();
    place.choose().await;
    let good = fs::read(&place.memory).unwrap();
    for mode in [0o622, 0o620, 0o602] {
        place.mark();
        fs::set_permissions(&place.memory, Permissions::from_mode(mode)).unwrap();
        assert_eq!(place.choose().await.probe_cache(), &ProbeCache::Saved, "{mode:o}");
    }
    let elsewhere = place.dir.path().join("elsewhere");
    fs::rename(&place.memory, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &place.memory).unwrap();
    assert_eq!(place.choose().await.probe_cache(), &ProbeCache::Saved);
    let text = String::from_utf8(good.clone()).unwrap();
    for damaged in ["", "{}", text.trim_end_matches('}'), &text.replace("\"version\": 1,", "\"version\": 2,")]
    {
        fs::write(&place.memory, damaged).unwrap();
        assert_eq!(place.choose().await.probe_cache(), &ProbeCache::Saved, "{damaged}");
    }
    // As long as is read, and longer.
    let bytes_max = usize::try_from(BYTES_MAX).unwrap();
    for (bytes, expected) in [(bytes_max, ProbeCache::Hit), (bytes_max + 1, ProbeCache::Saved)] {
        let mut padded = good.clone();
        padded.resize(bytes, b' ');
        fs::write(&place.memory, padded).unwrap();
        assert_eq!(place.choose().await.probe_cache(), &expected);
    }
}

#[tokio::test]
async fn what_cannot_be_kept_is_told_and_changes_nothing() {
    let mut place = Place::new();
    fs::write(place.dir.path().join("file"), "").unwrap();
    for (memory, expected) in [("file/sandbox.json", "cannot use "), ("workspace/state/sandbox.json", "")] {
        place.memory = place.dir.path().join(memory);
        let sandbox = place.choose().await;
        let ProbeCache::NotSaved(problem) = sandbox.probe_cache() else { panic!("{memory}") };
        assert!(problem.starts_with(expected), "{problem}");
        assert!(!place.memory.exists());
        sandbox.forget();
    }
    let inside = place.choose().await;
    let dir = place.memory.parent().unwrap().canonicalize().unwrap();
    let problem = format!("commands can write to {}", dir.display());
    assert_eq!(inside.probe_cache(), &ProbeCache::NotSaved(problem));
}

#[test]
fn what_is_remembered_is_read_as_it_was_written() {
    let place = Place::new();
    let facts = Facts::of(&[("kernel", "one")]);
    let file =
        |facts: &Facts| ProbeCacheFile::new(&place.memory, &place.boundary(), Some(facts.clone())).unwrap();
    let results = ProbeResults {
        isolation: Isolation::AllNamespaces,
        report: SandboxReport {
            level: Level::Namespaces,
            escapes: vec![
                (Escape::WriteOutside, EscapeVerdict::Blocked),
                (Escape::TcpConnect, EscapeVerdict::Untested("the network is allowed".into())),
                (Escape::ReadHidden, EscapeVerdict::Open),
            ],
        },
        shortfall: Some("landlock: none".into()),
    };
    file(&facts).write(results.clone()).unwrap();
    assert_eq!(file(&facts).read(), Some(results));
    assert_eq!(file(&Facts::of(&[("kernel", "two")])).read(), None);
    assert_eq!(
        ProbeCacheFile::new(&place.memory, &place.boundary(), None).unwrap_err(),
        "this system does not report its boot time"
    );
}

#[tokio::test]
async fn a_level_below_what_is_required_or_with_open_ways_is_not_believed() {
    let place = Place::new();
    let requirement = Requirement::AtLeast(Level::Landlock);
    let choose = || {
        let memory = Some(place.memory.as_path());
        Sandbox::choose_cached(place.programs.clone(), requirement, place.boundary(), memory)
    };
    let Ok(first) = choose().await else { return };
    assert_eq!(first.level(), Level::Landlock);
    let text = fs::read_to_string(&place.memory).unwrap();
    let lower = text.replace("\"level\": \"landlock\"", "\"level\": \"none\"");
    let open = text.replacen("\"blocked\"", "\"open\"", 1);
    for forged in [lower, open] {
        assert_ne!(forged, text);
        fs::write(&place.memory, forged).unwrap();
        let again = choose().await.unwrap();
        assert_eq!((again.probe_cache(), again.level()), (&ProbeCache::Saved, Level::Landlock));
    }
}
