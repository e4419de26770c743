//! Tests of which lines open a repository.

use super::{RepositoryUse, repository_use};
use crate::shell::analyze;

fn all(expected: RepositoryUse, lines: &[&str]) {
    let other: Vec<_> = lines
        .iter()
        .map(|line| (*line, repository_use(&analyze(line))))
        .filter(|(_, found)| *found != expected)
        .collect();
    assert_eq!(other, []);
}

#[test]
fn plain_commands_of_git_change_a_repository_alone_or_beside_looks() {
    all(
        RepositoryUse::Plain,
        &[
            "git commit -m 'a message'",
            "git add -A && git commit -m \"one\" -m \"two\"",
            "cd sub && git add . && git status",
            "git add 'src/*.rs' 2>/dev/null; git diff --cached --stat | head -20",
            "git -C /srv/place commit -am x 2>&1 | tail -3",
            "git --no-pager checkout -b topic",
            "/usr/bin/git stash",
            "git stash pop",
            "git switch -c other || git switch other",
            "git rebase main",
            "git merge --no-edit topic",
            "timeout 60 git pull",
            "git commit -F - <<'EOF'\na message\nEOF",
            "git push --force",
            "# a comment\ngit tag v1",
        ],
    );
}

#[test]
fn whatever_is_not_fully_understood_opens_nothing() {
    all(
        RepositoryUse::Unclear,
        &[
            "git -c core.hooksPath=x commit -m x",
            "eval git commit",
            "git --git-dir=other commit -m x",
            "git --exec-path=. commit -m x",
            "git config core.hooksPath x",
            "git commit -m x && git config core.hooksPath x",
            "git frobnicate",
            "git ci -m x",
            "GIT_DIR=x git commit -m x",
            "env GIT_CONFIG_COUNT=1 git commit -m x",
            "export GIT_DIR=x; git commit -m x",
            "git commit -m \"$(cat message)\"",
            "git commit -m `date`",
            "git commit -m $message",
            "git add *.rs",
            "git commit -m x | sh",
            "git log --format=%B | sh; git commit -m x",
            "make && git commit -m x",
            "git commit -m x; touch y",
            "git commit -m x > log",
            "git commit -m x >> .git/hooks/pre-commit",
            "git rebase -x 'touch y' main",
            "git rebase --ex 'touch y' main",
            "git rebase -i main",
            "git fetch --upload-pack=./x origin",
            "git() { touch y; }; git commit -m x",
            "alias git=x; git commit -m x",
            "sh -c 'git commit -m x'",
            "sudo git commit -m x",
            "./git commit -m x",
            "find . -name x -exec git add {} +",
            "ls | xargs git add",
            "for f in a b; do git add $f; done",
            "git bisect run ./x",
            "git submodule add x",
            "git worktree add ../x",
            "git init",
        ],
    );
}

#[test]
fn lines_that_only_look_are_as_before() {
    all(
        RepositoryUse::Untouched,
        &[
            "git status",
            "git branch",
            "git branch -a",
            "git log | head",
            "git stash list",
            "cargo test",
            "$x",
            "",
        ],
    );
}
