//! Names that can be those of directories and branches.

use expect_test::expect;

use super::{NAME_CHARS_MAX, WorktreeName};

#[test]
fn usual_names_are_taken_as_they_are() {
    for name in ["a", "feature-1", "Fix_2.x", "0", &"x".repeat(NAME_CHARS_MAX)] {
        let parsed = WorktreeName::parse(name).unwrap();
        assert_eq!((parsed.as_str(), parsed.branch()), (name, format!("worktree-{name}")));
    }
}

#[test]
fn what_git_or_a_dir_could_not_be_called_is_refused() {
    let wrong =
        ["", "fix the bug", "../x", "a/b", "a..b", ".git", "-f", "a.", "x.lock", "x.LOCK", "ä", "a\u{1b}[2J"];
    let long = "x".repeat(NAME_CHARS_MAX + 1);
    let said: Vec<String> = wrong
        .into_iter()
        .chain([long.as_str()])
        .map(|name| WorktreeName::parse(name).unwrap_err().to_string())
        .map(|said| said.split("; use").next().unwrap().to_owned())
        .collect();
    expect![[r#"
        invalid worktree name "": it is empty
        invalid worktree name "fix the bug": it has invalid characters
        invalid worktree name "../x": it has invalid characters
        invalid worktree name "a/b": it has invalid characters
        invalid worktree name "a..b": branches cannot have ".." in them, nor "." at the end
        invalid worktree name ".git": it begins with "." or "-"
        invalid worktree name "-f": it begins with "." or "-"
        invalid worktree name "a.": branches cannot have ".." in them, nor "." at the end
        invalid worktree name "x.lock": branches cannot end with ".lock"
        invalid worktree name "x.LOCK": branches cannot end with ".lock"
        invalid worktree name "ä": it has invalid characters
        invalid worktree name "a\u{1b}[2J": it has invalid characters
        invalid worktree name "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…": it is too long
    "#]].assert_eq(&(said.join("\n") + "\n"));
}

#[test]
fn sessions_that_begin_together_have_different_names() {
    let name = |id: &str| WorktreeName::of_session(&id.into()).unwrap().to_string();
    assert_eq!(name("01890a5d-ac96-774b-bcce-b302099a8057"), "b302099a8057");
    assert_eq!(name("01890a5d-ac96-774b-bcce-000000000000"), "000000000000");
}
