//! Hostile repositories: before trust nothing of them runs, and after trust only what was trusted.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use rheon_policy::trust::{ProjectContent, TrustStatus, TrustStore, load_project_hooks};
use rheon_testkit::TestClock;
use rheon_types::{Hook as _, HookVerdict, ToolCall};
use serde_json::json;
use tempfile::TempDir;

use crate::hooks::{CommandHooks, HookContext, HookEnvironment, HookFacts, SessionStartSource};

struct Fixture {
    root: TempDir,
    state: TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { root: TempDir::new().unwrap(), state: TempDir::new().unwrap() }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn store(&self) -> TrustStore {
        TrustStore::open(self.state.path().join("trust.json")).unwrap()
    }

    fn has_run(&self) -> bool {
        self.root.path().join("ran").exists()
    }

    fn trust(&self) {
        self.store().grant(&ProjectContent::gather(self.root.path()).unwrap()).unwrap();
    }

    fn loaded(&self) -> (TrustStatus, CommandHooks) {
        let loaded = load_project_hooks(self.root.path(), &self.store()).unwrap();
        let root = self.root.path().canonicalize().unwrap();
        let context = HookContext {
            session_id: "s".into(),
            transcript_path: None,
            // A project's hooks resolve paths from the project, wherever the session works.
            cwd: root.join(".claude"),
            project: root,
            home: None,
            source: SessionStartSource::Startup,
            facts: Arc::new(HookFacts::default),
            environment: HookEnvironment::default().with("PATH", "/usr/local/bin:/usr/bin:/bin"),
            clock: Arc::new(TestClock::default()),
        };
        (loaded.trust, CommandHooks::new(loaded.settings, context))
    }

    async fn opinion(hooks: &CommandHooks) -> Option<HookVerdict> {
        let arguments = Arc::new(json!({ "command": "ls" }));
        let call =
            ToolCall { id: "1".into(), name: "bash".into(), arguments, malformed: None, key_order: None };
        hooks.permit_tool(&call).get().await.verdict
    }
}

fn settings(line: &str) -> String {
    let hook = json!([{ "hooks": [{ "type": "command", "command": line }] }]);
    json!({ "hooks": { "SessionStart": hook, "PreToolUse": hook } }).to_string()
}

#[tokio::test]
async fn before_trust_no_hook_or_setting_of_a_repository_applies() {
    for file in [
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".rheon/settings.json",
        ".rheon/settings.local.json",
    ] {
        let fixture = Fixture::new();
        fixture.write(file, &settings("touch ran; exit 2"));
        fixture.write(".mcp.json", r#"{"mcpServers":{"x":{"command":"touch","args":["ran"]}}}"#);
        fixture.write(".env", "HOME=/tmp/evil");
        fixture.write(".claude/hooks/x.sh", "touch ran");
        let (trust, hooks) = fixture.loaded();
        assert!(matches!(trust, TrustStatus::Unknown { .. }));
        hooks.session_start().await;
        assert_eq!((Fixture::opinion(&hooks).await, fixture.has_run()), (None, false));
        fixture.trust();
        let shown = load_project_hooks(fixture.root.path(), &fixture.store()).unwrap().content.commands();
        let line = |event: &str| format!("{event} ({file}): touch ran; exit 2");
        assert_eq!(shown, [line("PreToolUse"), line("SessionStart")]);
        let (trust, hooks) = fixture.loaded();
        assert_eq!(trust, TrustStatus::Trusted);
        hooks.session_start().await;
        assert!(fixture.has_run());
    }
}

#[tokio::test]
async fn a_script_changed_after_trust_needs_trust_again() {
    let fixture = Fixture::new();
    fixture.write(".claude/settings.json", &settings("sh tools/check.sh"));
    fixture.write("tools/check.sh", "exit 0");
    fixture.trust();
    fixture.write("tools/check.sh", "touch ran");
    let (trust, hooks) = fixture.loaded();
    let TrustStatus::Changed { added, removed, changed } = trust else { panic!("{trust}") };
    let changed: Vec<&str> = changed.iter().map(|item| item.path.as_str()).collect();
    assert_eq!((added.len(), removed.len(), changed), (0, 0, vec!["tools/check.sh"]));
    assert_eq!((Fixture::opinion(&hooks).await, fixture.has_run()), (None, false));
}

#[tokio::test]
async fn a_script_that_changes_during_a_session_does_not_run_and_the_call_is_denied() {
    for changed in ["tools/check.sh", ".claude/hooks/library.sh"] {
        let fixture = Fixture::new();
        fixture.write(".claude/settings.json", &settings("sh tools/check.sh"));
        fixture.write("tools/check.sh", ". .claude/hooks/library.sh");
        fixture.write(".claude/hooks/library.sh", "exit 0");
        fixture.trust();
        let (_, hooks) = fixture.loaded();
        assert_eq!(Fixture::opinion(&hooks).await, None);
        fixture.write(changed, "touch ran");
        let said = format!(
            "a required hook was not run: {changed:?} changed since it was trusted; review it and trust the \
             project again"
        );
        assert_eq!(Fixture::opinion(&hooks).await, Some(HookVerdict::Deny(said)));
        assert!(!fixture.has_run());
    }
}

#[test]
fn links_are_followed_only_within_the_project() {
    let fixture = Fixture::new();
    let outside = TempDir::new().unwrap();
    std::fs::write(outside.path().join("secret"), "x").unwrap();
    let root = fixture.root.path();
    fixture.write(".agents/skills/x/SKILL.md", "a skill");
    std::fs::create_dir_all(root.join(".claude")).unwrap();
    symlink("../.agents/skills", root.join(".claude/skills")).unwrap();
    symlink(outside.path(), root.join(".agents/skills/away")).unwrap();
    symlink("..", root.join(".agents/skills/circle")).unwrap();
    symlink("missing", root.join(".agents/skills/nowhere")).unwrap();
    symlink(outside.path().join("secret"), root.join(".agents/skills/secret")).unwrap();
    let content = ProjectContent::gather(root).unwrap();
    let place = outside.path().canonicalize().unwrap();
    let rows: Vec<String> = content
        .items()
        .map(|item| item.to_string().split_off(13).replace(place.to_str().unwrap(), "OUTSIDE"))
        .collect();
    expect![[r#"
        .agents/skills/away -> OUTSIDE (outside the project, not read)
        .agents/skills/circle
        .agents/skills/secret -> OUTSIDE/secret (outside the project, not read)
        .agents/skills/x/SKILL.md
        .claude/skills
        .claude/skills/away -> OUTSIDE (outside the project, not read)
        .claude/skills/circle
        .claude/skills/secret -> OUTSIDE/secret (outside the project, not read)
        .claude/skills/x/SKILL.md"#]]
    .assert_eq(&rows.join("\n"));
}

#[test]
fn settings_outside_the_project_and_special_files_cannot_be_trusted() {
    let problem = |fixture: &Fixture| ProjectContent::gather(fixture.root.path()).unwrap_err().to_string();
    let away = Fixture::new();
    std::fs::create_dir(away.root.path().join(".claude")).unwrap();
    symlink("/etc/passwd", away.root.path().join(".claude/settings.json")).unwrap();
    let servers = Fixture::new();
    symlink("/etc/passwd", servers.root.path().join(".mcp.json")).unwrap();
    let pipe = Fixture::new();
    std::fs::create_dir_all(pipe.root.path().join(".claude/hooks")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(pipe.root.path().join(".claude/hooks/pipe")).status();
    assert!(made.unwrap().success());
    expect![[r#"
        cannot trust the project: ".claude/settings.json" leads out of the project; remove it or continue without trust
        cannot trust the project: ".mcp.json" leads out of the project; remove it or continue without trust
        cannot trust the project: ".claude/hooks/pipe" is a pipe; remove it or continue without trust"#]].assert_eq(&[away, servers, pipe].each_ref().map(problem).join("\n"));
}

#[test]
fn invalid_settings_are_an_error() {
    let fixture = Fixture::new();
    fixture.write(".claude/settings.json", "{\"hooks\": {\"PreToolUze\": []}}");
    assert!(matches!(
        load_project_hooks(fixture.root.path(), &fixture.store()).unwrap().trust,
        TrustStatus::Unknown { .. }
    ));
    fixture.trust();
    let error = load_project_hooks(fixture.root.path(), &fixture.store()).unwrap_err();
    expect![[r#"cannot read the hooks of .claude/settings.json: line 1, column 23: unknown event "PreToolUze"; did you mean "PreToolUse"?"#]].assert_eq(&error.to_string());
    assert!(Path::new(fixture.root.path()).exists());
}

#[tokio::test]
async fn a_script_added_after_trust_does_not_run() {
    for line in [
        "[ -f tools/check.sh ] && sh tools/check.sh || true",
        "test -x ./tools/check.sh && ./tools/check.sh",
        "if [ -f tools/check.sh ]; then . ./tools/check.sh; fi",
        "cd tools && env A=1 bash -e check.sh",
        "\"$CLAUDE_PROJECT_DIR\"/tools/check.sh",
        "\"$PWD/tools/check.sh\"",
        "\"$(pwd)\"/tools/check.sh",
        "$(git rev-parse --show-toplevel)/tools/check.sh",
    ] {
        let fixture = Fixture::new();
        std::fs::create_dir(fixture.root.path().join("tools")).unwrap();
        fixture.write(".claude/settings.json", &settings(line));
        fixture.trust();
        let (trust, hooks) = fixture.loaded();
        assert_eq!(trust, TrustStatus::Trusted);
        assert_eq!(Fixture::opinion(&hooks).await, None, "{line}");
        fixture.write("tools/check.sh", "#!/bin/sh\ntouch ../ran ran");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(fixture.root.path().join("tools/check.sh"), mode).unwrap();
        let opinion = Fixture::opinion(&hooks).await;
        assert!(matches!(opinion, Some(HookVerdict::Deny(_))), "{line}: {opinion:?}");
        assert!(!fixture.has_run(), "{line}");
    }
}

#[tokio::test]
async fn scripts_are_compared_for_every_way_to_name_the_project() {
    for line in [
        "\"$PWD/tools/check.sh\"",
        "\"$(pwd)\"/tools/check.sh",
        "`pwd`/tools/check.sh",
        "sh -c \"$PWD/tools/check.sh\"",
        "X=tools; sh $X/../tools/check.sh",
    ] {
        let fixture = Fixture::new();
        fixture.write(".claude/settings.json", &settings(line));
        fixture.write("tools/check.sh", "exit 0");
        fixture.trust();
        fixture.write("tools/check.sh", "touch ran");
        let (trust, _) = fixture.loaded();
        assert!(matches!(trust, TrustStatus::Changed { .. }), "{line}: {trust}");
    }
}

#[tokio::test]
async fn a_hook_may_write_files_of_the_project_and_run_again() {
    for line in [
        "cat >> log.txt",
        "cat > log.txt; grep -c x <log.txt",
        "jq . >> log.txt 2>> errors.txt || cat >> log.txt",
    ] {
        let fixture = Fixture::new();
        fixture.write(".claude/settings.json", &settings(line));
        fixture.write("log.txt", "old");
        fixture.trust();
        let (_, hooks) = fixture.loaded();
        for _ in 0..3 {
            assert_eq!(Fixture::opinion(&hooks).await, None, "{line}");
        }
        assert_eq!(fixture.loaded().0, TrustStatus::Trusted, "{line}");
    }
}
