//! What is said of worktrees that stay.

use expect_test::expect;

use super::{KeepReason, RemainingWorktree, WorktreeStatus};

fn shown(path: &str, why: KeepReason) -> String {
    RemainingWorktree { path: path.into(), own: "worktree-x".into(), why }.to_string() + "\n"
}

fn has(branch: Option<&str>, changed: usize, commits: usize) -> KeepReason {
    KeepReason::Changed(WorktreeStatus { branch: branch.map(str::to_owned), changed, commits })
}

#[test]
fn one_line_says_where_on_which_branch_and_what_to_do() {
    let said = [
        shown("/r/.rheon/worktrees/x", has(Some("worktree-x"), 1, 0)),
        shown("/r/.rheon/worktrees/x", has(Some("worktree-x"), 0, 2)),
        shown("/it's mine/.rheon/worktrees/x", has(Some("a'b"), 2, 1)),
        shown("/r/.rheon/worktrees/x", has(None, 0, 1)),
        shown("/r/.rheon/worktrees/x", KeepReason::InUse),
        shown("/r/.rheon/worktrees/x", KeepReason::CurrentDirectory),
        shown("/r/.rheon/worktrees/x", KeepReason::Failed("git is not installed".into())),
    ];
    expect![[r#"
        kept the worktree /r/.rheon/worktrees/x: branch worktree-x, 1 uncommitted change; to merge: commit there yourself, then git merge worktree-x; to remove it: git worktree remove --force /r/.rheon/worktrees/x && git branch -D worktree-x
        kept the worktree /r/.rheon/worktrees/x: branch worktree-x, 2 commits; to merge: git merge worktree-x; to remove it: git worktree remove --force /r/.rheon/worktrees/x && git branch -D worktree-x
        kept the worktree /it's mine/.rheon/worktrees/x: branch a'b, 1 commit, 2 uncommitted changes; to merge: commit there yourself, then git merge 'a'\''b'; to remove it: git worktree remove --force '/it'\''s mine/.rheon/worktrees/x' && git branch -D worktree-x
        kept the worktree /r/.rheon/worktrees/x: detached HEAD, 1 commit; to keep commits: git -C /r/.rheon/worktrees/x switch -c NAME; to remove it: git worktree remove --force /r/.rheon/worktrees/x && git branch -D worktree-x
        kept the worktree /r/.rheon/worktrees/x: another session is using it (branch worktree-x)
        kept the worktree /r/.rheon/worktrees/x: nothing was changed, but it is your current directory (branch worktree-x); after leaving it, to remove it: git worktree remove --force /r/.rheon/worktrees/x && git branch -D worktree-x
        kept the worktree /r/.rheon/worktrees/x: git is not installed (branch worktree-x); to remove it: git worktree remove --force /r/.rheon/worktrees/x && git branch -D worktree-x
    "#]].assert_eq(&said.concat());
}
