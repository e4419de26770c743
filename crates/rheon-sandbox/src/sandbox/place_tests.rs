//! Tests of workspaces in odd places: without write permission, on a read-only file system, on another file system or
//! around one.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use rheon_types::CallGrant;
use tokio_util::sync::CancellationToken;

use super::{Boundary, Level, NamespaceUse, Programs, Requirement, Sandbox};
use crate::process::{Capture, OutputLimits, ProcessEnvironment, ShellLine, StopCondition, run};

/// The sandboxes of this machine for a workspace: each level that it has.
async fn sandboxes(root: &Path) -> Vec<Sandbox> {
    let all = Programs::find();
    let without_views = Programs { bwrap: None, namespaces: NamespaceUse::ProcessesOnly, ..all.clone() };
    let mut sandboxes = Vec::new();
    for (programs, level) in [(all, Level::Namespaces), (without_views, Level::Landlock)] {
        let boundary = Boundary::new([root]);
        match Sandbox::choose_with(programs, Requirement::AtLeast(level), boundary).await {
            Ok(sandbox) if sandbox.level() == level => sandboxes.push(sandbox),
            Ok(_) | Err(_) => println!("level {level} was not tested: this machine does not have it"),
        }
    }
    sandboxes
}

async fn output(sandbox: &Sandbox, root: &Path, text: &str) -> String {
    let environment = ProcessEnvironment::rebuilt([], &[]).with("PATH", "/usr/bin:/bin").with("LC_ALL", "C");
    let line = ShellLine { text: text.into(), dir: root.into(), environment };
    let limits = OutputLimits { head_bytes: 10_000, tail_bytes: 0, spill: None };
    let capture = Mutex::new(Capture::new(limits));
    let stop = StopCondition { timeout: None, cancel: CancellationToken::new() };
    let launcher = sandbox.call(&CallGrant::default()).unwrap().launcher();
    let outcome = run(&line, launcher, stop, &capture, |_| {}).await.unwrap();
    let output = capture.into_inner().unwrap().finish().head;
    format!("{output}{}", outcome.exit_code.map_or("killed".into(), |code| code.to_string()))
}

#[tokio::test]
async fn a_workspace_without_write_permission_is_read_and_never_written() {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let root = dir.path().canonicalize().unwrap().join("work");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("file"), "text\n").unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o555)).unwrap();
    for sandbox in sandboxes(&root).await {
        let shown = output(&sandbox, &root, "cat file; echo x >new").await;
        assert!(shown.starts_with("text\n") && shown.ends_with("Permission denied\n1"), "{shown}");
        assert!(!root.join("new").exists());
    }
}

/// Where the test below mounts things, in a mount namespace of its own.
const PLACE: &str = "RHEON_TEST_PLACE";

/// Mounts a read-only file system, and another one with a third inside, as a network file system would be.
const MOUNTS: &str = r#"
    set -e
    mkdir -p "$RHEON_TEST_PLACE/fixed" "$RHEON_TEST_PLACE/other"
    mount -t tmpfs none "$RHEON_TEST_PLACE/fixed"
    echo text >"$RHEON_TEST_PLACE/fixed/file"
    mount -o remount,ro "$RHEON_TEST_PLACE/fixed"
    mount -t tmpfs none "$RHEON_TEST_PLACE/other"
    mkdir "$RHEON_TEST_PLACE/other/inner"
    mount -t tmpfs none "$RHEON_TEST_PLACE/other/inner"
    echo mounted
    exec "$0" --ignored --exact --nocapture sandbox::place_tests::in_a_place_of_its_own
"#;

#[tokio::test]
#[ignore = "another test runs it where the file systems are mounted"]
async fn in_a_place_of_its_own() {
    let Some(place) = std::env::var_os(PLACE).map(PathBuf::from) else { return };
    let fixed = place.join("fixed");
    for sandbox in sandboxes(&fixed).await {
        let shown = output(&sandbox, &fixed, "cat file; echo x >new").await;
        assert!(shown.starts_with("text\n") && shown.ends_with("Read-only file system\n1"), "{shown}");
    }
    let other = place.join("other");
    for sandbox in sandboxes(&other).await {
        let shown =
            output(&sandbox, &other, "echo one >file; echo two >inner/file; cat file inner/file").await;
        assert_eq!(shown, "one\ntwo\n0", "{}", sandbox.level());
        // Nothing of what stood in for protected names is left.
        let mut left: Vec<_> = fs::read_dir(&other).unwrap().map(|it| it.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["file", "inner"]);
    }
    println!("all was tried");
}

#[test]
fn workspaces_on_read_only_and_mounted_file_systems_work_as_far_as_they_can() {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let ran = Command::new("unshare")
        .args(["--map-root-user", "--mount", "bash", "-c", MOUNTS])
        .arg(std::env::current_exe().unwrap())
        .env(PLACE, dir.path().canonicalize().unwrap())
        .output();
    let Ok(ran) = ran else { return println!("not tested: there is no unshare") };
    let (shown, problem) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    if !shown.starts_with("mounted") {
        return println!("not tested: this machine does not let us mount: {problem}");
    }
    assert!(ran.status.success() && shown.contains("all was tried"), "{shown}\n{problem}");
}
