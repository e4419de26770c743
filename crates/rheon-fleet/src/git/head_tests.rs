//! What is read from the files of a repository.

use std::fs;

use super::{Head, read_head};

#[test]
fn the_files_of_a_repository_say_what_is_checked_out() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let head = |text: &str| {
        fs::create_dir_all(root.join("main/.git")).unwrap();
        fs::write(root.join("main/.git/HEAD"), text).unwrap();
        read_head(&root.join("main"))
    };
    assert_eq!(head("ref: refs/heads/feature/a\n"), Some(Head::Branch("feature/a".into())));
    assert_eq!(head(&format!("{}\n", "0a".repeat(20))), Some(Head::Commit));
    assert_eq!(head(&"0a".repeat(32)), Some(Head::Commit));
    for odd in ["", "ref: refs/heads/.invalid", "ref: refs/other/x", "nothing that is known", "\u{0}"] {
        assert_eq!(head(odd), None, "{odd:?}");
    }
    assert_eq!(head(&format!("ref: refs/heads/main{}", " ".repeat(5000))), Some(Head::Branch("main".into())));
    fs::create_dir_all(root.join("second/beneath")).unwrap();
    fs::write(root.join("second/.git"), "gitdir: ../main/.git\n").unwrap();
    assert_eq!(read_head(&root.join("second/beneath")), Some(Head::Branch("main".into())));
    fs::write(root.join("second/.git"), "gitdir: ../nowhere\n").unwrap();
    assert_eq!(read_head(&root.join("second")), None);
}

#[test]
#[cfg(unix)]
fn a_pipe_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    let pipe = dir.path().join(".git/HEAD");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert_eq!(read_head(dir.path()), None);
}
