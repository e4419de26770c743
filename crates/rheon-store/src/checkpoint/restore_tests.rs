//! What a restore writes, removes and leaves alone.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use expect_test::expect;

use super::error::CheckpointError;
use super::fixture::{Fixture, fixture, fixture_with, moment, names};
use super::id::CheckpointId;
use super::manifest::{Entry, Manifest, SkipReason, Stamp};
use super::plan::{RestoreSelection, RestoreStep, Sides, SkippedChange, plan};
use super::probe::Io;
use super::restore::RestoreReport;
use super::{CheckpointLimits, Checkpoints};
use crate::blobs::BlobId;

fn restore_with(checkpoints: &Checkpoints, id: &CheckpointId, what: RestoreSelection) -> RestoreReport {
    let plan = checkpoints.plan_restore(id, what).unwrap();
    checkpoints.restore(&plan, &moment("before the rewind")).unwrap()
}

fn restore(fixture: &Fixture, id: &CheckpointId) -> RestoreReport {
    restore_with(&fixture.checkpoints, id, RestoreSelection::All)
}

fn capture(fixture: &Fixture) -> CheckpointId {
    fixture.checkpoints.capture(&moment("")).unwrap().id
}

/// Files of every kind.
fn furnished() -> Fixture {
    let fixture = fixture();
    fixture.write("src/main.rs", "fn main() {}\n");
    fixture.write("src/naïve 文.rs", "// é\n");
    fixture.write("crlf.txt", "one\r\ntwo\r\n");
    fixture.write("binary", [0, 0xff, 0x80, b'\n', 0]);
    fixture.write("huge", vec![b'h'; 3_000_000]);
    fixture.write("no-newline", "x");
    fixture.write("nothing", "");
    fixture.write("run.sh", "#!/bin/sh\n");
    fixture.write("private", "secret");
    fixture.write("deep/er/est/file", "deep");
    let odd = fixture.root().join(OsStr::from_bytes(b"odd-\xff\xfe%41"));
    fs::write(odd, "odd").unwrap();
    fixture.shell(
        "chmod 755 run.sh; chmod 600 private; ln -s src/main.rs link; ln -s /nowhere dangling; \
         mkdir -p empty/inner; chmod 700 empty",
    );
    fixture
}

#[test]
fn any_shell_change_can_be_undone_and_redone() {
    let fixture = furnished();
    let before = fixture.tree();
    let id = capture(&fixture);
    fixture.shell(
        "echo changed > src/main.rs; rm crlf.txt; printf '\\000' >> binary; mv huge larger; echo more > no-newline; \
         echo more > nothing; chmod 644 run.sh; chmod 644 private; rm -r deep; ln -sf run.sh link; rm dangling; \
         echo file > dangling; rm -r empty; mkdir -p new/folder; echo new > new/folder/file; ln -s new new-link; rm odd-*; \
         mv src/na* src/renamed",
    );
    let after = fixture.tree();
    let done = restore(&fixture, &id);
    assert_eq!(fixture.tree(), before);
    expect![[r#"
        binary crlf.txt dangling deep deep/er deep/er/est deep/er/est/file empty empty/inner huge link no-newline nothing odd-\xff\xfe%41 private run.sh src/main.rs src/na\xc3\xafve \xe6\x96\x87.rs
        src/renamed new-link new/folder/file new/folder new larger
        [] []"#]]
    .assert_eq(&format!(
        "{}\n{}\n{:?} {:?}",
        names(&done.restored),
        names(&done.removed),
        done.skipped,
        done.errors
    ));
    let undone = restore(&fixture, &done.undo);
    assert_eq!((fixture.tree(), undone.errors, undone.skipped), (after, vec![], vec![]));
    restore(&fixture, &id);
    assert_eq!(fixture.tree(), before);
    // A second restore has nothing to do.
    let plan = fixture.checkpoints.plan_restore(&id, RestoreSelection::All).unwrap();
    assert_eq!(plan.steps(), []);
}

#[test]
fn only_selected_paths_are_restored() {
    let fixture = fixture();
    for path in ["a/one", "a/two", "b"] {
        fixture.write(path, "old");
    }
    let id = capture(&fixture);
    fixture.shell("rm -r a; echo new > b; mkdir a; echo new > a/three");
    let what = RestoreSelection::Paths(vec!["a/one".into()]);
    assert_eq!(names(&restore_with(&fixture.checkpoints, &id, what).restored), "a/one");
    expect![[r#"
        a/ 755
        a/one 644 old
        a/three 644 new\n
        b 644 new\n
    "#]]
    .assert_eq(&fixture.tree());
    fixture.shell("rm -r a");
    restore_with(&fixture.checkpoints, &id, RestoreSelection::Paths(vec!["a".into()]));
    assert_eq!(fixture.tree(), "a/ 755\na/one 644 old\na/two 644 old\nb 644 new\\n\n");
}

#[test]
fn a_plan_lists_its_steps_and_is_rejected_after_changes() {
    let fixture = fixture();
    fixture.write("a", "old");
    fixture.write("b", "old");
    let first = capture(&fixture);
    fixture.write("a", "new");
    capture(&fixture);
    fixture.write("b", "by the user");
    fixture.write("c/d", "by the user");
    let plan = fixture.checkpoints.plan_restore(&first, RestoreSelection::All).unwrap();
    let steps = [
        RestoreStep::Write("a".into()),
        RestoreStep::Write("b".into()),
        RestoreStep::RemoveDir("c".into()),
        RestoreStep::Remove("c/d".into()),
    ];
    assert_eq!(plan.steps(), steps);
    assert_eq!(plan.overwritten(), ["a", "b", "c/d"].map(PathBuf::from));
    fixture.write("b", "by the user, again");
    fixture.write("e", "by the user, again");
    let before = fixture.tree();
    let error = fixture.checkpoints.restore(&plan, &moment("")).unwrap_err();
    expect!["2 files changed since the plan was made, such as b; make a new plan"]
        .assert_eq(&error.to_string());
    assert!(matches!(error, CheckpointError::Changed { paths } if paths == ["b", "e"].map(PathBuf::from)));
    assert_eq!(fixture.tree(), before);
}

#[test]
fn ignored_and_protected_paths_are_never_touched() {
    let fixture = fixture();
    fixture.write(".gitignore", "target\n");
    fixture.write("a", "old");
    fixture.write(".git/HEAD", "old");
    let id = capture(&fixture);
    fixture.write("a", "new");
    fixture.write("target/out", "built");
    fixture.write(".git/HEAD", "new");
    fixture.write("new/target/out", "built");
    fixture.write("new/.vscode/settings.json", "{}");
    fixture.write(".mcp.json", "{}");
    let done = restore(&fixture, &id);
    assert_eq!(
        (names(&done.restored), names(&done.removed), done.errors),
        ("a".into(), String::new(), vec![])
    );
    expect![[r#"
        .git/ 755
        .git/HEAD 644 new
        .gitignore 644 target\n
        .mcp.json 644 {}
        a 644 old
        new/ 755
        new/.vscode/ 755
        new/.vscode/settings.json 644 {}
        new/target/ 755
        new/target/out 644 built
        target/ 755
        target/out 644 built
    "#]]
    .assert_eq(&fixture.tree());
}

#[test]
fn a_file_that_was_ignored_then_is_not_removed() {
    let fixture = fixture();
    fixture.write(".gitignore", ".env\n");
    fixture.write(".env", "secret");
    let id = capture(&fixture);
    fixture.write(".gitignore", "");
    fixture.write("new", "");
    // Written again, so that only the old ignore rules tell it apart.
    fixture.shell("rm .env; echo other > .env");
    let done = restore(&fixture, &id);
    assert_eq!(fixture.tree(), ".env 644 other\\n\n.gitignore 644 .env\\n\n");
    let reason = "the ignore rules of the checkpoint exclude it".to_owned();
    assert_eq!(done.skipped, [SkippedChange { path: ".env".into(), reason }]);
}

#[test]
fn a_file_older_than_the_checkpoint_is_not_removed() {
    let fixture = fixture();
    fixture.write("a", "a");
    fs::write(fixture.outside(), "from elsewhere").unwrap();
    if fs::metadata(fixture.outside()).unwrap().created().is_err() {
        return;
    }
    // The clock of the file system may be coarse.
    let made = |path: &Path| fs::metadata(path).unwrap().created().unwrap();
    while made(&fixture.root().join("a")) <= made(&fixture.outside()) {
        fixture.shell("rm a; echo a > a");
    }
    let id = capture(&fixture);
    fs::rename(fixture.outside(), fixture.root().join("b")).unwrap();
    fixture.shell("mv a c");
    let done = restore(&fixture, &id);
    assert_eq!(fixture.tree(), "a 644 a\\n\nb 644 from elsewhere\n");
    assert_eq!(
        (names(&done.removed), names(done.skipped.iter().map(|it| &it.path))),
        ("c".into(), "b".into())
    );
}

#[test]
fn a_file_that_is_ignored_only_now_is_restored() {
    let fixture = fixture();
    fixture.write("a.rs", "old");
    let before = fixture.tree();
    let id = capture(&fixture);
    fixture.write(".gitignore", "*.rs\n");
    fixture.write("a.rs", "new");
    let done = restore(&fixture, &id);
    assert_eq!(fixture.tree(), before);
    restore(&fixture, &done.undo);
    assert_eq!(fixture.tree(), ".gitignore 644 *.rs\\n\na.rs 644 new\n");
}

#[test]
fn files_links_and_directories_replace_each_other() {
    let fixture = fixture();
    fs::create_dir(fixture.outside()).unwrap();
    fs::write(fixture.outside().join("x"), "outside").unwrap();
    fixture.write("folder/x", "x");
    fixture.write("file", "file");
    fixture.write("linked/x", "x");
    let before = fixture.tree();
    let id = capture(&fixture);
    fixture.shell("rm -r folder linked file; echo flat > folder; mkdir -p file/in/it; echo y > file/in/it/y");
    symlink(fixture.outside(), fixture.root().join("linked")).unwrap();
    let after = fixture.tree();
    let done = restore(&fixture, &id);
    assert_eq!((fixture.tree(), &done.errors), (before, &vec![]));
    assert_eq!(restore(&fixture, &done.undo).errors, vec![]);
    assert_eq!(fixture.tree(), after);
    assert_eq!(fs::read_to_string(fixture.outside().join("x")).unwrap(), "outside");
}

#[test]
fn a_directory_with_unknown_content_is_not_replaced() {
    let fixture = fixture();
    fixture.write(".gitignore", "*.o\n");
    fixture.write("a", "file");
    let id = capture(&fixture);
    fixture.shell("rm a; mkdir a; echo built > a/x.o; echo new > a/y");
    let done = restore(&fixture, &id);
    assert_eq!(done.errors.len(), 1, "{:?}", done.errors);
    assert_eq!(fixture.tree(), ".gitignore 644 *.o\\n\na/ 755\na/x.o 644 built\\n\n");
}

#[test]
fn files_that_cannot_be_saved_are_left_alone() {
    let fixture = fixture_with(CheckpointLimits { file_bytes_max: 10, ..CheckpointLimits::default() });
    fixture.write("large then", "x".repeat(11));
    fixture.write("large now", "small");
    fixture.write("pipe now", "small");
    let id = capture(&fixture);
    fixture.write("large then", "small");
    fixture.write("large now", "x".repeat(11));
    fixture.write("new and large", "x".repeat(11));
    fixture.shell("rm pipe*; mkfifo 'pipe now'");
    let done = restore(&fixture, &id);
    let lines: Vec<_> =
        done.skipped.iter().map(|it| format!("{}: {}\n", it.path.display(), it.reason)).collect();
    expect![[r#"
        large now: its current content cannot be saved: too large to save
        large then: its content is not in the checkpoint: too large to save
        new and large: its current content cannot be saved: too large to save
        pipe now: its current content cannot be saved: a device, a pipe or a socket
    "#]]
    .assert_eq(&lines.concat());
    assert_eq!((done.restored, done.removed, done.errors), (vec![], vec![], vec![]));
}

#[test]
fn the_contents_of_an_unreadable_directory_are_left_alone() {
    let file =
        |content: &[u8]| Entry::File { mode: 0o644, blob: BlobId::of(content), stamp: Stamp::default() };
    let closed = Entry::Skipped { why: SkipReason::Unreadable, stamp: Stamp::default() };
    let open = Entry::Directory { mode: 0o755 };
    let manifest = |entries: &[(&str, Entry)]| Manifest {
        entries: entries.iter().map(|(path, entry)| (path.into(), entry.clone())).collect(),
    };
    let shut = manifest(&[("folder", closed)]);
    let seen = manifest(&[("folder", open), ("folder/a", file(b"a")), ("folder/b/c", file(b"c"))]);
    let id = CheckpointId::parse("0000000001-0123456789abcdef").unwrap();
    for (then, now) in [(&shut, &seen), (&seen, &shut)] {
        let sides = Sides { then, now, is_older: &|_, _| false };
        let plan = plan(id.clone(), RestoreSelection::All, &sides);
        assert_eq!(plan.steps(), []);
        assert_eq!(names(plan.skipped().iter().map(|it| &it.path)), "folder folder/a folder/b/c");
    }
}

#[test]
fn a_swapped_link_is_not_followed() {
    for at in [Io::Draft, Io::Publish] {
        let fixture = fixture();
        fs::create_dir(fixture.outside()).unwrap();
        fs::write(fixture.outside().join("x"), "outside").unwrap();
        fixture.write("folder/x", "old");
        let id = capture(&fixture);
        fixture.write("folder/x", "new");
        let (root, outside) = (fixture.root(), fixture.outside());
        let swapping = fixture.seen(move |io, path| {
            if io == at && path == Path::new("folder/x") {
                fs::rename(root.join("folder"), root.join("aside")).unwrap();
                symlink(&outside, root.join("folder")).unwrap();
            }
            Ok(())
        });
        restore_with(&swapping, &id, RestoreSelection::All);
        assert_eq!(fs::read_to_string(fixture.outside().join("x")).unwrap(), "outside", "{at:?}");
        assert_eq!(fs::read_dir(fixture.outside()).unwrap().count(), 1, "{at:?}");
    }
}

#[test]
fn a_swapped_link_is_not_followed_on_removal() {
    let fixture = fixture();
    fs::create_dir(fixture.outside()).unwrap();
    fs::write(fixture.outside().join("x"), "outside").unwrap();
    fixture.write("a", "");
    let id = capture(&fixture);
    fixture.write("folder/x", "new");
    let (root, outside) = (fixture.root(), fixture.outside());
    let swapping = fixture.seen(move |io, path| {
        if io == Io::Remove && path == Path::new("folder/x") {
            fs::rename(root.join("folder"), root.join("aside")).unwrap();
            symlink(&outside, root.join("folder")).unwrap();
        }
        Ok(())
    });
    restore_with(&swapping, &id, RestoreSelection::All);
    assert_eq!(fs::read_to_string(fixture.outside().join("x")).unwrap(), "outside");
}

#[test]
fn files_saved_in_the_meantime_are_not_overwritten() {
    let fixture = fixture();
    fixture.write("a", "old");
    fixture.write("gone", "old");
    let id = capture(&fixture);
    fixture.write("a", "new");
    fixture.shell("rm gone; echo new > b");
    let root = fixture.root();
    let saving = fixture.seen(move |io, path| {
        if matches!(io, Io::Publish | Io::Draft) {
            fs::write(root.join(path), "saved by the user").unwrap();
            fs::write(root.join("b"), "saved by the user").unwrap();
        }
        Ok(())
    });
    let done = restore_with(&saving, &id, RestoreSelection::All);
    assert_eq!((done.restored, done.removed, done.errors.len()), (vec![], vec![], 3));
    let saved = "saved by the user";
    assert_eq!(fixture.tree(), format!("a 644 {saved}\nb 644 {saved}\ngone 644 {saved}\n"));
}

#[test]
fn a_hard_link_to_a_file_elsewhere_is_cut_not_written_through() {
    let fixture = fixture();
    fixture.write("a", "old");
    fixture.write("b", "old");
    let id = capture(&fixture);
    fs::write(fixture.outside(), "outside").unwrap();
    fixture.shell("rm a b; ln ../outside a; ln ../outside b");
    let done = restore(&fixture, &id);
    assert_eq!((fixture.tree(), done.errors), ("a 644 old\nb 644 old\n".into(), vec![]));
    assert_eq!(fs::read_to_string(fixture.outside()).unwrap(), "outside");
}

#[test]
fn a_checkpoint_is_restored_even_if_the_capture_prunes_it() {
    let fixture = fixture_with(CheckpointLimits { checkpoints_max: 1, ..CheckpointLimits::default() });
    fixture.write("a", "old");
    let id = capture(&fixture);
    fixture.write("a", "new");
    let done = restore(&fixture, &id);
    assert_eq!((fixture.tree().as_str(), done.errors), ("a 644 old\n", vec![]));
    let ids: Vec<_> = fixture.checkpoints.list().unwrap().into_iter().map(|it| it.id).collect();
    assert_eq!(ids, [done.undo]);
}
