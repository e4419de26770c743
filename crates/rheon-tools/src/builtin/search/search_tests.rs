//! Tests of `search`.

use std::sync::Arc;

use expect_test::{Expect, expect};
use rheon_types::Tool;
use serde_json::{Value, json};

use super::*;
use crate::builtin::testing::{context, dir, file_context};

async fn run(arguments: Value) -> String {
    let files = dir(&[
        ("src/main.rs", "fn main() {\n    println!(\"hi\");\n}\n\nfn other() {\n    main();\n}\n"),
        ("src/lib.rs", "// no main here\r\npub fn lib() {}\r\n"),
        ("notes.md", "Main idea: grün über alles\n"),
        ("image.bin", "main\0main"),
        ("target/main.rs", "fn main() {}"),
        (".gitignore", "target\n"),
        (".git/main", "main"),
        ("long.txt", &format!("main{}", "ü".repeat(1_000))),
    ]);
    let tool = SearchTool::new(file_context(files.path()));
    match tool.execute(Arc::new(arguments), context("search")).await {
        Ok(result) => format!("{}\n{}", result.as_text(), result.details),
        Err(error) => format!("{}: {error}", error.kind()),
    }
}

async fn check(arguments: Value, expected: Expect) {
    expected.assert_eq(&run(arguments).await);
}

#[tokio::test]
async fn lines_are_grouped_by_file() {
    check(
        json!({"pattern": "main", "type": "rust"}),
        expect![[r#"
        src/lib.rs
        1:// no main here

        src/main.rs
        1:fn main() {
        6:    main();
        {"complete":true,"files":2,"matches":3}"#]],
    )
    .await;
    check(
        json!({"pattern": "main", "output": "files"}),
        expect![[r#"
        long.txt
        src/lib.rs
        src/main.rs
        {"complete":true,"files":3,"matches":4}"#]],
    )
    .await;
    check(
        json!({"pattern": "main", "output": "count"}),
        expect![[r#"
        long.txt: 1
        src/lib.rs: 1
        src/main.rs: 2
        {"complete":true,"files":3,"matches":4}"#]],
    )
    .await;
}

#[tokio::test]
async fn the_lines_around_a_match_are_shown_on_request() {
    check(
        json!({"pattern": "fn ", "path": "src/main.rs", "context": 1}),
        expect![[r#"
        src/main.rs
        1:fn main() {
        2-    println!("hi");
        --
        4-
        5:fn other() {
        6-    main();
        {"complete":true,"files":1,"matches":2}"#]],
    )
    .await;
}

#[tokio::test]
async fn case_literals_and_lines_follow_the_arguments() {
    check(
        json!({"pattern": "MAIN IDEA", "ignore_case": true}),
        expect![[r#"
        notes.md
        1:Main idea: grün über alles
        {"complete":true,"files":1,"matches":1}"#]],
    )
    .await;
    check(
        json!({"pattern": "main();", "literal": true}),
        expect![[r#"
        src/main.rs
        6:    main();
        {"complete":true,"files":1,"matches":1}"#]],
    )
    .await;
    check(
        json!({"pattern": "main\\(\\) \\{.*hi", "multiline": true}),
        expect![[r#"
        src/main.rs
        1:fn main() {
        2:    println!("hi");
        {"complete":true,"files":1,"matches":1}"#]],
    )
    .await;
    check(
        json!({"pattern": "grün", "glob": ["*.md"]}),
        expect![[r#"
        notes.md
        1:Main idea: grün über alles
        {"complete":true,"files":1,"matches":1}"#]],
    )
    .await;
    check(
        json!({"pattern": "main", "glob": ["!src/**", "!long.txt"]}),
        expect![[r#"
            no matches
            {"complete":true,"files":0,"matches":0}"#]],
    )
    .await;
}

#[tokio::test]
async fn long_lines_and_many_matches_are_truncated() {
    let shown = run(json!({"pattern": "main", "path": "long.txt"})).await;
    assert!(shown.contains("ü ... (truncated)") && shown.len() < 1_000, "{shown}");
    check(
        json!({"pattern": "fn|main", "path": "src", "limit": 2}),
        expect![[r#"
            src/lib.rs
            1:// no main here
            2:pub fn lib() {}
            (2 of 5 matching lines; narrow the search to see the rest)
            {"complete":true,"files":2,"matches":5}"#]],
    )
    .await;
}

#[tokio::test]
async fn invalid_calls_give_an_error() {
    check(
        json!({"pattern": "absent"}),
        expect![[r#"
            no matches
            {"complete":true,"files":0,"matches":0}"#]],
    )
    .await;
    check(
        json!({"pattern": "main("}),
        expect![[r#"
            invalidArgs: invalid regular expression "main(": regex parse error:
                (?:main()
                ^
            error: unclosed group; escape special characters or set `literal`"#]],
    )
    .await;
    check(
        json!({"pattern": "main", "type": "klingon"}),
        expect![[
            r#"invalidArgs: unknown type "klingon": unrecognized file type: klingon; use `glob` instead"#
        ]],
    )
    .await;
    check(
        json!({"pattern": "main", "path": "/etc"}),
        expect!["denied: /etc is outside the workspace, and the call was not approved for it"],
    )
    .await;
    check(json!({"pattern": "x{1000}{1000}{1000}"}), expect![[r#"invalidArgs: invalid regular expression "x{1000}{1000}{1000}": compiled regex exceeds size limit of 16777216; escape special characters or set `literal`"#]]).await;
    check(
        json!({"pattern": 7}),
        expect![
            "invalidArgs: invalid arguments for search: pattern: invalid type: integer `7`, expected a string"
        ],
    )
    .await;
}

#[tokio::test]
async fn results_are_ordered_by_path() {
    let names: Vec<String> =
        (0..300).map(|number| format!("folder{}/file{number:03}.txt", number % 7)).collect();
    let files: Vec<(&str, &str)> =
        names.iter().map(|name| (name.as_str(), "needle\nhay\nneedle\n")).collect();
    let dir = dir(&files);
    let search = SearchTool::new(file_context(dir.path()));
    let arguments = json!({ "pattern": "needle", "limit": 5 });
    let result = search.execute(Arc::new(arguments), context("search")).await.unwrap();
    expect![[r#"
        folder0/file000.txt
        1:needle
        3:needle

        folder0/file007.txt
        1:needle
        3:needle

        folder0/file014.txt
        1:needle
        (5 of 600 matching lines; narrow the search to see the rest)"#]]
    .assert_eq(&result.as_text());
    assert_eq!(result.details, json!({ "complete": true, "files": 300, "matches": 600 }));
}

#[test]
fn only_files_that_will_be_shown_are_kept() {
    let arguments: Arguments = serde_json::from_value(json!({ "pattern": "x" })).unwrap();
    let plan = SearchPlan::new(&arguments, 10).unwrap();
    let mut results = SearchResults::default();
    for number in (0..1_000).rev() {
        let mut file = FileMatches::default();
        file.count = 3;
        results.add(format!("{number:04}").into(), file, &plan);
    }
    let kept: Vec<_> = results.shown.keys().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(kept, ["0000", "0001", "0002", "0003"]);
    assert_eq!((results.files, results.matches), (1_000, 3_000));
}

#[tokio::test]
async fn a_line_over_the_buffer_limit_is_skipped_and_reported() {
    let dir = dir(&[("small.txt", "needle\n")]);
    std::fs::write(dir.path().join("large.txt"), vec![b'a'; BUFFER_BYTES_MAX + 1]).unwrap();
    let search = SearchTool::new(file_context(dir.path()));
    let arguments = json!({ "pattern": "needle" });
    let result = search.execute(Arc::new(arguments), context("search")).await.unwrap();
    expect![[r#"
        small.txt
        1:needle

        (files skipped as unreadable or too large: 1)"#]]
    .assert_eq(&result.as_text());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn swapping_a_directory_for_a_link_lets_no_search_escape() {
    let fixture = crate::builtin::fixture::Fixture::new();
    std::fs::write(fixture.base.join("outside/secret"), "canary outside\n").unwrap();
    fixture.put("real/secret", "canary inside\n");
    let _swapping = fixture.swap();
    let mut results = 0;
    for _ in 0..500 {
        let tool = SearchTool::new(fixture.file_context.clone());
        let output = crate::builtin::fixture::output_of(tool, json!({ "pattern": "canary" })).await;
        assert!(!output.contains("outside"), "{output}");
        results += usize::from(output.contains("inside"));
    }
    assert!(results > 0);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn kernel_files_are_not_searched() {
    let fixture = crate::builtin::fixture::Fixture::with_read_scope(crate::files::ReadScope::Anywhere);
    for path in ["/proc/self/environ", "/proc/self/status"] {
        let tool = SearchTool::new(fixture.file_context.clone());
        let output = crate::builtin::fixture::output_of(tool, json!({ "pattern": ".", "path": path })).await;
        assert_eq!(output, "no matches\n(files skipped as unreadable or too large: 1)");
    }
    let tool = SearchTool::new(fixture.file_context.clone());
    let output =
        crate::builtin::fixture::output_of(tool, json!({ "pattern": "secret", "path": "../outside" })).await;
    assert!(output.ends_with("secret\n1:secret"), "{output}");
}
