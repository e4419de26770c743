//! Which files a walk finds.

use std::fs;
use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::limits::RepoMapLimits;
use super::walk::{WalkResult, walk};
use crate::files::{DirectoryHandle, OnMissing};

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("it has a directory")).expect("the directory can be made");
        fs::write(path, text).expect("the file can be written");
    }
}

fn result(root: &Path, limits: RepoMapLimits) -> WalkResult {
    let dir = DirectoryHandle::open(root, Path::new(""), OnMissing::Refuse).expect("the root opens");
    walk(root, &dir, &limits, None, &CancellationToken::new())
}

fn walked_files(root: &Path) -> Vec<String> {
    result(root, RepoMapLimits::default()).files
}

#[test]
fn the_nearest_ignore_file_wins() {
    let root = tempfile::tempdir().expect("a directory");
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
    assert_eq!(walked_files(root.path()), ["deep/build/b.rs", "g.rs", "keep/d.gen.rs", "keep/deep/own.rs"]);
}

#[test]
fn limits_select_the_same_files_each_time() {
    let root = tempfile::tempdir().expect("a directory");
    for name in ["a.rs", "b.rs", "c/d.rs", "e/f.rs"] {
        write(root.path(), &[(name, "")]);
    }
    let by_files = result(root.path(), RepoMapLimits { files_max: 3, ..RepoMapLimits::default() });
    assert_eq!(
        (by_files.files, by_files.is_cut),
        (vec!["a.rs".into(), "b.rs".into(), "c/d.rs".into()], true)
    );
    let exact = result(root.path(), RepoMapLimits { files_max: 4, ..RepoMapLimits::default() });
    assert_eq!((exact.files.len(), exact.is_cut), (4, false));
    let by_entries = result(root.path(), RepoMapLimits { entries_max: 5, ..RepoMapLimits::default() });
    assert_eq!((by_entries.files.len(), by_entries.is_cut), (3, true));
}

#[test]
fn directory_depth_is_limited() {
    let root = tempfile::tempdir().expect("a directory");
    let deep = |depth: usize| format!("{}a.rs", "d/".repeat(depth));
    write(root.path(), &[(&deep(64), "")]);
    assert_eq!(result(root.path(), RepoMapLimits::default()).files, [deep(64)]);
    write(root.path(), &[(&deep(65), "")]);
    let result = result(root.path(), RepoMapLimits::default());
    assert_eq!((result.files, result.is_cut), (vec![deep(64)], true));
}

#[test]
fn excluded_paths_are_not_found() {
    let root = tempfile::tempdir().expect("a directory");
    write(root.path(), &[("secret/a.rs", ""), ("b.rs", "")]);
    let dir = DirectoryHandle::open(root.path(), Path::new(""), OnMissing::Refuse).expect("the root opens");
    let secret = root.path().join("secret");
    let rule: super::walk::ExcludeRule = std::sync::Arc::new(move |path| path == secret);
    let result = walk(root.path(), &dir, &RepoMapLimits::default(), Some(&rule), &CancellationToken::new());
    assert_eq!(result.files, ["b.rs"]);
}

#[test]
fn a_huge_ignore_file_is_read_partially() {
    let root = tempfile::tempdir().expect("a directory");
    write(root.path(), &[(".gitignore", "first.rs\n"), ("first.rs", ""), ("b.rs", "")]);
    let file = fs::File::options().write(true).open(root.path().join(".gitignore")).expect("it opens");
    file.set_len(1 << 30).expect("the disk knows sparse files");
    assert_eq!(walked_files(root.path()), ["b.rs"]);
}

#[cfg(test)]
#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    use super::{RepoMapLimits, result, walked_files, write};

    #[test]
    fn links_are_not_followed() {
        let outside = tempfile::tempdir().expect("a directory");
        write(outside.path(), &[("secret.rs", ""), ("rules", "*.rs\n")]);
        let root = tempfile::tempdir().expect("a directory");
        write(root.path(), &[("a.rs", "")]);
        symlink(outside.path(), root.path().join("out")).expect("a link");
        symlink(outside.path().join("secret.rs"), root.path().join("secret.rs")).expect("a link");
        symlink(root.path(), root.path().join("circle")).expect("a link");
        symlink(outside.path().join("rules"), root.path().join(".gitignore")).expect("a link");
        assert_eq!(walked_files(root.path()), ["a.rs"]);
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let root = tempfile::tempdir().expect("a directory");
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
        assert_eq!(walked_files(root.path()), ["a.rs"]);
    }

    #[test]
    fn files_with_unprintable_names_are_skipped() {
        let root = tempfile::tempdir().expect("a directory");
        write(root.path(), &[("a.rs", ""), ("new\nline.rs", "")]);
        let is_taken = fs::write(root.path().join(OsStr::from_bytes(b"\xff.rs")), "").is_ok();
        let result = result(root.path(), RepoMapLimits::default());
        assert_eq!((result.files, result.skipped), (vec!["a.rs".into()], 1 + usize::from(is_taken)));
    }
}
