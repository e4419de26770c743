//! What is gathered of a project, and what cannot be trusted.

use std::path::Path;

use expect_test::expect;
use serde_json::json;
use tempfile::TempDir;

use crate::hooks::HookSettings;
use crate::trust::{PreloadedFile, ProjectContent};

fn write(root: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn hooks(lines: &[&str]) -> String {
    let hooks: Vec<_> = lines.iter().map(|line| json!({ "type": "command", "command": line })).collect();
    json!({ "hooks": { "Stop": [{ "hooks": hooks }] } }).to_string()
}

fn paths(root: &Path) -> String {
    let content = ProjectContent::gather(root).unwrap();
    content.items().map(|item| item.path.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn all_that_could_be_run_or_obeyed_is_gathered_and_nothing_else() {
    let root = TempDir::new().unwrap();
    for name in [
        ".rheon/settings.local.json",
        ".claude/settings.json",
        ".mcp.json",
        ".rheon/hooks/a.sh",
        ".claude/hooks/lib/b.sh",
        ".rheon/skills/x/SKILL.md",
        ".claude/skills/x/run.py",
        ".agents/skills/y/SKILL.md",
        ".rheon/agents/a.md",
        ".claude/agents/a.md",
        ".rheon/commands/c.md",
        ".claude/commands/d/e.md",
        "src/main.rs",
        ".env",
        "AGENTS.md",
        ".claude/notes.txt",
    ] {
        write(root.path(), name, "{}");
    }
    expect![[r#"
        .agents/skills/y/SKILL.md
        .claude/agents/a.md
        .claude/commands/d/e.md
        .claude/hooks/lib/b.sh
        .claude/settings.json
        .claude/skills/x/run.py
        .mcp.json
        .rheon/agents/a.md
        .rheon/commands/c.md
        .rheon/hooks/a.sh
        .rheon/settings.local.json
        .rheon/skills/x/SKILL.md"#]]
    .assert_eq(&paths(root.path()));
}

#[test]
fn every_file_that_a_hook_names_is_gathered() {
    let root = TempDir::new().unwrap();
    for name in [
        "check.sh",
        "tools/lint.py",
        "tools/deep/x.sh",
        "with space.sh",
        "in args",
        "config.toml",
        "other.sh",
    ] {
        write(root.path(), name, "x");
    }
    let mut settings: serde_json::Value = serde_json::from_str(&hooks(&[
        "./check.sh --fast",
        "python3 \"$CLAUDE_PROJECT_DIR\"/tools/lint.py --config=config.toml",
        "cd tools && ./deep/x.sh",
        "sh -c 'sh \"with space.sh\"'",
        "/usr/bin/env true ../outside missing.sh",
    ]))
    .unwrap();
    settings["hooks"]["SessionEnd"] = json!([{ "hooks": [{ "type": "command", "command": "sh", "args": ["${RHEON_PROJECT_DIR}/in args"] }] }]);
    write(root.path(), ".rheon/settings.json", settings.to_string());
    expect![[r#"
        .rheon/settings.json
        check.sh
        config.toml
        in args
        tools/deep/x.sh
        tools/lint.py
        with space.sh"#]]
    .assert_eq(&paths(root.path()));
}

#[test]
fn what_is_too_large_or_too_much_cannot_be_trusted() {
    let problem = |root: &TempDir| {
        let error = ProjectContent::gather(root.path()).unwrap_err().to_string();
        error.replace(root.path().canonicalize().unwrap().to_str().unwrap(), "PROJECT")
    };
    let large = TempDir::new().unwrap();
    write(large.path(), ".claude/hooks/x", vec![0; 8 * 1024 * 1024]);
    assert_eq!(paths(large.path()), ".claude/hooks/x");
    write(large.path(), ".claude/hooks/x", vec![0; 8 * 1024 * 1024 + 1]);
    let many = TempDir::new().unwrap();
    for number in 0..5_001 {
        write(many.path(), &format!(".claude/hooks/{number}"), "");
    }
    let deep = TempDir::new().unwrap();
    write(deep.path(), &format!(".claude/hooks/{}x", "d/".repeat(20)), "");
    let heavy = TempDir::new().unwrap();
    for number in 0..9 {
        write(heavy.path(), &format!(".claude/hooks/{number}"), vec![0; 8 * 1024 * 1024]);
    }
    expect![[r#"
        cannot trust the project: ".claude/hooks/x" is larger than 8388608 bytes; remove it or continue without trust
        cannot trust the project: ".claude/hooks" contains more than 5000 files; remove it or continue without trust
        cannot trust the project: ".claude/hooks/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d" is more than 16 directories deep; remove it or continue without trust
        cannot trust the project: "PROJECT" contains more than 67108864 bytes; remove it or continue without trust"#]].assert_eq(&[large, many, deep, heavy].each_ref().map(problem).join("\n"));
}

#[test]
fn a_project_without_content_brings_nothing() {
    let root = TempDir::new().unwrap();
    assert_eq!(paths(root.path()), "");
    assert!(ProjectContent::gather(&root.path().join("missing")).is_err());
}

#[test]
fn a_file_that_was_read_before_must_still_hold_what_was_read() {
    let root = TempDir::new().unwrap();
    write(root.path(), ".rheon/config.toml", "a = 1");
    write(root.path(), "check.sh", "exit 0");
    let settings = HookSettings::parse(&hooks(&["./check.sh"]), ".rheon/config.toml").unwrap();
    let read = |text: &str| {
        let (path, text) = (".rheon/config.toml".to_owned(), text.to_owned());
        let file = PreloadedFile { path, text, directory: None, hooks: settings.clone() };
        match ProjectContent::gather_with(root.path(), &[file]) {
            Ok(content) => content.items().map(|item| item.path.clone()).collect::<Vec<_>>().join("\n"),
            Err(error) => error.to_string(),
        }
    };
    expect![[r#"
        .rheon/config.toml
        check.sh"#]]
    .assert_eq(&read("a = 1"));
    expect![[r#"cannot trust the project: ".rheon/config.toml" changed while it was read; remove it or continue without trust"#]]
        .assert_eq(&read("a = 2"));
    std::fs::remove_file(root.path().join(".rheon/config.toml")).unwrap();
    assert_eq!(read("a = 1"), read("a = 2"));
}
