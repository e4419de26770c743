//! What `write` changes and preserves.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use rheon_types::Tool;
use serde_json::json;

use crate::builtin::fixture::{Fixture, call, context_of, output_of};
use crate::builtin::{EditTool, ReadTool, WriteTool};

fn write(fixture: &Fixture) -> WriteTool {
    WriteTool::new(fixture.file_context.clone())
}

async fn read(fixture: &Fixture, path: &str) {
    call(ReadTool::new(fixture.file_context.clone()), json!({ "path": path })).await.unwrap();
}

#[tokio::test]
async fn a_new_file_is_created_with_its_parent_directories() {
    let fixture = Fixture::new();
    let result =
        call(write(&fixture), json!({ "path": "a/b/c.txt", "content": "one\ntwo\n" })).await.unwrap();
    assert_eq!(result.as_text(), "created a/b/c.txt: 8 bytes, +2 -0 lines");
    assert_eq!(fixture.get("a/b/c.txt"), "one\ntwo\n");
    assert_eq!(std::fs::read_dir(fixture.at("a/b")).unwrap().count(), 1);
    assert_eq!(result.details["created"], json!(true));
    expect![[r#"
        --- /dev/null
        +++ b/a/b/c.txt
        @@ -0,0 +1,2 @@
        +one
        +two
    "#]]
    .assert_eq(result.details["diff"].as_str().unwrap());
}

#[tokio::test]
async fn an_existing_file_must_be_read_first_and_keeps_its_mode() {
    let fixture = Fixture::new();
    fixture.put("run.sh", "old\n");
    std::fs::set_permissions(fixture.at("run.sh"), std::fs::Permissions::from_mode(0o750)).unwrap();
    let arguments = json!({ "path": "run.sh", "content": "new\n" });
    assert_eq!(
        output_of(write(&fixture), arguments.clone()).await,
        "failed: run.sh exists but was not read in this session; use `read` on it first"
    );
    read(&fixture, "run.sh").await;
    assert_eq!(output_of(write(&fixture), arguments.clone()).await, "replaced run.sh: 4 bytes, +1 -1 lines");
    assert_eq!(fixture.get("run.sh"), "new\n");
    assert_eq!(fixture.at("run.sh").metadata().unwrap().mode() & 0o7777, 0o750);
    // The session knows what it wrote.
    assert_eq!(output_of(write(&fixture), arguments).await, "replaced run.sh: 4 bytes, +0 -0 lines");
    fixture.put("run.sh", "user's\n");
    assert_eq!(
        output_of(write(&fixture), json!({ "path": "run.sh", "content": "lost" })).await,
        "failed: run.sh changed since it was read; use `read` on it again before you change it"
    );
    assert_eq!(fixture.get("run.sh"), "user's\n");
}

#[tokio::test]
async fn nothing_outside_or_protected_is_written() {
    let fixture = Fixture::new();
    symlink("../outside", fixture.at("folder")).unwrap();
    symlink("../outside/secret", fixture.at("file")).unwrap();
    symlink("../outside/new", fixture.at("nothing")).unwrap();
    fixture.put("a.txt", "x");
    let before = fixture.names();
    let mut all = String::new();
    for path in [
        "../new",
        "../outside/secret",
        "folder/new",
        "file",
        "nothing",
        "/tmp/rheon-test-escape",
        ".git/config",
        ".git",
        ".mcp.json",
        ".vscode/tasks.json",
        "deep/.claude/settings.json",
        "new/",
        ".",
        "a.txt/b",
    ] {
        let output = output_of(write(&fixture), json!({ "path": path, "content": "escaped" })).await;
        all.push_str(&output.replace(&fixture.base.display().to_string(), ""));
        all.push('\n');
    }
    expect![[r#"
        denied: /new is outside the workspace, and the call was not approved for it
        denied: /outside/secret is outside the workspace, and the call was not approved for it
        denied: /outside/new is outside the workspace, and the call was not approved for it
        denied: /outside/secret is outside the workspace, and the call was not approved for it
        failed: cannot resolve /repo/nothing: it is a dangling symlink
        denied: /tmp/rheon-test-escape is outside the workspace, and the call was not approved for it
        denied: .git/config is protected (git, hooks or agent settings), and the call was not approved for it; ask the user to change it
        denied: .git is protected (git, hooks or agent settings), and the call was not approved for it; ask the user to change it
        denied: .mcp.json is protected (git, hooks or agent settings), and the call was not approved for it; ask the user to change it
        denied: .vscode/tasks.json is protected (git, hooks or agent settings), and the call was not approved for it; ask the user to change it
        denied: deep/.claude/settings.json is protected (git, hooks or agent settings), and the call was not approved for it; ask the user to change it
        failed: new is a directory; use `list` to see its entries
        failed: . is a directory; use `list` to see its entries
        failed: cannot resolve /repo/a.txt: it is a file, not a directory
    "#]]
    .assert_eq(&all);
    assert_eq!(fixture.names(), before);
    assert_eq!(fixture.outside(), ["secret"]);
    assert_eq!(std::fs::read_to_string(fixture.base.join("outside/secret")).unwrap(), "secret\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swapping_a_directory_for_a_link_lets_no_write_escape() {
    let fixture = Fixture::new();
    fixture.put("real/x", "");
    let swapping = fixture.swap();
    for number in 0..300 {
        // Every other time a directory has to be created too.
        let path = if number % 2 == 0 { format!("real/{number}") } else { format!("real/{number}/new") };
        call(write(&fixture), json!({ "path": path, "content": "x" })).await.ok();
    }
    drop(swapping);
    assert_eq!(fixture.outside(), ["secret"]);
}

#[tokio::test]
async fn a_hard_link_to_an_outside_file_is_broken() {
    let fixture = Fixture::new();
    std::fs::hard_link(fixture.base.join("outside/secret"), fixture.at("name")).unwrap();
    read(&fixture, "name").await;
    let output = output_of(write(&fixture), json!({ "path": "name", "content": "mine\n" })).await;
    assert_eq!(
        output,
        "replaced name: 5 bytes, +1 -1 lines; it had hard links, which still point to the old content"
    );
    assert_eq!(std::fs::read_to_string(fixture.base.join("outside/secret")).unwrap(), "secret\n");
}

#[tokio::test]
async fn a_read_only_file_is_not_changed() {
    let fixture = Fixture::new();
    fixture.put("a", "x");
    std::fs::set_permissions(fixture.at("a"), std::fs::Permissions::from_mode(0o444)).unwrap();
    read(&fixture, "a").await;
    let output = output_of(write(&fixture), json!({ "path": "a", "content": "y" })).await;
    assert_eq!(output, "failed: a is read-only; change its mode first");
}

#[tokio::test]
async fn a_cancelled_call_changes_nothing_and_releases_its_claim() {
    let fixture = Fixture::new();
    let context = context_of("run");
    context.cancel.cancel();
    let arguments = Arc::new(json!({ "path": "a", "content": "x" }));
    let error = write(&fixture).execute(arguments, context).await.unwrap_err();
    assert_eq!(error.kind(), "cancelled");
    assert_eq!(fixture.names(), Vec::<String>::new());
    assert_eq!(fixture.file_context.claims().holder(&fixture.at("a")), None);
}

#[tokio::test]
async fn a_file_claimed_by_another_run_names_that_run() {
    let fixture = Fixture::new();
    let _claim =
        fixture.file_context.claims().claim(&fixture.at("a"), "run other", Duration::from_secs(60)).unwrap();
    let output = output_of(write(&fixture), json!({ "path": "./a", "content": "x" })).await;
    assert_eq!(
        output,
        "failed: a is being changed by run other for up to 60 s; work on something else, then read it again"
    );
    assert_eq!(fixture.names(), Vec::<String>::new());
}

#[tokio::test]
async fn a_preview_writes_nothing() {
    let fixture = Fixture::new();
    let change = write(&fixture).preview(&json!({ "path": "a/b", "content": "x\n" })).unwrap();
    assert_eq!(change.diff(), "--- /dev/null\n+++ b/a/b\n@@ -0,0 +1 @@\n+x\n");
    assert_eq!(fixture.names(), Vec::<String>::new());
}

#[tokio::test]
async fn content_over_the_limit_is_rejected() {
    let fixture = Fixture::new();
    let output_of =
        output_of(write(&fixture), json!({ "path": "a", "content": "x".repeat(32 * 1024 * 1024 + 1) })).await;
    assert_eq!(output_of, "failed: a would have 33554433 bytes; the limit is 33554432");
}

#[tokio::test]
async fn a_file_is_claimed_until_the_call_ends() {
    let fixture = Fixture::new();
    let (one, two) = (context_of("one"), context_of("two"));
    let (path, edits) = (json!({ "path": "a", "content": "x" }), json!({ "path": "./a", "edits": [] }));
    let (write, edit) =
        (WriteTool::new(fixture.file_context.clone()), EditTool::new(fixture.file_context.for_session()));
    let hold = write.claim(&path, &one).unwrap();
    assert_eq!(fixture.file_context.claims().holder(&fixture.at("a")).as_deref(), Some("run one"));
    let conflict = edit.claim(&edits, &two).unwrap_err().to_string();
    assert!(conflict.starts_with("a is being changed by run one for up to 60 s"), "{conflict}");
    // One run may claim a file several times, and does so while it writes.
    let again = edit.claim(&edits, &one).unwrap();
    write.execute(Arc::new(path), one).await.unwrap();
    drop(hold);
    assert!(edit.claim(&edits, &two).is_err());
    drop(again);
    let _free = edit.claim(&edits, &two).unwrap();
    assert_eq!(fixture.get("a"), "x");
}

#[test]
fn files_that_cannot_be_changed_cannot_be_claimed() {
    let fixture = Fixture::new();
    let write = WriteTool::new(fixture.file_context.clone());
    let mut all = String::new();
    for given in
        [json!({ "path": "../outside/secret" }), json!({ "path": ".git/config" }), json!({}), json!([])]
    {
        let error = write.claim(&given, &context_of("run")).unwrap_err();
        all.push_str(&format!("{}: {error}\n", error.kind()));
    }
    expect![[r#"
        denied: BASE/outside/secret is outside the workspace, and the call was not approved for it
        denied: .git/config is protected (git, hooks or agent settings), and the call was not approved for it; ask the user to change it
        invalidArgs: invalid arguments for write: missing field `path`
        invalidArgs: invalid arguments for write: missing field `path`
    "#]].assert_eq(&all.replace(&fixture.base.display().to_string(), "BASE"));
}

/// A file system with this much space, or `None` if mounting is not permitted.
#[cfg(target_os = "linux")]
fn small_disk(at: &std::path::Path, bytes: usize) -> Option<impl Drop + use<>> {
    struct Mounted(std::path::PathBuf);
    impl Drop for Mounted {
        fn drop(&mut self) {
            drop(std::process::Command::new("umount").arg("-l").arg(&self.0).status());
        }
    }
    let mount = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"])
        .arg(at)
        .stderr(std::process::Stdio::null())
        .status();
    mount.is_ok_and(|status| status.success()).then(|| Mounted(at.to_owned()))
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_leaves_the_old_file_intact() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.at("small")).unwrap();
    let Some(_disk) = small_disk(&fixture.at("small"), 256 * 1024) else {
        return eprintln!("skipped: no file system can be mounted here");
    };
    fixture.put("small/a", "old\n");
    output_of(ReadTool::new(fixture.file_context.clone()), json!({ "path": "small/a" })).await;
    let large = "x".repeat(1024 * 1024);
    for path in ["small/a", "small/new"] {
        let output = output_of(
            WriteTool::new(fixture.file_context.clone()),
            json!({ "path": path, "content": large }),
        )
        .await;
        assert_eq!(output, format!("failed: cannot write {path}: No space left on device (os error 28)"));
    }
    assert_eq!(fixture.get("small/a"), "old\n");
    let names: Vec<_> =
        std::fs::read_dir(fixture.at("small")).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(names, ["a"]);
    let output = output_of(
        WriteTool::new(fixture.file_context.clone()),
        json!({ "path": "small/a", "content": "new\n" }),
    )
    .await;
    assert!(output.starts_with("replaced small/a"), "{output}");
    // The same for the trust store: nothing is half written, and old grants stay valid.
    let store = rheon_policy::trust::TrustStore::open(fixture.at("small/trust.json")).unwrap();
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join(".mcp.json"), "{}").unwrap();
    let content = rheon_policy::trust::ProjectContent::gather(project.path()).unwrap();
    store.grant(&content).unwrap();
    fixture.put("small/filling", "x");
    let filling = std::fs::File::options().write(true).open(fixture.at("small/filling")).unwrap();
    let mut filled = 0;
    while std::os::unix::fs::FileExt::write_at(&filling, &[1; 4_096], filled).is_ok_and(|count| count > 0) {
        filled += 4_096;
    }
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join(".mcp.json"), "{}").unwrap();
    let granted = store.grant(&rheon_policy::trust::ProjectContent::gather(other.path()).unwrap());
    assert!(granted.unwrap_err().to_string().contains("No space left"));
    assert!(store.check(&content).unwrap().is_trusted());
}
