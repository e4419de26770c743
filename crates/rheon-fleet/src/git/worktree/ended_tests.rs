//! What is said of worktrees that stay.

use expect_test::expect;

use super::{Standing, Stays, Why};

fn said(path: &str, why: Why) -> String {
    Stays { path: path.into(), own: "worktree-x".into(), why }.to_string() + "\n"
}

fn has(branch: Option<&str>, changed: usize, commits: usize) -> Why {
    Why::Has(Standing { branch: branch.map(str::to_owned), changed, commits })
}

#[test]
fn one_line_says_where_on_which_branch_and_what_to_do() {
    let said = [
        said("/r/.rheon/worktrees/x", has(Some("worktree-x"), 1, 0)),
        said("/r/.rheon/worktrees/x", has(Some("worktree-x"), 0, 2)),
        said("/it's mine/.rheon/worktrees/x", has(Some("a'b"), 2, 1)),
        said("/r/.rheon/worktrees/x", has(None, 0, 1)),
        said("/r/.rheon/worktrees/x", Why::InUse),
        said("/r/.rheon/worktrees/x", Why::UserIsThere),
        said("/r/.rheon/worktrees/x", Why::Unknown("git is not installed".into())),
    ];
    expect![[r#"
        the worktree /r/.rheon/worktrees/x stays: branch worktree-x, 1 change not committed; to merge: commit there yourself, then git merge worktree-x; to remove it: git worktree remove --force /r/.rheon/worktrees/x && git branch -D worktree-x
        the worktree /r/.rheon/worktrees/x stays: branch worktree-x, 2 commits; to merge: git merge worktree-x; to remove it: git worktree remove --force /r/.rheon/worktrees/x && git branch -D worktree-x
        the worktree /it's mine/.rheon/worktrees/x stays: branch a'b, 1 commit, 2 changes not committed; to merge: commit there yourself, then git merge 'a'\''b'; to remove it: git worktree remove --force '/it'\''s mine/.rheon/worktrees/x' && git branch -D worktree-x
        the worktree /r/.rheon/worktrees/x stays: no branch, a commit is checked out, 1 commit; to keep commits: git -C /r/.rheon/worktrees/x switch -c NAME; to remove it: git worktree remove --force /r/.rheon/worktrees/x && git branch -D worktree-x
        the worktree /r/.rheon/worktrees/x stays: another session works in it (branch worktree-x)
        the worktree /r/.rheon/worktrees/x stays: nothing was changed, but you are in it (branch worktree-x); once you are elsewhere, to remove it: git worktree remove --force /r/.rheon/worktrees/x && git branch -D worktree-x
        the worktree /r/.rheon/worktrees/x stays: git is not installed (branch worktree-x); to remove it: git worktree remove --force /r/.rheon/worktrees/x && git branch -D worktree-x
    "#]].assert_eq(&said.concat());
}
