//! Tests of what is looked at before a repository is opened.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use super::{is_head, leads_into_repository, links, programs};

#[test]
fn settings_that_lead_into_the_repository_are_found() {
    for harmless in [
        "[core]\n\tbare = false\n\thooksPath = .git/hooks/\n\tfsmonitor = .git/hooks/watch\n",
        "[remote \"origin\"]\n\turl = https://example.com/name.git/\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
        "[include]\n\tpath = ~/.gitconfig-work\n[includeIf \"gitdir:/srv/\"]\n\tpath = \"/etc/git\"\n",
        "[diff \"x\"]\n\tpath = relative\n",
        "",
    ] {
        assert!(!leads_into_repository(harmless), "{harmless}");
    }
    for leading in [
        "[include]\n\tpath = more\n",
        "[include] path=more\n",
        "[Include]\n\tPATH = \"../.gitconfig\"\n",
        "[includeIf \"onbranch:main\"]\n\tpath = more\n",
        "[core]\n\thooksPath = .git/other\n",
        "[core]\n\tfsmonitor = ./.git/watch\n",
        "[alias]\n\tx = !$GIT_DIR/x\n",
        "[filter \"x\"]\n\tclean = \"$(git rev-parse --git-dir)/x\"\n",
    ] {
        assert!(leads_into_repository(leading), "{leading}");
    }
}

#[test]
fn a_look_for_links_has_an_end() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("logs")).unwrap();
    fs::write(dir.path().join("logs/one"), "").unwrap();
    symlink("one", dir.path().join("logs/two")).unwrap();
    assert_eq!(links(dir.path(), 3), Some(vec![dir.path().join("logs/two")]));
    assert_eq!(links(dir.path(), 2), None);
}

#[test]
fn what_git_takes_for_a_head_is_taken() {
    for head in ["ref: refs/heads/main\n", "ref:refs/heads/x", &"a1".repeat(20), &"b2".repeat(32)] {
        assert!(is_head(head.as_bytes()), "{head}");
    }
    for other in ["", "main", "ref: /etc/passwd", "ref: ../x", &"a".repeat(39), &"g".repeat(40)] {
        assert!(!is_head(other.as_bytes()), "{other}");
    }
    assert_eq!(programs(b"pick 1\n  exec a\nx b\n# exec c\nexecute\n"), ["  exec a", "x b"]);
}
