//! Killed or refused at any step, files and checkpoints are the old or the new ones, and the next attempt succeeds.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Checkpoints;
use super::error::CheckpointError;
use super::id::CheckpointId;
use super::plan::Restore;
use super::probe::Io;
use super::testing::{Stage, moment, stage};

/// What a test does at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The process is gone: nothing that follows happens.
    Kill,
    /// The disk is full at this step alone.
    Full,
}

fn faulty(stage: &Stage, at: usize, fault: Fault) -> Checkpoints {
    let steps = AtomicUsize::new(0);
    stage.seen(move |_, _| {
        if steps.fetch_add(1, Ordering::Relaxed) != at {
            return Ok(());
        }
        match fault {
            Fault::Kill => std::panic::resume_unwind(Box::new("killed")),
            Fault::Full => Err(io::Error::from(io::ErrorKind::StorageFull)),
        }
    })
}

fn furnished() -> (Stage, CheckpointId) {
    let stage = stage();
    for path in ["a", "b/c", "gone", "folder/x"] {
        stage.write(path, format!("{path} old"));
    }
    let id = stage.checkpoints.capture(&moment("first")).unwrap().id;
    stage.write("a", "a new");
    stage.write("b/c", "b/c new");
    stage.write("added/d", "added/d new");
    stage.shell("rm -r gone folder; echo flat > folder");
    (stage, id)
}

/// How many times a run can fail before it succeeds.
fn at_every_step(
    fault: Fault,
    run: impl Fn(&Checkpoints, &CheckpointId) -> bool,
    check: impl Fn(&Stage, &CheckpointId),
) -> usize {
    for at in 0..1_000 {
        let (stage, id) = furnished();
        let checkpoints = faulty(&stage, at, fault);
        let is_whole = catch_unwind(AssertUnwindSafe(|| run(&checkpoints, &id))).unwrap_or(false);
        drop(checkpoints);
        check(&stage, &id);
        if is_whole {
            return at;
        }
    }
    panic!("it never succeeds");
}

/// Every checkpoint in the list is whole, and the next capture and restore succeed and leave nothing behind.
fn goes_on(stage: &Stage, id: &CheckpointId, now: &str) {
    let again = stage.again(super::probe::Probe::default());
    let captured = again.capture(&moment("again")).unwrap();
    assert_eq!(captured.not_kept, vec![]);
    assert_eq!(again.sweep().unwrap(), 0);
    for listed in again.list().unwrap() {
        let plan = again.plan_restore(&listed.id, Restore::All).unwrap();
        assert_eq!(again.restore(&plan, &moment("")).unwrap().errors, vec![]);
    }
    assert_eq!(stage.tree(), now);
    let plan = again.plan_restore(id, Restore::All).unwrap();
    assert_eq!(again.restore(&plan, &moment("")).unwrap().errors, vec![]);
    assert_eq!(stage.tree(), OLD);
}

const OLD: &str =
    "a 644 a old\nb/ 755\nb/c 644 b/c old\nfolder/ 755\nfolder/x 644 folder/x old\ngone 644 gone old\n";
const NEW: &str =
    "a 644 a new\nadded/ 755\nadded/d 644 added/d new\nb/ 755\nb/c 644 b/c new\nfolder 644 flat\\n\n";

#[test]
fn a_capture_that_ends_at_any_step_leaves_the_old_checkpoints_or_the_new_one_too() {
    for fault in [Fault::Kill, Fault::Full] {
        let run = |checkpoints: &Checkpoints, _: &CheckpointId| match checkpoints.capture(&moment("second")) {
            // A file that cannot be read is named instead.
            Ok(captured) => captured.not_kept.is_empty(),
            Err(_) => false,
        };
        let steps = at_every_step(fault, run, |stage, id| {
            assert_eq!(stage.tree(), NEW);
            let count = stage.checkpoints.list().unwrap().len();
            assert!((1..=2).contains(&count));
            goes_on(stage, id, NEW);
        });
        assert!(steps > 10, "{steps}");
    }
}

#[test]
fn a_restore_that_ends_at_any_step_leaves_every_file_old_or_new() {
    for fault in [Fault::Kill, Fault::Full] {
        let run = |checkpoints: &Checkpoints, id: &CheckpointId| {
            let Ok(plan) = checkpoints.plan_restore(id, Restore::All) else { return false };
            match checkpoints.restore(&plan, &moment("rewind")) {
                Ok(done) => done.errors.is_empty() && done.kept_back.is_empty(),
                Err(_) => false,
            }
        };
        let steps = at_every_step(fault, run, |stage, id| {
            let possible: Vec<&str> = OLD.lines().chain(NEW.lines()).collect();
            let lines = stage.tree();
            for line in lines.lines() {
                let is_draft = line.starts_with(".rheon-restore-") || line.contains("/.rheon-restore-");
                // Folders are private until everything is in them.
                let is_folder = line.ends_with("/ 700");
                assert!(possible.contains(&line) || is_draft || is_folder, "{line}");
            }
            // Whatever has an old and a new version has one of them.
            assert!(stage.root().join("a").is_file() && stage.root().join("b/c").is_file());
            let again = stage.again(super::probe::Probe::default());
            again.capture(&moment("again")).unwrap();
            assert!(!stage.tree().contains(".rheon-restore-"));
            let plan = again.plan_restore(id, Restore::All).unwrap();
            assert_eq!(again.restore(&plan, &moment("")).unwrap().errors, vec![]);
            assert_eq!(stage.tree(), OLD);
        });
        assert!(steps > 20, "{steps}");
    }
}

#[test]
fn pruning_that_ends_at_any_step_leaves_only_whole_checkpoints() {
    for fault in [Fault::Kill, Fault::Full] {
        let run = |checkpoints: &Checkpoints, _: &CheckpointId| {
            let captured = checkpoints.capture(&moment("second"));
            captured.is_ok_and(|it| it.not_kept.is_empty()) && checkpoints.prune(1, u64::MAX).is_ok()
        };
        at_every_step(fault, run, |stage, _| {
            let again = stage.again(super::probe::Probe::default());
            let listed = again.list().unwrap();
            assert!(!listed.is_empty());
            for listed in listed {
                let plan = again.plan_restore(&listed.id, Restore::All).unwrap();
                assert_eq!(again.restore(&plan, &moment("")).unwrap().errors, vec![]);
            }
        });
    }
}

#[test]
fn a_full_disk_is_told_and_once_there_is_space_it_goes_on() {
    let (stage, id) = furnished();
    let full = stage.seen(|io, _| match io {
        Io::Put => Err(io::Error::from(io::ErrorKind::StorageFull)),
        _ => Ok(()),
    });
    let error = full.capture(&moment("")).unwrap_err();
    let CheckpointError::Io { action, path, source } = &error else { panic!("{error}") };
    assert_eq!((*action, path.as_path()), ("keep a file in", stage.store().as_path()));
    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
    // What cannot be undone is not done.
    let plan = full.plan_restore(&id, Restore::All).unwrap();
    assert!(full.restore(&plan, &moment("")).is_err());
    assert_eq!(stage.tree(), NEW);
    goes_on(&stage, &id, NEW);
}

#[test]
fn a_lost_payload_is_told_and_the_file_stays() {
    let (stage, id) = furnished();
    let blob = crate::blobs::BlobId::of(b"a old").to_string();
    let (first, rest) = blob.split_at(2);
    fs::write(stage.store().join("blobs").join(first).join(rest), "damaged").unwrap();
    let plan = stage.checkpoints.plan_restore(&id, Restore::All).unwrap();
    let done = stage.checkpoints.restore(&plan, &moment("")).unwrap();
    assert_eq!(done.errors, [("a".into(), format!("the content of blob {blob} has changed"))]);
    assert_eq!(fs::read_to_string(stage.root().join("a")).unwrap(), "a new");
}

#[test]
fn a_workspace_that_is_gone_is_told() {
    let (stage, _) = furnished();
    fs::remove_dir_all(stage.root()).unwrap();
    let error = stage.checkpoints.capture(&moment("")).unwrap_err();
    assert!(matches!(error, CheckpointError::Io { action: "open the workspace", .. }), "{error}");
    assert!(Checkpoints::open(Path::new("/nowhere"), &stage.root(), super::Limits::default()).is_err());
}
