//! What comes back, what goes, and what is left alone.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use expect_test::expect;

use super::error::CheckpointError;
use super::id::CheckpointId;
use super::manifest::{Entry, Manifest, NotKept, Stamp};
use super::plan::{KeptBack, Restore, Sides, Step, plan};
use super::probe::Io;
use super::restore::Restored;
use super::testing::{Stage, moment, names, stage, stage_with};
use super::{Checkpoints, Limits};
use crate::blobs::BlobId;

fn restore_with(checkpoints: &Checkpoints, id: &CheckpointId, what: Restore) -> Restored {
    let plan = checkpoints.plan_restore(id, what).unwrap();
    checkpoints.restore(&plan, &moment("before the rewind")).unwrap()
}

fn restore(stage: &Stage, id: &CheckpointId) -> Restored {
    restore_with(&stage.checkpoints, id, Restore::All)
}

fn capture(stage: &Stage) -> CheckpointId {
    stage.checkpoints.capture(&moment("")).unwrap().id
}

/// Files of every sort.
fn furnished() -> Stage {
    let stage = stage();
    stage.write("src/main.rs", "fn main() {}\n");
    stage.write("src/naïve 文.rs", "// é\n");
    stage.write("crlf.txt", "one\r\ntwo\r\n");
    stage.write("binary", [0, 0xff, 0x80, b'\n', 0]);
    stage.write("huge", vec![b'h'; 3_000_000]);
    stage.write("no-newline", "x");
    stage.write("nothing", "");
    stage.write("run.sh", "#!/bin/sh\n");
    stage.write("private", "secret");
    stage.write("deep/er/est/file", "deep");
    let odd = stage.root().join(OsStr::from_bytes(b"odd-\xff\xfe%41"));
    fs::write(odd, "odd").unwrap();
    stage.shell(
        "chmod 755 run.sh; chmod 600 private; ln -s src/main.rs link; ln -s /nowhere dangling; \
         mkdir -p empty/inner; chmod 700 empty",
    );
    stage
}

#[test]
fn whatever_a_shell_did_is_undone_and_the_undo_as_well() {
    let stage = furnished();
    let before = stage.tree();
    let id = capture(&stage);
    stage.shell(
        "echo changed > src/main.rs; rm crlf.txt; printf '\\000' >> binary; mv huge larger; echo more > no-newline; \
         echo more > nothing; chmod 644 run.sh; chmod 644 private; rm -r deep; ln -sf run.sh link; rm dangling; \
         echo file > dangling; rm -r empty; mkdir -p new/folder; echo new > new/folder/file; ln -s new new-link; rm odd-*; \
         mv src/na* src/renamed",
    );
    let after = stage.tree();
    let done = restore(&stage, &id);
    assert_eq!(stage.tree(), before);
    expect![[r#"
        binary crlf.txt dangling deep deep/er deep/er/est deep/er/est/file empty empty/inner huge link no-newline nothing odd-\xff\xfe%41 private run.sh src/main.rs src/na\xc3\xafve \xe6\x96\x87.rs
        src/renamed new-link new/folder/file new/folder new larger
        [] []"#]]
    .assert_eq(&format!(
        "{}\n{}\n{:?} {:?}",
        names(&done.restored),
        names(&done.removed),
        done.kept_back,
        done.errors
    ));
    let undone = restore(&stage, &done.undo);
    assert_eq!((stage.tree(), undone.errors, undone.kept_back), (after, vec![], vec![]));
    restore(&stage, &id);
    assert_eq!(stage.tree(), before);
    // Nothing is left to be done.
    let plan = stage.checkpoints.plan_restore(&id, Restore::All).unwrap();
    assert_eq!(plan.steps(), []);
}

#[test]
fn only_what_is_asked_for_comes_back() {
    let stage = stage();
    for path in ["a/one", "a/two", "b"] {
        stage.write(path, "old");
    }
    let id = capture(&stage);
    stage.shell("rm -r a; echo new > b; mkdir a; echo new > a/three");
    let what = Restore::Paths(vec!["a/one".into()]);
    assert_eq!(names(&restore_with(&stage.checkpoints, &id, what).restored), "a/one");
    expect![[r#"
        a/ 755
        a/one 644 old
        a/three 644 new\n
        b 644 new\n
    "#]]
    .assert_eq(&stage.tree());
    stage.shell("rm -r a");
    restore_with(&stage.checkpoints, &id, Restore::Paths(vec!["a".into()]));
    assert_eq!(stage.tree(), "a/ 755\na/one 644 old\na/two 644 old\nb 644 new\\n\n");
}

#[test]
fn a_plan_says_what_it_would_do_and_is_refused_once_the_files_are_others() {
    let stage = stage();
    stage.write("a", "old");
    stage.write("b", "old");
    let first = capture(&stage);
    stage.write("a", "new");
    capture(&stage);
    stage.write("b", "by the user");
    stage.write("c/d", "by the user");
    let plan = stage.checkpoints.plan_restore(&first, Restore::All).unwrap();
    let steps = [
        Step::Write("a".into()),
        Step::Write("b".into()),
        Step::RemoveFolder("c".into()),
        Step::Remove("c/d".into()),
    ];
    assert_eq!(plan.steps(), steps);
    assert_eq!(plan.overwritten(), ["a", "b", "c/d"].map(PathBuf::from));
    stage.write("b", "by the user, again");
    stage.write("e", "by the user, again");
    let before = stage.tree();
    let error = stage.checkpoints.restore(&plan, &moment("")).unwrap_err();
    expect!["2 files changed since the plan was made, the first is b; look at the new plan"]
        .assert_eq(&error.to_string());
    assert!(matches!(error, CheckpointError::Changed { paths } if paths == ["b", "e"].map(PathBuf::from)));
    assert_eq!(stage.tree(), before);
}

#[test]
fn what_is_ignored_or_protected_is_never_touched() {
    let stage = stage();
    stage.write(".gitignore", "target\n");
    stage.write("a", "old");
    stage.write(".git/HEAD", "old");
    let id = capture(&stage);
    stage.write("a", "new");
    stage.write("target/out", "built");
    stage.write(".git/HEAD", "new");
    stage.write("new/target/out", "built");
    stage.write("new/.vscode/settings.json", "{}");
    stage.write(".mcp.json", "{}");
    let done = restore(&stage, &id);
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
    .assert_eq(&stage.tree());
}

#[test]
fn a_file_that_was_ignored_then_is_not_taken_for_a_new_one() {
    let stage = stage();
    stage.write(".gitignore", ".env\n");
    stage.write(".env", "secret");
    let id = capture(&stage);
    stage.write(".gitignore", "");
    stage.write("new", "");
    // Written anew, so that nothing but the rules of then can tell.
    stage.shell("rm .env; echo other > .env");
    let done = restore(&stage, &id);
    assert_eq!(stage.tree(), ".env 644 other\\n\n.gitignore 644 .env\\n\n");
    let reason = "it is ignored by the rules of the checkpoint".to_owned();
    assert_eq!(done.kept_back, [KeptBack { path: ".env".into(), reason }]);
}

#[test]
fn a_file_that_is_older_than_the_checkpoint_is_not_taken_for_a_new_one() {
    let stage = stage();
    stage.write("a", "a");
    fs::write(stage.outside(), "from elsewhere").unwrap();
    if fs::metadata(stage.outside()).unwrap().created().is_err() {
        return;
    }
    // The clock of the file system may be coarse.
    let made = |path: &Path| fs::metadata(path).unwrap().created().unwrap();
    while made(&stage.root().join("a")) <= made(&stage.outside()) {
        stage.shell("rm a; echo a > a");
    }
    let id = capture(&stage);
    fs::rename(stage.outside(), stage.root().join("b")).unwrap();
    stage.shell("mv a c");
    let done = restore(&stage, &id);
    assert_eq!(stage.tree(), "a 644 a\\n\nb 644 from elsewhere\n");
    assert_eq!(
        (names(&done.removed), names(done.kept_back.iter().map(|it| &it.path))),
        ("c".into(), "b".into())
    );
}

#[test]
fn what_is_ignored_only_now_comes_back() {
    let stage = stage();
    stage.write("a.rs", "old");
    let before = stage.tree();
    let id = capture(&stage);
    stage.write(".gitignore", "*.rs\n");
    stage.write("a.rs", "new");
    let done = restore(&stage, &id);
    assert_eq!(stage.tree(), before);
    restore(&stage, &done.undo);
    assert_eq!(stage.tree(), ".gitignore 644 *.rs\\n\na.rs 644 new\n");
}

#[test]
fn files_links_and_folders_change_places() {
    let stage = stage();
    fs::create_dir(stage.outside()).unwrap();
    fs::write(stage.outside().join("x"), "outside").unwrap();
    stage.write("folder/x", "x");
    stage.write("file", "file");
    stage.write("linked/x", "x");
    let before = stage.tree();
    let id = capture(&stage);
    stage.shell("rm -r folder linked file; echo flat > folder; mkdir -p file/in/it; echo y > file/in/it/y");
    symlink(stage.outside(), stage.root().join("linked")).unwrap();
    let after = stage.tree();
    let done = restore(&stage, &id);
    assert_eq!((stage.tree(), &done.errors), (before, &vec![]));
    assert_eq!(restore(&stage, &done.undo).errors, vec![]);
    assert_eq!(stage.tree(), after);
    assert_eq!(fs::read_to_string(stage.outside().join("x")).unwrap(), "outside");
}

#[test]
fn a_folder_with_something_unknown_in_it_is_not_replaced() {
    let stage = stage();
    stage.write(".gitignore", "*.o\n");
    stage.write("a", "file");
    let id = capture(&stage);
    stage.shell("rm a; mkdir a; echo built > a/x.o; echo new > a/y");
    let done = restore(&stage, &id);
    assert_eq!(done.errors.len(), 1, "{:?}", done.errors);
    assert_eq!(stage.tree(), ".gitignore 644 *.o\\n\na/ 755\na/x.o 644 built\\n\n");
}

#[test]
fn what_could_not_be_brought_back_is_left_as_it_is() {
    let stage = stage_with(Limits { file_bytes_max: 10, ..Limits::default() });
    stage.write("large then", "x".repeat(11));
    stage.write("large now", "small");
    stage.write("pipe now", "small");
    let id = capture(&stage);
    stage.write("large then", "small");
    stage.write("large now", "x".repeat(11));
    stage.write("new and large", "x".repeat(11));
    stage.shell("rm pipe*; mkfifo 'pipe now'");
    let done = restore(&stage, &id);
    let lines: Vec<_> =
        done.kept_back.iter().map(|it| format!("{}: {}\n", it.path.display(), it.reason)).collect();
    expect![[r#"
        large now: what is there now could not be brought back: too large to be kept
        large then: the checkpoint does not have its content: too large to be kept
        new and large: what is there now could not be brought back: too large to be kept
        pipe now: what is there now could not be brought back: a device, a pipe or a socket
    "#]]
    .assert_eq(&lines.concat());
    assert_eq!((done.restored, done.removed, done.errors), (vec![], vec![], vec![]));
}

#[test]
fn what_is_in_a_folder_that_could_not_be_read_is_left_as_it_is() {
    let file =
        |content: &[u8]| Entry::File { mode: 0o644, blob: BlobId::of(content), stamp: Stamp::default() };
    let closed = Entry::NotKept { why: NotKept::Unreadable, stamp: Stamp::default() };
    let open = Entry::Folder { mode: 0o755 };
    let manifest = |entries: &[(&str, Entry)]| Manifest {
        entries: entries.iter().map(|(path, entry)| (path.into(), entry.clone())).collect(),
    };
    let shut = manifest(&[("folder", closed)]);
    let seen = manifest(&[("folder", open), ("folder/a", file(b"a")), ("folder/b/c", file(b"c"))]);
    let id = CheckpointId::parse("0000000001-0123456789abcdef").unwrap();
    for (then, now) in [(&shut, &seen), (&seen, &shut)] {
        let sides = Sides { then, now, is_older: &|_, _| false };
        let plan = plan(id.clone(), Restore::All, &sides);
        assert_eq!(plan.steps(), []);
        assert_eq!(names(plan.kept_back().iter().map(|it| &it.path)), "folder folder/a folder/b/c");
    }
}

#[test]
fn a_link_that_is_swapped_in_leads_nowhere() {
    for at in [Io::Draft, Io::Publish] {
        let stage = stage();
        fs::create_dir(stage.outside()).unwrap();
        fs::write(stage.outside().join("x"), "outside").unwrap();
        stage.write("folder/x", "old");
        let id = capture(&stage);
        stage.write("folder/x", "new");
        let (root, outside) = (stage.root(), stage.outside());
        let swapping = stage.seen(move |io, path| {
            if io == at && path == Path::new("folder/x") {
                fs::rename(root.join("folder"), root.join("aside")).unwrap();
                symlink(&outside, root.join("folder")).unwrap();
            }
            Ok(())
        });
        restore_with(&swapping, &id, Restore::All);
        assert_eq!(fs::read_to_string(stage.outside().join("x")).unwrap(), "outside", "{at:?}");
        assert_eq!(fs::read_dir(stage.outside()).unwrap().count(), 1, "{at:?}");
    }
}

#[test]
fn a_link_that_is_swapped_in_is_not_removed_through() {
    let stage = stage();
    fs::create_dir(stage.outside()).unwrap();
    fs::write(stage.outside().join("x"), "outside").unwrap();
    stage.write("a", "");
    let id = capture(&stage);
    stage.write("folder/x", "new");
    let (root, outside) = (stage.root(), stage.outside());
    let swapping = stage.seen(move |io, path| {
        if io == Io::Remove && path == Path::new("folder/x") {
            fs::rename(root.join("folder"), root.join("aside")).unwrap();
            symlink(&outside, root.join("folder")).unwrap();
        }
        Ok(())
    });
    restore_with(&swapping, &id, Restore::All);
    assert_eq!(fs::read_to_string(stage.outside().join("x")).unwrap(), "outside");
}

#[test]
fn what_the_user_saves_in_the_meantime_is_not_overwritten() {
    let stage = stage();
    stage.write("a", "old");
    stage.write("gone", "old");
    let id = capture(&stage);
    stage.write("a", "new");
    stage.shell("rm gone; echo new > b");
    let root = stage.root();
    let saving = stage.seen(move |io, path| {
        if matches!(io, Io::Publish | Io::Draft) {
            fs::write(root.join(path), "saved by the user").unwrap();
            fs::write(root.join("b"), "saved by the user").unwrap();
        }
        Ok(())
    });
    let done = restore_with(&saving, &id, Restore::All);
    assert_eq!((done.restored, done.removed, done.errors.len()), (vec![], vec![], 3));
    let saved = "saved by the user";
    assert_eq!(stage.tree(), format!("a 644 {saved}\nb 644 {saved}\ngone 644 {saved}\n"));
}

#[test]
fn a_hard_link_to_a_file_elsewhere_is_cut_not_written_through() {
    let stage = stage();
    stage.write("a", "old");
    stage.write("b", "old");
    let id = capture(&stage);
    fs::write(stage.outside(), "outside").unwrap();
    stage.shell("rm a b; ln ../outside a; ln ../outside b");
    let done = restore(&stage, &id);
    assert_eq!((stage.tree(), done.errors), ("a 644 old\nb 644 old\n".into(), vec![]));
    assert_eq!(fs::read_to_string(stage.outside()).unwrap(), "outside");
}

#[test]
fn a_checkpoint_is_restored_though_capturing_first_pushes_it_out() {
    let stage = stage_with(Limits { checkpoints_max: 1, ..Limits::default() });
    stage.write("a", "old");
    let id = capture(&stage);
    stage.write("a", "new");
    let done = restore(&stage, &id);
    assert_eq!((stage.tree().as_str(), done.errors), ("a 644 old\n", vec![]));
    let ids: Vec<_> = stage.checkpoints.list().unwrap().into_iter().map(|it| it.id).collect();
    assert_eq!(ids, [done.undo]);
}
