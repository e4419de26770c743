//! What `edit` changes and preserves.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Arc;

use expect_test::expect;
use rheon_types::Tool;
use serde_json::{Value, json};

use crate::builtin::fixture::{Fixture, call, context_of, output_of};
use crate::builtin::{EditTool, ReadTool};

fn edit(fixture: &Fixture) -> EditTool {
    EditTool::new(fixture.file_context.clone())
}

/// A workspace with the file `a`, already read.
async fn with(content: impl AsRef<[u8]>) -> Fixture {
    let fixture = Fixture::new();
    fixture.put("a", content);
    call(ReadTool::new(fixture.file_context.clone()), json!({ "path": "a" })).await.unwrap();
    fixture
}

fn one(old: &str, new: &str) -> Value {
    json!({ "path": "a", "edits": [{ "old_string": old, "new_string": new }] })
}

fn bytes(fixture: &Fixture) -> Vec<u8> {
    std::fs::read(fixture.at("a")).unwrap()
}

#[tokio::test]
async fn several_edits_are_applied_in_order() {
    let fixture = with("one\ntwo\ntwo\n").await;
    let result = call(
        edit(&fixture),
        json!({ "path": "a", "edits": [
            { "old_string": "one", "new_string": "two" },
            { "old_string": "two", "new_string": "three", "replace_all": true },
        ] }),
    )
    .await
    .unwrap();
    assert_eq!(result.as_text(), "changed a: 4 replaced, +3 -3 lines");
    assert_eq!(fixture.get("a"), "three\nthree\nthree\n");
    assert_eq!(
        result.details,
        json!({
            "path": "a", "replacements": [1, 3], "lineEnding": "lf", "otherNames": 0, "added": 3, "removed": 3,
            "diffTruncated": false,
            "diff": "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n-one\n-two\n-two\n+three\n+three\n+three\n",
        })
    );
}

#[tokio::test]
async fn if_one_edit_fails_none_is_applied() {
    let fixture = with("one\n").await;
    let inode = fixture.at("a").metadata().unwrap().ino();
    let output = output_of(
        edit(&fixture),
        json!({ "path": "a", "edits": [
            { "old_string": "one", "new_string": "two" },
            { "old_string": "one", "new_string": "three" },
        ] }),
    )
    .await;
    assert_eq!(
        output,
        "failed: a was not changed: edit 2 of 2: `old_string` is not in the file; read the file again"
    );
    assert_eq!((fixture.get("a").as_str(), fixture.at("a").metadata().unwrap().ino()), ("one\n", inode));
}

#[tokio::test]
async fn a_missing_match_gives_a_hint() {
    let fixture = with("fn main() {\n\tlet  x = 1;\n\tlet y = 2;\n}\naaa\n").await;
    let mut all = String::new();
    for (old, new) in [
        ("    let x = 1;\n    let y = 2;", "z"),
        ("fn main() {\n    nothing", "z"),
        ("2\t\tlet  x = 1;", "z"),
        ("absent", "z"),
        ("let", "var"),
        ("aa", "b"),
        ("fn", "fn"),
        ("", "b"),
    ] {
        all.push_str(&output_of(edit(&fixture), one(old, new)).await);
        all.push('\n');
    }
    let undone = json!({ "path": "a", "edits": [
        { "old_string": "main", "new_string": "start" }, { "old_string": "start", "new_string": "main" } ] });
    all.push_str(&output_of(edit(&fixture), undone).await);
    expect![[r#"
        failed: a was not changed: `old_string` is not in the file; with different whitespace it is at line 2, where the file has:
        	let  x = 1;
        	let y = 2;
        failed: a was not changed: `old_string` is not in the file; its first line matches line 1, but the rest differs: read the file again
        failed: a was not changed: `old_string` is not in the file; remove the line numbers and tabs that `read` adds
        failed: a was not changed: `old_string` is not in the file; read the file again
        failed: a was not changed: `old_string` occurs more than once (lines 2, 3); add lines around it to make it unique, or set `replace_all`
        failed: a was not changed: `old_string` occurs more than once (lines 5, 5); add lines around it to make it unique, or set `replace_all`
        failed: a was not changed: `old_string` and `new_string` are the same; nothing would change
        failed: a was not changed: `old_string` is empty; use `write` to fill an empty file
        failed: a was not changed: the edits cancel each other out; nothing would change"#]]
    .assert_eq(&all);
}

#[tokio::test]
async fn an_unread_or_changed_file_is_rejected() {
    let fixture = Fixture::new();
    fixture.put("a", "one\n");
    assert_eq!(
        output_of(edit(&fixture), one("one", "two")).await,
        "failed: a exists but was not read in this session; use `read` on it first"
    );
    let fixture = with("one\n").await;
    let modified = fixture.at("a").metadata().unwrap().modified().unwrap();
    // The user's change has the same size and time.
    fixture.put("a", "one!");
    std::fs::File::options().write(true).open(fixture.at("a")).unwrap().set_modified(modified).unwrap();
    assert_eq!(
        output_of(edit(&fixture), one("one", "two")).await,
        "failed: a changed since it was read; use `read` on it again before you change it"
    );
    assert_eq!(fixture.get("a"), "one!");
    assert_eq!(output_of(edit(&Fixture::new()), one("one", "two")).await, "failed: a does not exist");
}

#[tokio::test]
async fn mode_line_endings_bom_and_final_newline_are_preserved() {
    let fixture = with(b"\xef\xbb\xbfone\r\ntwo\r\nthree").await;
    std::fs::set_permissions(fixture.at("a"), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(
        output_of(edit(&fixture), one("one\ntwo", "1\n1.5\n2")).await,
        "changed a: 1 replaced, +3 -2 lines"
    );
    assert_eq!(bytes(&fixture), b"\xef\xbb\xbf1\r\n1.5\r\n2\r\nthree");
    assert_eq!(fixture.at("a").metadata().unwrap().mode() & 0o7777, 0o755);

    let fixture = with("one\r\ntwo\nthree\n").await;
    call(edit(&fixture), one("two", "2")).await.unwrap();
    assert_eq!(bytes(&fixture), b"one\r\n2\nthree\n");
}

#[tokio::test]
async fn files_that_are_not_utf_8_are_rejected() {
    let fixture = with(b"caf\xe9 one\n").await;
    assert_eq!(
        output_of(edit(&fixture), one("one", "two")).await,
        "failed: a is not UTF-8 text (it contains bytes that are not UTF-8); it cannot be edited as text"
    );
    assert_eq!(bytes(&fixture), b"caf\xe9 one\n");
}

#[tokio::test]
async fn a_replacement_over_the_size_limit_is_rejected() {
    let fixture = with("a".repeat(1_000)).await;
    let arguments = json!({ "path": "a", "edits": [
        { "old_string": "a", "new_string": "b".repeat(40_000), "replace_all": true }] });
    assert_eq!(
        output_of(edit(&fixture), arguments).await,
        "failed: a was not changed: the file would be larger than 33554432 bytes"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_edits_of_one_file_are_all_kept() {
    let fixture = with((0..20).map(|n| format!("line{n};\n")).collect::<String>()).await;
    let tool = Arc::new(edit(&fixture));
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let tool = Arc::clone(&tool);
            let arguments = Arc::new(one(&format!("line{n};"), &format!("done{n};")));
            tokio::spawn(async move { tool.execute(arguments, context_of("run")).await })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(fixture.get("a"), (0..20).map(|n| format!("done{n};\n")).collect::<String>());
    assert_eq!(fixture.names(), ["a"]);
}

#[tokio::test]
async fn a_preview_equals_the_change_of_the_call() {
    let fixture = with("one\n").await;
    let change = edit(&fixture).preview(&one("one", "two")).unwrap();
    assert_eq!(change.diff(), "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n");
    assert_eq!(fixture.get("a"), "one\n");
    call(edit(&fixture), one("one", "two")).await.unwrap();
    assert_eq!(bytes(&fixture), *change.after);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn owner_mode_and_attributes_are_preserved() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let fixture = Fixture::new();
    fixture.put("a", "one\n");
    std::fs::set_permissions(fixture.at("a"), std::fs::Permissions::from_mode(0o751)).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        std::os::unix::fs::chown(fixture.at("a"), Some(1234), Some(4321)).unwrap();
    }
    let flags = rustix::fs::XattrFlags::empty();
    let has_attributes = rustix::fs::setxattr(fixture.at("a"), "user.note", b"kept", flags).is_ok();
    let before = std::fs::metadata(fixture.at("a")).unwrap();
    output_of(ReadTool::new(fixture.file_context.clone()), json!({ "path": "a" })).await;
    let edits = json!({ "path": "a", "edits": [{ "old_string": "one", "new_string": "two" }] });
    output_of(EditTool::new(fixture.file_context.clone()), edits).await;
    assert_eq!(fixture.get("a"), "two\n");
    let after = std::fs::metadata(fixture.at("a")).unwrap();
    let shape = |metadata: &std::fs::Metadata| (metadata.uid(), metadata.gid(), metadata.mode());
    assert_eq!(shape(&after), shape(&before));
    if has_attributes {
        let mut value = [0; 16];
        let length = rustix::fs::getxattr(fixture.at("a"), "user.note", &mut value).unwrap();
        assert_eq!(&value[..length], b"kept");
    }
}
