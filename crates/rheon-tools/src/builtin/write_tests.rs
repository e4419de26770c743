//! What `write` changes, and what it leaves alone.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use rheon_types::Tool;
use serde_json::json;

use crate::builtin::stage::{Stage, call, context_of, told};
use crate::builtin::{Edit, Read, Write};

fn write(stage: &Stage) -> Write {
    Write::new(stage.workshop.clone())
}

async fn read(stage: &Stage, path: &str) {
    call(Read::new(stage.workshop.clone()), json!({ "path": path })).await.unwrap();
}

#[tokio::test]
async fn a_new_file_is_created_with_the_folders_on_the_way() {
    let stage = Stage::new();
    let result = call(write(&stage), json!({ "path": "a/b/c.txt", "content": "one\ntwo\n" })).await.unwrap();
    assert_eq!(result.as_text(), "created a/b/c.txt: 8 bytes, +2 -0 lines");
    assert_eq!(stage.get("a/b/c.txt"), "one\ntwo\n");
    assert_eq!(std::fs::read_dir(stage.at("a/b")).unwrap().count(), 1);
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
async fn an_old_file_has_to_be_read_first_and_keeps_its_mode() {
    let stage = Stage::new();
    stage.put("run.sh", "old\n");
    std::fs::set_permissions(stage.at("run.sh"), std::fs::Permissions::from_mode(0o750)).unwrap();
    let arguments = json!({ "path": "run.sh", "content": "new\n" });
    assert_eq!(
        told(write(&stage), arguments.clone()).await,
        "failed: run.sh exists and was not read in this session; use `read` on it first"
    );
    read(&stage, "run.sh").await;
    assert_eq!(told(write(&stage), arguments.clone()).await, "replaced run.sh: 4 bytes, +1 -1 lines");
    assert_eq!(stage.get("run.sh"), "new\n");
    assert_eq!(stage.at("run.sh").metadata().unwrap().mode() & 0o7777, 0o750);
    // What the session wrote it knows.
    assert_eq!(told(write(&stage), arguments).await, "replaced run.sh: 4 bytes, +0 -0 lines");
    stage.put("run.sh", "user's\n");
    assert_eq!(
        told(write(&stage), json!({ "path": "run.sh", "content": "lost" })).await,
        "failed: run.sh changed since it was read; use `read` on it again before you change it"
    );
    assert_eq!(stage.get("run.sh"), "user's\n");
}

#[tokio::test]
async fn nothing_outside_and_nothing_protected_is_written_and_nothing_is_left_behind() {
    let stage = Stage::new();
    symlink("../outside", stage.at("folder")).unwrap();
    symlink("../outside/secret", stage.at("file")).unwrap();
    symlink("../outside/new", stage.at("nothing")).unwrap();
    stage.put("a.txt", "x");
    let before = stage.names();
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
        let told = told(write(&stage), json!({ "path": path, "content": "escaped" })).await;
        all.push_str(&told.replace(&stage.base.display().to_string(), ""));
        all.push('\n');
    }
    expect![[r#"
        denied: /new is outside the workspace; only files in the workspace can be used
        denied: /outside/secret is outside the workspace; only files in the workspace can be used
        denied: /outside/new is outside the workspace; only files in the workspace can be used
        denied: /outside/secret is outside the workspace; only files in the workspace can be used
        failed: cannot resolve /repo/nothing: it is a dangling symlink
        denied: /tmp/rheon-test-escape is outside the workspace; only files in the workspace can be used
        denied: .git/config is protected (git, hooks or settings of agents): tools must not change it; ask the user to do it
        denied: .git is protected (git, hooks or settings of agents): tools must not change it; ask the user to do it
        denied: .mcp.json is protected (git, hooks or settings of agents): tools must not change it; ask the user to do it
        denied: .vscode/tasks.json is protected (git, hooks or settings of agents): tools must not change it; ask the user to do it
        denied: deep/.claude/settings.json is protected (git, hooks or settings of agents): tools must not change it; ask the user to do it
        failed: new is a folder; use `list` to see what is in it
        failed: . is a folder; use `list` to see what is in it
        failed: cannot resolve /repo/a.txt: it is a file, not a directory
    "#]]
    .assert_eq(&all);
    assert_eq!(stage.names(), before);
    assert_eq!(stage.outside(), ["secret"]);
    assert_eq!(std::fs::read_to_string(stage.base.join("outside/secret")).unwrap(), "secret\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parent_that_is_swapped_for_a_link_while_files_are_written_lets_nothing_out() {
    let stage = Stage::new();
    stage.put("real/x", "");
    let swapping = stage.swap();
    for number in 0..300 {
        // Every other time a folder has to be created too, which is done step by step.
        let path = if number % 2 == 0 { format!("real/{number}") } else { format!("real/{number}/new") };
        call(write(&stage), json!({ "path": path, "content": "x" })).await.ok();
    }
    drop(swapping);
    assert_eq!(stage.outside(), ["secret"]);
}

#[tokio::test]
async fn a_hard_link_to_a_file_outside_is_broken_not_written_through() {
    let stage = Stage::new();
    std::fs::hard_link(stage.base.join("outside/secret"), stage.at("name")).unwrap();
    read(&stage, "name").await;
    let told = told(write(&stage), json!({ "path": "name", "content": "mine\n" })).await;
    assert_eq!(
        told,
        "replaced name: 5 bytes, +1 -1 lines; it had hard links, which still name the old content"
    );
    assert_eq!(std::fs::read_to_string(stage.base.join("outside/secret")).unwrap(), "secret\n");
}

#[tokio::test]
async fn a_file_that_is_read_only_stays_as_it_is() {
    let stage = Stage::new();
    stage.put("a", "x");
    std::fs::set_permissions(stage.at("a"), std::fs::Permissions::from_mode(0o444)).unwrap();
    read(&stage, "a").await;
    let told = told(write(&stage), json!({ "path": "a", "content": "y" })).await;
    assert_eq!(told, "failed: a is read-only; its mode has to be changed first");
}

#[tokio::test]
async fn a_cancelled_call_changes_nothing_and_releases_its_claim() {
    let stage = Stage::new();
    let context = context_of("run");
    context.cancel.cancel();
    let arguments = Arc::new(json!({ "path": "a", "content": "x" }));
    let error = write(&stage).execute(arguments, context).await.unwrap_err();
    assert_eq!(error.kind(), "cancelled");
    assert_eq!(stage.names(), Vec::<String>::new());
    assert_eq!(stage.workshop.claims().holder(&stage.at("a")), None);
}

#[tokio::test]
async fn a_file_that_another_run_holds_is_refused_with_the_name_of_the_run() {
    let stage = Stage::new();
    let _claim = stage.workshop.claims().claim(&stage.at("a"), "run other", Duration::from_secs(60)).unwrap();
    let told = told(write(&stage), json!({ "path": "./a", "content": "x" })).await;
    assert_eq!(
        told,
        "failed: a is being changed by run other, for 60 s more at most; work on something else, then read it again"
    );
    assert_eq!(stage.names(), Vec::<String>::new());
}

#[tokio::test]
async fn a_preview_shows_the_change_and_makes_none() {
    let stage = Stage::new();
    let change = write(&stage).preview(&json!({ "path": "a/b", "content": "x\n" })).unwrap();
    assert_eq!(change.diff(), "--- /dev/null\n+++ b/a/b\n@@ -0,0 +1 @@\n+x\n");
    assert_eq!(stage.names(), Vec::<String>::new());
}

#[tokio::test]
async fn content_beyond_the_cap_is_refused() {
    let stage = Stage::new();
    let told = told(write(&stage), json!({ "path": "a", "content": "x".repeat(32 * 1024 * 1024 + 1) })).await;
    assert_eq!(told, "failed: 33554433 bytes are more than the 33554432 that a may have");
}

#[tokio::test]
async fn a_file_is_held_from_the_claim_until_the_call_has_ended() {
    let stage = Stage::new();
    let (one, two) = (context_of("one"), context_of("two"));
    let (path, edits) = (json!({ "path": "a", "content": "x" }), json!({ "path": "./a", "edits": [] }));
    let (write, edit) = (Write::new(stage.workshop.clone()), Edit::new(stage.workshop.for_session()));
    let hold = write.claim(&path, &one).unwrap();
    assert_eq!(stage.workshop.claims().holder(&stage.at("a")).as_deref(), Some("run one"));
    let conflict = edit.claim(&edits, &two).unwrap_err().to_string();
    assert!(conflict.starts_with("a is being changed by run one, for 60 s more at most"), "{conflict}");
    // The same run may hold a file several times, and does while it writes.
    let again = edit.claim(&edits, &one).unwrap();
    write.execute(Arc::new(path), one).await.unwrap();
    drop(hold);
    assert!(edit.claim(&edits, &two).is_err());
    drop(again);
    let _free = edit.claim(&edits, &two).unwrap();
    assert_eq!(stage.get("a"), "x");
}

#[test]
fn what_may_not_be_changed_cannot_be_claimed() {
    let stage = Stage::new();
    let write = Write::new(stage.workshop.clone());
    let mut all = String::new();
    for given in
        [json!({ "path": "../outside/secret" }), json!({ "path": ".git/config" }), json!({}), json!([])]
    {
        let error = write.claim(&given, &context_of("run")).unwrap_err();
        all.push_str(&format!("{}: {error}\n", error.kind()));
    }
    expect![[r#"
        denied: BASE/outside/secret is outside the workspace; only files in the workspace can be used
        denied: .git/config is protected (git, hooks or settings of agents): tools must not change it; ask the user to do it
        invalidArgs: invalid arguments for write: missing field `path`
        invalidArgs: invalid arguments for write: missing field `path`
    "#]].assert_eq(&all.replace(&stage.base.display().to_string(), "BASE"));
}

/// A file system with room for this many bytes; nothing where the user may not make one.
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
async fn on_a_full_disk_the_old_file_stays_whole_and_nothing_is_left_behind() {
    let stage = Stage::new();
    std::fs::create_dir(stage.at("small")).unwrap();
    let Some(_disk) = small_disk(&stage.at("small"), 256 * 1024) else {
        return eprintln!("skipped: no file system can be mounted here");
    };
    stage.put("small/a", "old\n");
    told(Read::new(stage.workshop.clone()), json!({ "path": "small/a" })).await;
    let large = "x".repeat(1024 * 1024);
    for path in ["small/a", "small/new"] {
        let said = told(Write::new(stage.workshop.clone()), json!({ "path": path, "content": large })).await;
        assert_eq!(said, format!("failed: cannot write {path}: No space left on device (os error 28)"));
    }
    assert_eq!(stage.get("small/a"), "old\n");
    let names: Vec<_> =
        std::fs::read_dir(stage.at("small")).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(names, ["a"]);
    let said =
        told(Write::new(stage.workshop.clone()), json!({ "path": "small/a", "content": "new\n" })).await;
    assert!(said.starts_with("replaced small/a"), "{said}");
    // The same for what the user trusts: nothing half written, and the old word still counts.
    let store = rheon_policy::trust::TrustStore::open(stage.at("small/trust.json")).unwrap();
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join(".mcp.json"), "{}").unwrap();
    let content = rheon_policy::trust::ProjectContent::gather(project.path()).unwrap();
    store.grant(&content).unwrap();
    stage.put("small/filling", "x");
    let filling = std::fs::File::options().write(true).open(stage.at("small/filling")).unwrap();
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
