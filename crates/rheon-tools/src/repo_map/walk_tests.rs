//! Which files are found.

use std::fs;
use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::limits::RepoMapLimits;
use super::walk::{Walked, walk};
use crate::files::{DirectoryHandle, OnMissing};

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("the folder can be made");
        fs::write(path, text).expect("the file can be written");
    }
}

fn walked(root: &Path, limits: RepoMapLimits) -> Walked {
    let folder = DirectoryHandle::open(root, Path::new(""), OnMissing::Refuse).expect("the root opens");
    walk(root, &folder, &limits, None, &CancellationToken::new())
}

fn found(root: &Path) -> Vec<String> {
    walked(root, RepoMapLimits::default()).files
}

#[test]
fn ignore_files_are_obeyed_the_nearest_first() {
    let root = tempfile::tempdir().expect("a folder");
    write(
        root.path(),
        &[
            (".gitignore", "/build/\n*.gen.rs\n[broken\n"),
            ("build/a.rs", ""),
            ("deep/build/b.rs", ""),
            ("c.gen.rs", ""),
            ("keep/.gitignore", "!*.gen.rs\n/own.rs\n"),
            ("keep/d.gen.rs", ""),
            ("keep/own.rs", ""),
            ("keep/deep/own.rs", ""),
            (".ignore", "secret.py\n"),
            ("x/secret.py", ""),
            (".hidden/e.rs", ""),
            (".git/f.rs", ""),
            ("notes.md", ""),
            ("g.rs", ""),
        ],
    );
    assert_eq!(found(root.path()), ["deep/build/b.rs", "g.rs", "keep/d.gen.rs", "keep/deep/own.rs"]);
}

#[test]
fn limits_hold_and_the_same_files_are_within_them_each_time() {
    let root = tempfile::tempdir().expect("a folder");
    for name in ["a.rs", "b.rs", "c/d.rs", "e/f.rs"] {
        write(root.path(), &[(name, "")]);
    }
    let by_files = walked(root.path(), RepoMapLimits { files_max: 3, ..RepoMapLimits::default() });
    assert_eq!(
        (by_files.files, by_files.is_cut),
        (vec!["a.rs".into(), "b.rs".into(), "c/d.rs".into()], true)
    );
    let exact = walked(root.path(), RepoMapLimits { files_max: 4, ..RepoMapLimits::default() });
    assert_eq!((exact.files.len(), exact.is_cut), (4, false));
    let by_entries = walked(root.path(), RepoMapLimits { entries_max: 5, ..RepoMapLimits::default() });
    assert_eq!((by_entries.files.len(), by_entries.is_cut), (3, true));
}

#[test]
fn folders_are_followed_only_so_deep() {
    let root = tempfile::tempdir().expect("a folder");
    let deep = |depth: usize| format!("{}a.rs", "d/".repeat(depth));
    write(root.path(), &[(&deep(64), "")]);
    assert_eq!(walked(root.path(), RepoMapLimits::default()).files, [deep(64)]);
    write(root.path(), &[(&deep(65), "")]);
    let walked = walked(root.path(), RepoMapLimits::default());
    assert_eq!((walked.files, walked.is_cut), (vec![deep(64)], true));
}

#[test]
fn what_a_rule_leaves_out_is_not_found() {
    let root = tempfile::tempdir().expect("a folder");
    write(root.path(), &[("secret/a.rs", ""), ("b.rs", "")]);
    let folder =
        DirectoryHandle::open(root.path(), Path::new(""), OnMissing::Refuse).expect("the root opens");
    let secret = root.path().join("secret");
    let rule: super::walk::LeftOut = std::sync::Arc::new(move |path| path == secret);
    let walked =
        walk(root.path(), &folder, &RepoMapLimits::default(), Some(&rule), &CancellationToken::new());
    assert_eq!(walked.files, ["b.rs"]);
}

#[test]
fn a_huge_ignore_file_is_read_only_in_part() {
    let root = tempfile::tempdir().expect("a folder");
    write(root.path(), &[(".gitignore", "first.rs\n"), ("first.rs", ""), ("b.rs", "")]);
    let file = fs::File::options().write(true).open(root.path().join(".gitignore")).expect("it opens");
    file.set_len(1 << 30).expect("the disk knows sparse files");
    assert_eq!(found(root.path()), ["b.rs"]);
}

#[cfg(test)]
#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    use super::{RepoMapLimits, found, walked, write};

    #[test]
    fn links_are_not_followed_not_even_as_ignore_files() {
        let outside = tempfile::tempdir().expect("a folder");
        write(outside.path(), &[("secret.rs", ""), ("rules", "*.rs\n")]);
        let root = tempfile::tempdir().expect("a folder");
        write(root.path(), &[("a.rs", "")]);
        symlink(outside.path(), root.path().join("out")).expect("a link");
        symlink(outside.path().join("secret.rs"), root.path().join("secret.rs")).expect("a link");
        symlink(root.path(), root.path().join("circle")).expect("a link");
        symlink(outside.path().join("rules"), root.path().join(".gitignore")).expect("a link");
        assert_eq!(found(root.path()), ["a.rs"]);
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let root = tempfile::tempdir().expect("a folder");
        write(root.path(), &[("a.rs", "")]);
        for name in [".gitignore", "pipe.rs"] {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                root.path().join(name),
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
                0,
            )
            .expect("a pipe can be made");
        }
        assert_eq!(found(root.path()), ["a.rs"]);
    }

    #[test]
    fn names_that_cannot_be_shown_are_passed_over() {
        let root = tempfile::tempdir().expect("a folder");
        write(root.path(), &[("a.rs", ""), ("new\nline.rs", "")]);
        let is_taken = fs::write(root.path().join(OsStr::from_bytes(b"\xff.rs")), "").is_ok();
        let walked = walked(root.path(), RepoMapLimits::default());
        assert_eq!((walked.files, walked.passed_over), (vec!["a.rs".into()], 1 + usize::from(is_taken)));
    }
}
