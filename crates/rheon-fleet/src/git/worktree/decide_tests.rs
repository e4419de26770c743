//! When a worktree is created, and when it is removed.

use super::{Branch, Cleanup, Directory, WorktreeAction, WorktreeStatus, action, cleanup};

#[test]
fn a_worktree_is_created_only_at_a_free_path() {
    let all = [Directory::Free, Directory::Ours, Directory::Foreign]
        .map(|dir| [Branch::Free, Branch::Taken].map(|branch| action(dir, branch)));
    use WorktreeAction::{BranchTaken, Create, NotOurs, Reuse};
    assert_eq!(all, [[Create, BranchTaken], [Reuse, Reuse], [NotOurs, NotOurs]]);
}

#[test]
fn a_worktree_is_removed_only_if_nothing_is_lost() {
    let decide = |branch: Option<&str>, changed, commits| {
        cleanup(&WorktreeStatus { branch: branch.map(str::to_owned), changed, commits }, "worktree-x")
    };
    assert_eq!(decide(Some("worktree-x"), 0, 0), Cleanup::Remove);
    for kept in [
        decide(Some("worktree-x"), 1, 0),
        decide(Some("worktree-x"), 0, 1),
        decide(Some("other"), 0, 0),
        decide(None, 0, 0),
    ] {
        assert_eq!(kept, Cleanup::Keep);
    }
}
