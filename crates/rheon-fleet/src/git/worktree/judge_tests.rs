//! Whether a worktree is made, and whether it goes.

use super::{Beginning, Branch, Fate, Folder, Standing, beginning, fate};

#[test]
fn a_worktree_is_made_only_where_nothing_is() {
    let all = [Folder::Free, Folder::Ours, Folder::Foreign]
        .map(|folder| [Branch::Free, Branch::Taken].map(|branch| beginning(folder, branch)));
    use Beginning::{BranchTaken, GoOn, Make, NotOurs};
    assert_eq!(all, [[Make, BranchTaken], [GoOn, GoOn], [NotOurs, NotOurs]]);
}

#[test]
fn a_worktree_goes_only_when_nothing_is_lost_with_it() {
    let fate = |branch: Option<&str>, changed, commits| {
        fate(&Standing { branch: branch.map(str::to_owned), changed, commits }, "worktree-x")
    };
    assert_eq!(fate(Some("worktree-x"), 0, 0), Fate::Goes);
    for stays in [
        fate(Some("worktree-x"), 1, 0),
        fate(Some("worktree-x"), 0, 1),
        fate(Some("other"), 0, 0),
        fate(None, 0, 0),
    ] {
        assert_eq!(stays, Fate::Stays);
    }
}
