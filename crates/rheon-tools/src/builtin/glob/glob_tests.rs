//! Tests of `glob`.

use std::sync::Arc;

use expect_test::{Expect, expect};
use rheon_types::Tool;
use serde_json::{Value, json};

use super::*;
use crate::builtin::testing::{context, dir, file_context};

async fn run(arguments: Value) -> String {
    let files = dir(&[
        ("src/main.rs", "fn main() {}"),
        ("src/deep/mod.rs", ""),
        ("src/deep/note.md", ""),
        (".hidden.rs", ""),
        ("target/debug/x.rs", ""),
        (".gitignore", "target\n"),
        (".git/config.rs", ""),
        ("odd name {1}.rs", ""),
    ]);
    let tool = GlobTool::new(file_context(files.path()));
    match tool.execute(Arc::new(arguments), context("glob")).await {
        Ok(result) => format!("{}\n{}", result.as_text(), result.details),
        Err(error) => format!("{}: {error}", error.kind()),
    }
}

async fn check(arguments: Value, expected: Expect) {
    expected.assert_eq(&run(arguments).await);
}

#[tokio::test]
async fn names_match_in_all_directories_that_git_does_not_ignore() {
    check(
        json!({"pattern": "*.rs"}),
        expect![[r#"
            .hidden.rs
            odd name {1}.rs
            src/deep/mod.rs
            src/main.rs
            {"files":4,"shown":4}"#]],
    )
    .await;
}

#[tokio::test]
async fn a_pattern_with_a_slash_is_relative_to_the_directory() {
    check(
        json!({"pattern": "src/*.rs"}),
        expect![[r#"
        src/main.rs
        {"files":1,"shown":1}"#]],
    )
    .await;
    check(
        json!({"pattern": "**/*.{rs,md}", "path": "src/deep"}),
        expect![[r#"
        src/deep/mod.rs
        src/deep/note.md
        {"files":2,"shown":2}"#]],
    )
    .await;
}

#[tokio::test]
async fn a_limit_is_told() {
    check(
        json!({"pattern": "*.rs", "limit": 1}),
        expect![[r#"
            .hidden.rs
            (1 of 4 files; narrow the pattern to see the rest)
            {"files":4,"shown":1}"#]],
    )
    .await;
}

#[tokio::test]
async fn invalid_calls_give_an_error() {
    check(
        json!({"pattern": "*.py"}),
        expect![[r#"
            no files match in .
            {"files":0,"shown":0}"#]],
    )
    .await;
    check(json!({"pattern": "a{b"}), expect![[r#"invalidArgs: invalid pattern "a{b": error parsing glob 'a{b': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"#]]).await;
    check(
        json!({"pattern": "*", "path": "/etc"}),
        expect!["denied: /etc is outside the workspace, and the call was not approved for it"],
    )
    .await;
    check(
        json!({"pattern": "*", "path": "absent"}),
        expect!["failed: absent does not exist; list its parent directory"],
    )
    .await;
    check(json!({"pattern": "*", "path": ""}), expect![[r#"failed: invalid path "": it is empty"#]]).await;
}
