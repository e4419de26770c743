//! Hooks of a project inside the sandbox.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rheon_policy::trust::{ProjectContent, TrustStore, load_project_hooks};
use rheon_sandbox::{Boundary, Level, Requirement, Sandbox};
use rheon_testkit::TestClock;
use rheon_types::{Flow, History, Hook as _, HookVerdict};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::hooks::fixtures::bash;
use crate::hooks::{CommandHooks, HookContext, HookEnvironment, HookFacts, SessionStartSource};

struct Project {
    dir: TempDir,
    root: PathBuf,
    messages: Arc<Mutex<Vec<String>>>,
}

impl Project {
    fn new(hooks: Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("project");
        let project = Self { dir, root, messages: Arc::default() };
        project.write(".claude/settings.json", &json!({ "hooks": hooks }).to_string());
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn store(&self) -> TrustStore {
        TrustStore::open(self.dir.path().join("trust.json")).unwrap()
    }

    fn trust(&self) {
        self.store().grant(&ProjectContent::gather(&self.root).unwrap()).unwrap();
    }

    fn outside(&self) -> PathBuf {
        self.root.with_file_name("outside")
    }

    /// The hooks, in the strongest sandbox of the machine. `None` if it has none.
    async fn hooks(&self) -> Option<CommandHooks> {
        let boundary = Boundary::new([&self.root]);
        let required = Requirement::AtLeast(Level::Namespaces);
        let sandbox = Sandbox::choose(required, boundary).await.ok()?;
        let context = HookContext {
            session_id: "s".into(),
            transcript_path: None,
            cwd: self.root.clone(),
            project: self.root.clone(),
            home: None,
            source: SessionStartSource::Startup,
            facts: Arc::new(HookFacts::default),
            environment: HookEnvironment::default().with("PATH", "/usr/local/bin:/usr/bin:/bin"),
            clock: Arc::new(TestClock::default()),
        };
        let settings = load_project_hooks(&self.root, &self.store()).unwrap().settings;
        assert!(!settings.is_empty(), "not trusted");
        let messages = Arc::clone(&self.messages);
        let hooks = CommandHooks::with_messages(settings, context, move |message| {
            messages.lock().unwrap().push(message.to_string());
        });
        Some(hooks.in_sandbox(sandbox))
    }
}

fn on_tools(hook: Value) -> Value {
    json!({ "PreToolUse": [{ "hooks": [hook] }] })
}

/// A script that does in the sandbox what it cannot do outside of the project, and answers.
fn script(outside: &Path) -> String {
    format!("echo evil > {}\necho ran > ran\necho no >&2\nexit 2\n", outside.display())
}

#[tokio::test]
async fn what_a_trusted_hook_sources_imports_or_calls_runs_inside_the_sandbox() {
    for (line, file) in [
        ("sh .claude/hooks/check.sh", "lib.sh"),
        ("make -s lint", "lint.sh"),
        ("cat config | sh", "config"),
        ("sh -c 'exec sh $(ls tools/*)'", "tools/any"),
    ] {
        let project = Project::new(on_tools(json!({ "type": "command", "command": line })));
        project.write(".claude/hooks/check.sh", ". ./lib.sh");
        project.write("Makefile", "lint:\n\t@sh lint.sh\n");
        project.write(file, "exit 0\n");
        project.trust();
        let Some(hooks) = project.hooks().await else { return };
        // The model changes what the hook uses.
        project.write(file, &script(&project.outside()));
        let verdict = hooks.permit_tool(&bash("ls")).get().await.verdict;
        let has_run = project.root.join("ran").exists();
        assert!(!project.outside().exists(), "{line}");
        let is_named = line.contains("config");
        if is_named {
            // A file that the command names is part of what was trusted.
            assert!(!has_run && matches!(verdict, Some(HookVerdict::Deny(_))), "{line}: {verdict:?}");
        } else {
            assert!(has_run && matches!(verdict, Some(HookVerdict::Deny(_))), "{line}: {verdict:?}");
        }
    }
}

#[tokio::test]
async fn a_hook_outside_the_sandbox_runs_only_in_an_unchanged_project() {
    let hook = json!({ "type": "command", "command": "sh .claude/hooks/check.sh", "sandbox": false });
    let project = Project::new(on_tools(hook));
    project.write(".claude/hooks/check.sh", "echo x >> .claude/hooks/check.log; . ./lib.sh");
    project.write("lib.sh", &format!("echo ran > {}\n", project.outside().display()));
    project.trust();
    let Some(hooks) = project.hooks().await else { return };
    for _ in 0..2 {
        assert_eq!(hooks.permit_tool(&bash("ls")).get().await.verdict, None, "{:?}", project.messages);
    }
    assert!(project.outside().exists());
    std::fs::remove_file(project.outside()).unwrap();
    project.write("other.py", "print()");
    for hooks in [Some(hooks), project.hooks().await].into_iter().flatten() {
        let verdict = hooks.permit_tool(&bash("ls")).get().await.verdict;
        let Some(HookVerdict::Deny(why)) = verdict else { panic!("{verdict:?}") };
        assert!(why.contains("the project changed since it was trusted"), "{why}");
        assert!(!project.outside().exists());
    }
    project.trust();
    let Some(hooks) = project.hooks().await else { return };
    assert_eq!(hooks.permit_tool(&bash("ls")).get().await.verdict, None);
}

#[tokio::test]
async fn a_log_beside_a_hook_is_not_part_of_what_was_trusted() {
    let project = Project::new(on_tools(json!({ "type": "command", "command": ".claude/hooks/check.sh" })));
    project.write(".claude/hooks/check.sh", "exit 0");
    project.write(".claude/hooks/check.log", "one");
    project.trust();
    project.write(".claude/hooks/check.log", "two");
    project.write(".claude/hooks/check.log.1", "one");
    let loaded = load_project_hooks(&project.root, &project.store()).unwrap();
    assert!(loaded.trust.is_trusted(), "{}", loaded.trust);
    project.write(".claude/hooks/more.sh", "exit 0");
    assert!(!load_project_hooks(&project.root, &project.store()).unwrap().trust.is_trusted());
}

#[tokio::test]
async fn a_stop_hook_that_cannot_run_lets_the_run_stop() {
    let hook = json!({ "type": "command", "command": "sh .claude/hooks/stop.sh", "onFailure": "block" });
    let project = Project::new(json!({ "Stop": [{ "hooks": [hook] }] }));
    project.write(".claude/hooks/stop.sh", "exit 2");
    project.trust();
    let Some(hooks) = project.hooks().await else { return };
    assert!(matches!(hooks.before_stop(&History::new(), 0).get().await, Flow::Veto(_)));
    project.write(".claude/hooks/stop.sh", "exit 3");
    assert_eq!(hooks.before_stop(&History::new(), 0).get().await, Flow::Continue);
    assert!(project.messages.lock().unwrap().concat().contains("changed since it was trusted"));
}

#[tokio::test]
async fn what_a_hook_in_the_sandbox_leaves_running_ends_with_it() {
    let project = Project::new(on_tools(json!({
        "type": "command",
        "command": "setsid sh -c 'exec 3> fifo; sleep 1000' & until [ -e ready ]; do :; done",
    })));
    project.trust();
    let Some(hooks) = project.hooks().await else { return };
    let fifo = project.root.join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let ready = project.root.join("ready");
    let reader = std::thread::spawn(move || {
        let mut pipe = std::fs::File::open(fifo).unwrap();
        std::fs::write(ready, "").unwrap();
        // Returns when the last writer is gone.
        std::io::Read::read_to_end(&mut pipe, &mut Vec::new()).unwrap()
    });
    hooks.permit_tool(&bash("ls")).get().await;
    assert_eq!(tokio::task::spawn_blocking(|| reader.join().unwrap()).await.unwrap(), 0);
}
