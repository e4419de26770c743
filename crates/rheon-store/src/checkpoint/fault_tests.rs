//! After a kill or an IO error at any step, files and checkpoints are the old or the new ones, and the next attempt
//! succeeds.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Checkpoints;
use super::error::CheckpointError;
use super::fixture::{Fixture, fixture, moment};
use super::id::CheckpointId;
use super::plan::RestoreSelection;
use super::probe::Io;

/// The fault to inject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The process dies: nothing after this step happens.
    Kill,
    /// The disk is full at this step only.
    Full,
}

fn faulty(fixture: &Fixture, at: usize, fault: Fault) -> Checkpoints {
    let steps = AtomicUsize::new(0);
    fixture.seen(move |_, _| {
        if steps.fetch_add(1, Ordering::Relaxed) != at {
            return Ok(());
        }
        match fault {
            Fault::Kill => std::panic::resume_unwind(Box::new("killed")),
            Fault::Full => Err(io::Error::from(io::ErrorKind::StorageFull)),
        }
    })
}

fn furnished() -> (Fixture, CheckpointId) {
    let fixture = fixture();
    for path in ["a", "b/c", "gone", "folder/x"] {
        fixture.write(path, format!("{path} old"));
    }
    let id = fixture.checkpoints.capture(&moment("first")).unwrap().id;
    fixture.write("a", "a new");
    fixture.write("b/c", "b/c new");
    fixture.write("added/d", "added/d new");
    fixture.shell("rm -r gone folder; echo flat > folder");
    (fixture, id)
}

/// How many times a run can fail before it succeeds.
fn at_every_step(
    fault: Fault,
    run: impl Fn(&Checkpoints, &CheckpointId) -> bool,
    check: impl Fn(&Fixture, &CheckpointId),
) -> usize {
    for at in 0..1_000 {
        let (fixture, id) = furnished();
        let checkpoints = faulty(&fixture, at, fault);
        let is_whole = catch_unwind(AssertUnwindSafe(|| run(&checkpoints, &id))).unwrap_or(false);
        drop(checkpoints);
        check(&fixture, &id);
        if is_whole {
            return at;
        }
    }
    panic!("it never succeeds");
}

/// All listed checkpoints are complete, and the next capture and restore succeed and leave nothing behind.
fn goes_on(fixture: &Fixture, id: &CheckpointId, now: &str) {
    let again = fixture.again(super::probe::Probe::default());
    let captured = again.capture(&moment("again")).unwrap();
    assert_eq!(captured.skipped, vec![]);
    assert_eq!(again.sweep().unwrap(), 0);
    for listed in again.list().unwrap() {
        let plan = again.plan_restore(&listed.id, RestoreSelection::All).unwrap();
        assert_eq!(again.restore(&plan, &moment("")).unwrap().errors, vec![]);
    }
    assert_eq!(fixture.tree(), now);
    let plan = again.plan_restore(id, RestoreSelection::All).unwrap();
    assert_eq!(again.restore(&plan, &moment("")).unwrap().errors, vec![]);
    assert_eq!(fixture.tree(), OLD);
}

const OLD: &str =
    "a 644 a old\nb/ 755\nb/c 644 b/c old\nfolder/ 755\nfolder/x 644 folder/x old\ngone 644 gone old\n";
const NEW: &str =
    "a 644 a new\nadded/ 755\nadded/d 644 added/d new\nb/ 755\nb/c 644 b/c new\nfolder 644 flat\\n\n";

#[test]
fn a_capture_interrupted_at_any_step_keeps_all_checkpoints() {
    for fault in [Fault::Kill, Fault::Full] {
        let run = |checkpoints: &Checkpoints, _: &CheckpointId| match checkpoints.capture(&moment("second")) {
            // An unreadable file is reported as skipped.
            Ok(captured) => captured.skipped.is_empty(),
            Err(_) => false,
        };
        let steps = at_every_step(fault, run, |fixture, id| {
            assert_eq!(fixture.tree(), NEW);
            let count = fixture.checkpoints.list().unwrap().len();
            assert!((1..=2).contains(&count));
            goes_on(fixture, id, NEW);
        });
        assert!(steps > 10, "{steps}");
    }
}

#[test]
fn a_restore_interrupted_at_any_step_leaves_every_file_old_or_new() {
    for fault in [Fault::Kill, Fault::Full] {
        let run = |checkpoints: &Checkpoints, id: &CheckpointId| {
            let Ok(plan) = checkpoints.plan_restore(id, RestoreSelection::All) else { return false };
            match checkpoints.restore(&plan, &moment("rewind")) {
                Ok(done) => done.errors.is_empty() && done.skipped.is_empty(),
                Err(_) => false,
            }
        };
        let steps = at_every_step(fault, run, |fixture, id| {
            let possible: Vec<&str> = OLD.lines().chain(NEW.lines()).collect();
            let lines = fixture.tree();
            for line in lines.lines() {
                let is_draft = line.starts_with(".rheon-restore-") || line.contains("/.rheon-restore-");
                // Directories are private until they are complete.
                let is_dir = line.ends_with("/ 700");
                assert!(possible.contains(&line) || is_draft || is_dir, "{line}");
            }
            // Each file has its old or its new version.
            assert!(fixture.root().join("a").is_file() && fixture.root().join("b/c").is_file());
            let again = fixture.again(super::probe::Probe::default());
            again.capture(&moment("again")).unwrap();
            assert!(!fixture.tree().contains(".rheon-restore-"));
            let plan = again.plan_restore(id, RestoreSelection::All).unwrap();
            assert_eq!(again.restore(&plan, &moment("")).unwrap().errors, vec![]);
            assert_eq!(fixture.tree(), OLD);
        });
        assert!(steps > 20, "{steps}");
    }
}

#[test]
fn pruning_interrupted_at_any_step_leaves_only_complete_checkpoints() {
    for fault in [Fault::Kill, Fault::Full] {
        let run = |checkpoints: &Checkpoints, _: &CheckpointId| {
            let captured = checkpoints.capture(&moment("second"));
            captured.is_ok_and(|it| it.skipped.is_empty()) && checkpoints.prune(1, u64::MAX).is_ok()
        };
        at_every_step(fault, run, |fixture, _| {
            let again = fixture.again(super::probe::Probe::default());
            let listed = again.list().unwrap();
            assert!(!listed.is_empty());
            for listed in listed {
                let plan = again.plan_restore(&listed.id, RestoreSelection::All).unwrap();
                assert_eq!(again.restore(&plan, &moment("")).unwrap().errors, vec![]);
            }
        });
    }
}

#[test]
fn a_full_disk_is_reported_and_the_next_capture_succeeds() {
    let (fixture, id) = furnished();
    let full = fixture.seen(|io, _| match io {
        Io::Put => Err(io::Error::from(io::ErrorKind::StorageFull)),
        _ => Ok(()),
    });
    let error = full.capture(&moment("")).unwrap_err();
    let CheckpointError::Io { action, path, source } = &error else { panic!("{error}") };
    assert_eq!((*action, path.as_path()), ("store a file in", fixture.store().as_path()));
    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
    // A restore that cannot be undone is not executed.
    let plan = full.plan_restore(&id, RestoreSelection::All).unwrap();
    assert!(full.restore(&plan, &moment("")).is_err());
    assert_eq!(fixture.tree(), NEW);
    goes_on(&fixture, &id, NEW);
}

#[test]
fn a_lost_payload_is_reported_and_the_file_stays() {
    let (fixture, id) = furnished();
    let blob = crate::blobs::BlobId::of(b"a old").to_string();
    let (first, rest) = blob.split_at(2);
    fs::write(fixture.store().join("blobs").join(first).join(rest), "damaged").unwrap();
    let plan = fixture.checkpoints.plan_restore(&id, RestoreSelection::All).unwrap();
    let done = fixture.checkpoints.restore(&plan, &moment("")).unwrap();
    assert_eq!(done.errors, [("a".into(), format!("blob {blob} does not match its hash"))]);
    assert_eq!(fs::read_to_string(fixture.root().join("a")).unwrap(), "a new");
}

#[test]
fn a_missing_workspace_is_reported() {
    let (fixture, _) = furnished();
    fs::remove_dir_all(fixture.root()).unwrap();
    let error = fixture.checkpoints.capture(&moment("")).unwrap_err();
    assert!(matches!(error, CheckpointError::Io { action: "open the workspace", .. }), "{error}");
    assert!(
        Checkpoints::open(Path::new("/nowhere"), &fixture.root(), super::CheckpointLimits::default())
            .is_err()
    );
}
