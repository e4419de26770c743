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
    expect![[r#""#]].assert_eq(&said.concat());
}
