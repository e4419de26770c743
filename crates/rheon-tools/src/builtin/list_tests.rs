//! What `list` shows.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use expect_test::expect;
use serde_json::json;

use crate::builtin::ListTool;
use crate::builtin::fixture::{Fixture, call, output_of};

fn list(fixture: &Fixture) -> ListTool {
    ListTool::new(fixture.file_context.clone())
}

fn tree() -> Fixture {
    let fixture = Fixture::new();
    for (path, content) in [
        ("src/lib.rs", "lib"),
        ("src/deep/x.rs", ""),
        ("src.txt", "12"),
        ("target/out", "x"),
        (".gitignore", "target\n"),
        (".git/HEAD", "ref"),
        (".hidden", ""),
    ] {
        fixture.put(path, content);
    }
    symlink("../outside", fixture.at("link")).unwrap();
    fixture
}

#[tokio::test]
async fn entries_are_sorted_with_kinds_and_sizes() {
    let fixture = tree();
    let result = call(list(&fixture), json!({})).await.unwrap();
    expect![[r#"
        .git/
        .gitignore	7
        .hidden	0
        link -> ../outside
        src/
        src.txt	2
    "#]]
    .assert_eq(&result.as_text());
    assert_eq!(result.details["entries"][1], json!({ "kind": "file", "name": ".gitignore", "bytes": 7 }));
    assert_eq!((&result.details["omitted"], &result.details["complete"]), (&json!(0), &json!(true)));
}

#[tokio::test]
async fn deeper_levels_skip_git_and_links() {
    expect![[r#"
        .git/
        .gitignore	7
        .hidden	0
        link -> ../outside
        src/
        src/deep/
        src/deep/x.rs	0
        src/lib.rs	3
        src.txt	2
        target/
        target/out	1
    "#]]
    .assert_eq(&output_of(list(&tree()), json!({ "depth": 5, "include_ignored": true })).await);
}

#[tokio::test]
async fn invalid_list_calls_give_an_error() {
    let fixture = tree();
    std::fs::create_dir(fixture.at("empty")).unwrap();
    let mut all = String::new();
    for path in ["empty", "missing", "src.txt", "link", "..", "/"] {
        let output = output_of(list(&fixture), json!({ "path": path })).await;
        all.push_str(&output.replace(&fixture.base.display().to_string(), "BASE"));
        all.push('\n');
    }
    expect![[r#"
        [empty is empty or fully ignored]
        failed: directory missing does not exist
        failed: src.txt is not a directory; use `read` for files
        denied: BASE/outside is outside the workspace, and the call was not approved for it
        denied: BASE is outside the workspace, and the call was not approved for it
        denied: / is outside the workspace, and the call was not approved for it
    "#]]
    .assert_eq(&all);
}

#[tokio::test]
async fn unusual_names_are_escaped() {
    let fixture = Fixture::new();
    fixture.put("a\nb", "");
    std::fs::write(fixture.at("").join(OsStr::from_bytes(b"caf\xe9")), "").unwrap();
    fixture.put("-rf", "");
    assert_eq!(output_of(list(&fixture), json!({})).await, "-rf\t0\na\\nb\t0\ncaf\\xe9\t0\n");
}

#[tokio::test]
async fn at_the_limit_the_rest_is_counted() {
    let fixture = Fixture::new();
    for number in 0..1_003 {
        fixture.put(&format!("{number:04}"), "");
    }
    let result = call(list(&fixture), json!({})).await.unwrap();
    assert_eq!(result.as_text().lines().count(), 1_001);
    assert!(result.as_text().ends_with("[3 more entries; list a subdirectory, or use `glob`]"));
    assert_eq!((&result.details["omitted"], &result.details["complete"]), (&json!(3), &json!(false)));
}
