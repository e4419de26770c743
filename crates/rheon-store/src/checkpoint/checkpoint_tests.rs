//! What is captured, what it costs, and how much of it stays.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use expect_test::expect;
use proptest::prelude::*;

use super::catalog::Catalog;
use super::checkpoints::CheckpointResult;
use super::error::CheckpointError;
use super::fixture::{Fixture, fixture, fixture_with, moment};
use super::id::{CheckpointId, CheckpointMoment};
use super::manifest::{Entry, Manifest, SkipReason, Stamp};
use super::path::{decode, decode_path, encode};
use super::probe::{Io, Probe};
use super::{CheckpointLimits, Checkpoints, DiffTarget, TextChange};
use crate::blobs::BlobId;

fn changes(fixture: &Fixture, id: &CheckpointId, against: &DiffTarget) -> String {
    let changes = fixture.checkpoints.diff(id, against).unwrap();
    changes.iter().map(|change| format!("{:?} {}\n", change.kind, change.path.display())).collect()
}

#[test]
fn every_kind_of_change_is_reported() {
    let fixture = fixture();
    for name in ["same", "changed", "gone", "moved", "mode", "kind", "folder/inner"] {
        fixture.write(name, format!("{name}\n"));
    }
    fixture.shell("ln -s same link; mkdir empty");
    let first = fixture.checkpoints.capture(&moment("first")).unwrap();
    assert_eq!((first.files, first.bytes_new, first.skipped), (10, 47, vec![]));
    fixture.shell(
        "echo new > changed; rm gone; mv moved moved-away; chmod 755 mode; rm kind; mkdir kind; ln -sf mode link; \
         rmdir empty; mkdir other; echo x > other/added; rm -r folder; echo flat > folder",
    );
    let expected = expect![[r#"
        Modified changed
        Removed empty
        Kind folder
        Removed folder/inner
        Removed gone
        Kind kind
        Modified link
        Mode mode
        Removed moved
        Added moved-away
        Added other
        Added other/added
    "#]];
    expected.assert_eq(&changes(&fixture, &first.id, &DiffTarget::WorkingTree));
    let second = fixture.checkpoints.capture(&moment("second")).unwrap();
    expected.assert_eq(&changes(&fixture, &first.id, &DiffTarget::Checkpoint(second.id.clone())));
    assert_eq!(changes(&fixture, &second.id, &DiffTarget::WorkingTree), "");
    let listed = fixture.checkpoints.list().unwrap();
    let labels: Vec<_> = listed.iter().map(|it| (it.moment.label.as_str(), it.files)).collect();
    assert_eq!(labels, [("first", 10), ("second", 9)]);
}

#[test]
fn ignored_and_protected_paths_are_not_captured() {
    let fixture = fixture();
    let paths = [
        ".git/config",
        "a.rs",
        ".gitignore",
        "target/out",
        "deep/.GIT/x",
        "deep/b.rs",
        "deep/.gitignore",
        "deep/c.log",
        ".claude/settings.json",
        ".mcp.json",
        ".env.example",
        ".ignore",
    ];
    for path in paths {
        fixture.write(path, "x");
    }
    fixture.write(".gitignore", "target/\n");
    fixture.write("deep/.gitignore", "*.log\n");
    fixture.write(".ignore", "a.rs\n");
    let id = fixture.checkpoints.capture(&moment("")).unwrap().id;
    fs::remove_dir_all(fixture.root()).unwrap();
    fs::create_dir(fixture.root()).unwrap();
    expect![[r#"
        Removed .env.example
        Removed .gitignore
        Removed .ignore
        Removed a.rs
        Removed deep
        Removed deep/.gitignore
        Removed deep/b.rs
    "#]]
    .assert_eq(&changes(&fixture, &id, &DiffTarget::WorkingTree));
}

#[test]
fn ignore_rules_above_the_workspace_count_unless_they_ignore_all_of_it() {
    for (rules, files) in [("*.log\n", 1), ("*\n", 2)] {
        let fixture = fixture();
        fixture.write("a.rs", "");
        fixture.write("b.log", "");
        fs::write(fixture.root().parent().unwrap().join(".gitignore"), rules).unwrap();
        assert_eq!(fixture.checkpoints.capture(&moment("")).unwrap().files, files, "{rules:?}");
    }
}

#[test]
fn checkpoints_inside_the_workspace_do_not_capture_themselves() {
    let fixture = fixture();
    fixture.write("a", "a");
    let inner = fixture.root().join("undo");
    let checkpoints = Checkpoints::open(&inner, &fixture.root(), CheckpointLimits::default()).unwrap();
    assert_eq!(checkpoints.capture(&moment("")).unwrap().files, 1);
    assert_eq!(checkpoints.capture(&moment("")).unwrap().files, 1);
}

#[test]
fn two_checkpoints_share_unchanged_content() {
    let fixture = fixture();
    for nth in 0..50 {
        fixture.write(&format!("{nth}"), format!("content {nth}"));
    }
    fixture.write("twin", "content 1");
    let first = fixture.checkpoints.capture(&moment("")).unwrap();
    let blobs = fixture.blobs();
    assert_eq!(first.bytes_new, 490);
    fixture.write("7", "other");
    let second = fixture.checkpoints.capture(&moment("")).unwrap();
    assert_eq!((second.bytes_new, second.files), (5, 51));
    // The new content, and at most a few lists of paths.
    assert!(fixture.blobs() <= blobs + 3, "{} and {blobs}", fixture.blobs());
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(fixture.store().join("list").join(first.id.as_str())), 0o600);
    assert_eq!((mode(fixture.store()), mode(fixture.store().join("list"))), (0o700, 0o700));
}

fn counting(fixture: &Fixture, ahead: Duration) -> (Checkpoints, Arc<AtomicUsize>) {
    let reads = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&reads);
    let mut probe = Probe::new(move |io, _| {
        count.fetch_add(usize::from(io == Io::Read), Ordering::Relaxed);
        Ok(())
    });
    let newest = fs::metadata(fixture.root()).unwrap().modified().unwrap();
    probe.now = Some(newest + ahead);
    (fixture.again(probe), reads)
}

#[test]
fn ten_thousand_files_are_read_once() {
    let fixture = fixture();
    for nth in 0..10_000 {
        fixture.write(&format!("{}/{nth}", nth / 100), format!("content {}", nth % 5_000));
    }
    let (checkpoints, reads) = counting(&fixture, Duration::from_secs(3_600));
    let first = checkpoints.capture(&moment("")).unwrap();
    assert_eq!((first.files, reads.swap(0, Ordering::Relaxed)), (10_100, 10_000));
    let second = checkpoints.capture(&moment("")).unwrap();
    assert_eq!((second.files, second.bytes_new, reads.load(Ordering::Relaxed)), (10_100, 0, 0));
    // Another process reads the list instead of the files.
    let (again, reads) = counting(&fixture, Duration::from_secs(3_600));
    fixture.write("5/500", "changed");
    assert_eq!(again.capture(&moment("")).unwrap().bytes_new, 7);
    assert_eq!(reads.load(Ordering::Relaxed), 1);
}

#[test]
fn an_unchanged_workspace_reuses_the_newest_checkpoint_of_the_session() {
    let fixture = fixture();
    fixture.write("a", "one");
    let written = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&written);
    let checkpoints = fixture.seen(move |io, _| {
        if matches!(io, Io::Sync | Io::Commit | Io::Put) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    });
    let stop = AtomicBool::new(false);
    let capture = |moment: &CheckpointMoment| checkpoints.capture_changes_cancelable(moment, &stop).unwrap();
    let first = capture(&moment("first"));
    let writes = written.load(Ordering::Relaxed);
    let second = capture(&moment("second"));
    assert_eq!(second, CheckpointResult { bytes_new: 0, ..first.clone() });
    assert_eq!(written.load(Ordering::Relaxed), writes);
    // Another session gets its own checkpoint, which stays when the first session is removed.
    let other = capture(&CheckpointMoment { session_id: Some("other".into()), ..moment("third") });
    assert_ne!(other.id, first.id);
    // Writing the same content again is a new version of the file.
    fixture.shell("touch -d 2001-02-03 a");
    let touched = capture(&CheckpointMoment { session_id: Some("other".into()), ..moment("fourth") });
    assert_ne!(touched.id, other.id);
    fixture.shell("chmod 600 a");
    let changed = capture(&CheckpointMoment { session_id: Some("other".into()), ..moment("fifth") });
    assert_ne!(changed.id, touched.id);
    let labels: Vec<_> = checkpoints.list().unwrap().into_iter().map(|it| it.moment.label).collect();
    assert_eq!(labels, ["first", "third", "fourth", "fifth"]);
}

#[test]
fn a_stamp_from_the_time_of_the_capture_is_not_trusted() {
    let fixture = fixture();
    fixture.write("a", "old");
    let (checkpoints, reads) = counting(&fixture, Duration::from_secs(1));
    checkpoints.capture(&moment("")).unwrap();
    checkpoints.capture(&moment("")).unwrap();
    assert_eq!(reads.load(Ordering::Relaxed), 2);
}

#[test]
fn a_file_that_looks_unchanged_is_detected_by_its_inode_time() {
    let fixture = fixture();
    fixture.write("a", "old");
    let (checkpoints, _) = counting(&fixture, Duration::from_secs(3_600));
    let id = checkpoints.capture(&moment("")).unwrap().id;
    let path = fixture.root().join("a");
    let before: SystemTime = fs::metadata(&path).unwrap().modified().unwrap();
    let inode_changed = || std::os::unix::fs::MetadataExt::ctime_nsec(&fs::metadata(&path).unwrap());
    let first = inode_changed();
    // The clock of the file system may be coarse.
    while inode_changed() == first {
        fs::write(&path, "new").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    }
    assert_eq!(changes(&fixture, &id, &DiffTarget::WorkingTree), "Modified a\n");
}

#[test]
fn a_file_at_the_limit_is_saved_and_a_larger_one_is_only_listed() {
    let fixture = fixture_with(CheckpointLimits { file_bytes_max: 1_000, ..CheckpointLimits::default() });
    fixture.write("at", vec![0xff; 1_000]);
    fixture.write("over", vec![0xff; 1_001]);
    fixture.shell("mkfifo pipe");
    let captured = fixture.checkpoints.capture(&moment("")).unwrap();
    let skipped = vec![("over".into(), SkipReason::TooLarge), ("pipe".into(), SkipReason::Special)];
    assert_eq!((captured.files, captured.bytes_new, captured.skipped), (3, 1_000, skipped));
    fixture.write("over", vec![0xfe; 1_002]);
    assert_eq!(changes(&fixture, &captured.id, &DiffTarget::WorkingTree), "Skipped over\n");
}

#[test]
fn a_workspace_at_the_limit_is_captured_and_a_larger_one_is_rejected() {
    let fixture = fixture_with(CheckpointLimits { files_max: 3, ..CheckpointLimits::default() });
    fixture.shell("touch a b c");
    assert_eq!(fixture.checkpoints.capture(&moment("")).unwrap().files, 3);
    fixture.shell("touch d");
    let unread = Probe::new(|io, _| if io == Io::Read { panic!("nothing is read") } else { Ok(()) });
    let limits = CheckpointLimits { files_max: 3, ..CheckpointLimits::default() };
    let unread = Checkpoints::with_probe(&fixture.store(), &fixture.root(), limits, unread).unwrap();
    let error = unread.capture(&moment("")).unwrap_err();
    expect!["the workspace has more than 3 files that are not ignored; add build output to .gitignore"]
        .assert_eq(&error.to_string());
    assert_eq!(fixture.checkpoints.list().unwrap().len(), 1);
}

#[test]
fn the_oldest_checkpoints_are_pruned() {
    let fixture = fixture_with(CheckpointLimits { bytes_max: 10_000, ..CheckpointLimits::default() });
    for nth in 0..10_u8 {
        fixture.write("a", vec![nth; 3_000]);
        assert_eq!(fixture.checkpoints.capture(&moment(&nth.to_string())).unwrap().skipped, vec![]);
    }
    let listed = fixture.checkpoints.list().unwrap();
    let labels: Vec<_> = listed.iter().map(|it| it.moment.label.as_str()).collect();
    assert_eq!(labels, ["8", "9"]);
    assert_eq!(fixture.blobs(), 4);
    // All remaining checkpoints are complete.
    for listed in &listed {
        fixture.checkpoints.diff_text(&listed.id, &DiffTarget::WorkingTree, Path::new("a")).unwrap();
    }
    // A file larger than the limit is reported, and the rest is saved.
    fixture.write("b", vec![7; 9_000]);
    let captured = fixture.checkpoints.capture(&moment("large")).unwrap();
    assert_eq!(captured.skipped, [("b".into(), SkipReason::NoRoom)]);
}

#[test]
fn at_the_size_limit_small_files_and_the_list_still_fit() {
    let fixture = fixture_with(CheckpointLimits { bytes_max: 100_000, ..CheckpointLimits::default() });
    for nth in 0..20_u8 {
        fixture.write(&format!("large {nth}"), vec![nth; 6_000]);
        fixture.write(&format!("small {nth}"), vec![nth; 10]);
    }
    let captured = fixture.checkpoints.capture(&moment("")).unwrap();
    assert_eq!((captured.files, captured.bytes_new, captured.skipped.len()), (40, 84_200, 6));
    let is_large = |path: &Path| path.to_str().unwrap().starts_with("large");
    assert!(captured.skipped.iter().all(|(path, why)| is_large(path) && *why == SkipReason::NoRoom));
    // Again: existing content is found.
    let again = fixture.checkpoints.capture(&moment("")).unwrap();
    assert_eq!((again.bytes_new, again.skipped), (0, captured.skipped));
}

#[test]
fn there_is_an_error_if_not_even_the_list_fits() {
    let fixture = fixture_with(CheckpointLimits { bytes_max: 10, ..CheckpointLimits::default() });
    fixture.write("a", "a");
    let error = fixture.checkpoints.capture(&moment("")).unwrap_err();
    assert!(matches!(error, CheckpointError::NoRoom { bytes_max: 10 }), "{error}");
}

#[test]
fn the_number_is_limited_and_pruning_keeps_the_newest() {
    let fixture = fixture_with(CheckpointLimits { checkpoints_max: 20, ..CheckpointLimits::default() });
    for nth in 0..30 {
        fixture.write("a", format!("{nth:05}"));
        fixture.checkpoints.capture(&moment(&nth.to_string())).unwrap();
        assert!(fixture.checkpoints.list().unwrap().len() <= 20);
    }
    assert_eq!(fixture.checkpoints.prune(usize::MAX, u64::MAX).unwrap().checkpoints, 0);
    let pruned = fixture.checkpoints.prune(2, u64::MAX).unwrap();
    let labels: Vec<_> = fixture.checkpoints.list().unwrap().into_iter().map(|it| it.moment.label).collect();
    assert_eq!((labels, fixture.blobs()), (vec!["28".to_owned(), "29".to_owned()], 4));
    assert!(pruned.checkpoints > 10 && pruned.bytes > 50, "{pruned:?}");
    assert_eq!(fixture.checkpoints.prune(0, 0).unwrap().checkpoints, 1);
    assert_eq!(fixture.checkpoints.list().unwrap().len(), 1);
    assert_eq!(fixture.checkpoints.sweep().unwrap(), 0);
}

#[test]
fn text_is_compared_by_line_and_binary_is_not() {
    let fixture = fixture();
    fixture.write("text", "one\r\ntwo\nthree");
    fixture.write("bytes", b"\x00\xff");
    fixture.write("gone", "gone\n");
    fixture.write("large", vec![b'x'; 1024 * 1024]);
    let id = fixture.checkpoints.capture(&moment("")).unwrap().id;
    fixture.write("text", "one\n2\nthree");
    fixture.write("bytes", b"\x00\xfe");
    fixture.write("new", "new\n");
    fixture.write("large", vec![b'x'; 1024 * 1024 + 1]);
    fixture.shell("rm gone");
    let diff =
        |path: &str| fixture.checkpoints.diff_text(&id, &DiffTarget::WorkingTree, Path::new(path)).unwrap();
    let lines = |path: &str| match diff(path) {
        TextChange::Lines(lines) => lines.replace('\r', "<CR>"),
        other => format!("{other:?}"),
    };
    expect![[r#"
        --- a/text
        +++ b/text
        @@ -1,3 +1,3 @@
        -one<CR>
        -two
        +one
        +2
         three
        \ No newline at end of file
    "#]]
    .assert_eq(&lines("text"));
    assert_eq!(lines("gone"), "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n");
    assert_eq!(lines("new"), "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+new\n");
    assert_eq!((diff("bytes"), diff("large")), (TextChange::Binary, TextChange::NotCompared));
    assert_eq!(diff("../outside"), TextChange::NotCompared);
}

#[test]
fn damaged_newer_and_foreign_checkpoints_are_reported() {
    let fixture = fixture();
    fixture.write("a", "a");
    let id = fixture.checkpoints.capture(&moment("")).unwrap().id;
    let path = fixture.store().join("list").join(id.as_str());
    let content = fs::read_to_string(&path).unwrap();

    let newer = content.replacen("\"version\":1", "\"version\":2", 1);
    let newer_id = CheckpointId::new(9, newer.as_bytes());
    fs::write(fixture.store().join("list").join(newer_id.as_str()), &newer).unwrap();
    let error = fixture.checkpoints.diff(&newer_id, &DiffTarget::WorkingTree).unwrap_err().to_string();
    let expected = format!("checkpoint {newer_id} has format version 2; this version of Rheon reads up to 1");
    assert_eq!(error, expected);
    // It is unknown what a later version uses, so nothing is removed.
    assert_eq!(fixture.checkpoints.sweep().unwrap_err().to_string(), expected);
    fs::remove_file(fixture.store().join("list").join(newer_id.as_str())).unwrap();

    fs::create_dir(fixture.outside()).unwrap();
    let other = Checkpoints::open(&fixture.store(), &fixture.outside(), CheckpointLimits::default()).unwrap();
    let error = other.diff(&id, &DiffTarget::WorkingTree).unwrap_err();
    assert!(matches!(error, CheckpointError::OtherRoot { .. }), "{error}");

    fs::write(&path, content.replacen('7', "8", 1)).unwrap();
    let error = fixture.checkpoints.diff(&id, &DiffTarget::WorkingTree).unwrap_err().to_string();
    assert_eq!(error, format!("checkpoint {id} is damaged: its record does not match its id; use another"));
    // The next one does not depend on it.
    assert_eq!(fixture.checkpoints.capture(&moment("")).unwrap().files, 1);
    let missing = CheckpointId::parse("0000000099-0123456789abcdef").unwrap();
    let error = fixture.checkpoints.diff(&missing, &DiffTarget::WorkingTree).unwrap_err().to_string();
    assert_eq!(error, format!("no checkpoint {missing}; list the checkpoints to see their ids"));
}

#[test]
fn a_canceled_capture_leaves_less_work_for_the_next() {
    let fixture = fixture();
    for nth in 0..10 {
        fixture.write(&nth.to_string(), nth.to_string());
    }
    let stop = Arc::new(AtomicBool::new(false));
    let (reads, flag) = (AtomicUsize::new(0), Arc::clone(&stop));
    let checkpoints = fixture.seen(move |io, _| {
        if io == Io::Read && reads.fetch_add(1, Ordering::Relaxed) == 6 {
            flag.store(true, Ordering::Relaxed);
        }
        Ok(())
    });
    let stopped = checkpoints.capture_cancelable(&moment(""), &stop);
    assert!(matches!(stopped, Err(CheckpointError::Stopped)));
    assert_eq!((checkpoints.list().unwrap(), fixture.blobs()), (vec![], 7));
    let captured = fixture.checkpoints.capture(&moment("")).unwrap();
    assert_eq!((captured.files, captured.bytes_new), (10, 3));
}

#[test]
fn a_manifest_with_a_path_outside_the_workspace_is_rejected() {
    for path in ["../a", "/a", "a/../b", ".git/hooks/x", "a/.Git/x", "", "a%2"] {
        assert_eq!(decode_path(path), None, "{path}");
        let line = format!(r#"{{"path":"{path}","is":{{"folder":{{"mode":493}}}}}}"#);
        assert!(Manifest::default().add_part(line.as_bytes()).is_err(), "{path}");
    }
    for id in ["", "..", "0000000001-0123456789abcdeg", "1-0123456789abcdef", "0000000001-0123456789abcdef/"]
    {
        assert_eq!(CheckpointId::parse(id), None, "{id}");
    }
}

fn entry() -> impl Strategy<Value = Entry> {
    let stamp = any::<(u64, i64, i64, u64, bool)>().prop_map(
        |(bytes, modified_ns, changed_ns, inode, is_settled)| Stamp {
            bytes,
            modified_ns,
            changed_ns,
            inode,
            is_settled,
        },
    );
    prop_oneof![
        (0..0o1000_u32).prop_map(|mode| Entry::Directory { mode }),
        (0..0o1000_u32, any::<[u8; 4]>(), stamp).prop_map(|(mode, content, stamp)| Entry::File {
            mode,
            blob: BlobId::of(&content),
            stamp
        }),
        proptest::collection::vec(1_u8.., 1..9)
            .prop_map(|target| Entry::Link { target: OsStr::from_bytes(&target).to_owned() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_bytes_a_name_has_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let name = OsStr::from_bytes(&bytes);
        prop_assert_eq!(decode(&encode(name)), Some(name.to_owned()));
    }

    #[test]
    fn a_manifest_comes_back_from_its_lists(
        entries in proptest::collection::btree_map("[a-z%é]{1,3}(/[a-z]{1,3}){0,2}", entry(), 0..400)
    ) {
        let entries: BTreeMap<PathBuf, Entry> = entries.into_iter().map(|(path, it)| (path.into(), it)).collect();
        let manifest = Manifest { entries };
        let mut back = Manifest::default();
        for part in manifest.parts().unwrap() {
            back.add_part(&part).unwrap();
        }
        prop_assert_eq!(back, manifest);
    }
}

#[test]
fn one_change_in_a_large_manifest_is_a_few_lists() {
    let stamp = Stamp::default();
    let entry = |content: &str| Entry::File { mode: 0o644, blob: BlobId::of(content.as_bytes()), stamp };
    let mut manifest = Manifest::default();
    for nth in 0..20_000 {
        manifest.entries.insert(format!("{nth:05}").into(), entry("same"));
    }
    let before = manifest.parts().unwrap();
    manifest.entries.insert("10000a".into(), entry("new"));
    manifest.entries.remove(Path::new("00500"));
    let after = manifest.parts().unwrap();
    let new = after.iter().filter(|part| !before.contains(part)).count();
    assert!(before.len() > 40 && new <= 4, "{new} of {}", before.len());
    // Listing an empty catalog needs no directory.
    let fixture = fixture();
    let catalog =
        Catalog::new(&fixture.store(), &fixture.root(), &CheckpointLimits::default(), &Probe::default());
    assert_eq!(catalog.ids().unwrap(), []);
}

#[test]
fn removing_a_session_removes_only_its_checkpoints() {
    let fixture = fixture();
    let of = |session: &str| super::CheckpointMoment { session_id: Some(session.into()), ..moment(session) };
    fixture.write("a", "shared");
    let first = fixture.checkpoints.capture(&of("one")).unwrap().id;
    fixture.write("a", "only of the other");
    fixture.checkpoints.capture(&of("other")).unwrap();
    fixture.write("a", "shared");
    let last = fixture.checkpoints.capture(&of("one")).unwrap().id;
    let forgotten = fixture.checkpoints.forget(|name| name.as_str() == "other").unwrap();
    assert_eq!(forgotten.checkpoints, 1);
    assert!(forgotten.bytes >= 17, "{forgotten:?}");
    let left: Vec<_> = fixture.checkpoints.list().unwrap().into_iter().map(|listed| listed.id).collect();
    assert_eq!(left, [first, last]);
    assert_eq!(
        fixture.checkpoints.forget(|name| name.as_str() == "nobody").unwrap(),
        super::PruneReport { checkpoints: 0, bytes: 0 }
    );
    // The next capture can build on the remaining ones.
    fixture.write("b", "new");
    fixture.checkpoints.capture(&of("one")).unwrap();
}
