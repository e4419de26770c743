//! Gate and file tools together: what is read is what the gate judged, however files and links are swapped meanwhile.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rheon_policy::{
    Document, PatternRoots, Policy, PolicyGate, PolicySource, PolicyTrust, RuleSource, ShellAnalyzer,
};
use rheon_testkit::TestClock;
use rheon_tools::file_tools;
use rheon_tools::files::FileContext;
use rheon_types::{Answer, Effect, Gate, GateDecision, GateRequest, Tool, ToolCall, ToolContext, Verdict};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A workspace in which `secrets` may not be read, with links that lead there.
struct Fixture {
    _dir: TempDir,
    root: PathBuf,
    gate: PolicyGate,
    tools: Vec<Arc<dyn Tool>>,
}

fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("secrets/inner")).unwrap();
    fs::create_dir_all(root.join("directory")).unwrap();
    for (path, text) in [
        ("secrets/key", "canary secret\n"),
        ("secrets/inner/note", "canary secret\n"),
        ("directory/key", "canary public\n"),
        ("file", "canary public\n"),
    ] {
        fs::write(root.join(path), text).unwrap();
    }
    symlink("secrets/key", root.join("file-link")).unwrap();
    symlink("secrets", root.join("directory-link")).unwrap();
    let text = r#"{"permissions":{"deny":["Read(./secrets/**)"]}}"#;
    let document = Document::parse("settings.json", text).unwrap();
    let source = PolicySource { source: RuleSource::User, dir: root.clone(), document };
    let roots = PatternRoots { working_dir: root.clone(), home: None };
    let policy = Policy::new(vec![source], roots, PolicyTrust::Trusted, ShellAnalyzer::default()).unwrap();
    let workspace = policy.workspace().unwrap();
    let hides = policy.clone();
    let context = FileContext::new(workspace.clone(), Arc::new(TestClock::default()))
        .excluding(move |path| hides.hides(path));
    let gate = PolicyGate::new(policy, Arc::new(workspace));
    Fixture { _dir: dir, root, gate, tools: file_tools(&context) }
}

/// Exchanges a file or directory and the link beside it.
fn swap(root: &Path, name: &str) {
    let (one, two) = (root.join(name), root.join(format!("{name}-link")));
    let flags = rustix::fs::RenameFlags::EXCHANGE;
    rustix::fs::renameat_with(rustix::fs::CWD, &one, rustix::fs::CWD, &two, flags).unwrap();
}

/// All ways to see the content of what is swapped: the tool, its arguments, and what is swapped.
fn calls() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("read", json!({ "path": "file" }), "file"),
        ("read", json!({ "path": "directory/key" }), "directory"),
        ("search", json!({ "pattern": "canary" }), "file"),
        ("search", json!({ "pattern": "canary", "path": "file" }), "file"),
        ("search", json!({ "pattern": "canary" }), "directory"),
        ("search", json!({ "pattern": "canary", "path": "directory" }), "directory"),
        ("search", json!({ "pattern": "canary", "path": "directory/key" }), "directory"),
    ]
}

impl Fixture {
    /// One call as the loop makes it. `between` runs after the gate has judged it and before the tool runs.
    async fn output(&self, name: &str, arguments: &Value, between: impl FnOnce()) -> String {
        let tool = self.tools.iter().find(|tool| tool.name() == name).unwrap();
        let arguments = Arc::new(arguments.clone());
        let call = ToolCall {
            id: "call".into(),
            name: name.into(),
            arguments: Arc::clone(&arguments),
            malformed: None,
            key_order: None,
        };
        let request = GateRequest { call: &call, tool: &**tool, effect: Effect::Pure };
        let Answer::Now(GateDecision { verdict, facts, grant, .. }) = self.gate.check(request) else {
            panic!("the gate answers at once");
        };
        between();
        if verdict != Verdict::Allow {
            return "not allowed".into();
        }
        let context = ToolContext::new(call.id, call.name).in_run("session", "run").with_facts(facts);
        match tool.execute(arguments, context.with_grant(grant)).await {
            Ok(result) => result.as_text(),
            Err(error) => format!("{}: {error}", error.kind()),
        }
    }
}

#[tokio::test]
async fn a_file_that_is_swapped_for_a_link_after_the_judgement_is_not_followed() {
    for (name, arguments, swapped) in calls() {
        let fixture = fixture();
        let before = fixture.output(name, &arguments, || {}).await;
        assert!(
            before.contains("canary public") && !before.contains("secret"),
            "{name} {arguments}: {before}"
        );
        let after = fixture.output(name, &arguments, || swap(&fixture.root, swapped)).await;
        assert!(!after.contains("canary secret"), "{name} {arguments}: {after}");
        // And the link itself is judged by what it leads to.
        let link = fixture.output(name, &arguments, || {}).await;
        assert!(!link.contains("canary secret"), "{name} {arguments}: {link}");
        let back = fixture.output(name, &arguments, || swap(&fixture.root, swapped)).await;
        assert!(!back.contains("canary secret"), "{name} {arguments}: {back}");
    }
}

/// How often each call is tried while another thread swaps.
const ROUNDS: usize = 300;

#[tokio::test]
async fn files_that_are_swapped_all_the_time_leak_nothing() {
    for (name, arguments, swapped) in calls() {
        let fixture = fixture();
        let (stop, root) = (Arc::new(AtomicBool::new(false)), fixture.root.clone());
        let seen = Arc::clone(&stop);
        let swapping = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                swap(&root, swapped);
            }
        });
        let mut leaked = None;
        for _ in 0..ROUNDS {
            let output = fixture.output(name, &arguments, || {}).await;
            leaked = leaked.or(output.contains("canary secret").then_some(output));
        }
        stop.store(true, Ordering::Relaxed);
        swapping.join().unwrap();
        assert_eq!(leaked, None, "{name} {arguments}");
    }
}
