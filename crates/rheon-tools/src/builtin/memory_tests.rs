//! What `memory` stores, finds and rejects.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;

use expect_test::expect;
use rheon_types::{Effect, Tool};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::builtin::fixture::{FarClock, call, output_of};
use crate::builtin::{MemoryTool, Recollection};
use crate::notes::{NOTE_BYTES_MAX, NOTES_MAX, NoteDir};
use crate::skills::FileOrigin;

struct Fixture {
    dir: TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    fn tool(&self) -> MemoryTool {
        let dir = |path: &str, origin| NoteDir { path: self.at(path), origin };
        let dirs = vec![dir("home/memory", FileOrigin::User), dir("data/project", FileOrigin::Project)];
        MemoryTool::new(dirs, Arc::new(FarClock::default()))
    }

    async fn all(&self, calls: &[Value]) -> String {
        let mut text = String::new();
        for given in calls {
            text.push_str(&output_of(self.tool(), given.clone()).await);
            text.push_str("\n----\n");
        }
        text.replace(&self.at("").display().to_string(), "/T/")
    }
}

fn write(name: &str, text: &str) -> Value {
    json!({ "action": "write", "name": name, "description": format!("About {name}"), "text": text })
}

/// Every action on notes, in order.
fn a_life() -> Vec<Value> {
    vec![
        json!({ "action": "list" }),
        write("build-system", "Use `just`, not make.\n\nTests need Docker."),
        json!({
            "action": "write", "scope": "user", "name": "style", "description": "How the user likes code",
            "kind": "episodic", "keywords": ["tabs", "naming: short"], "text": "No abbreviations.",
        }),
        json!({ "action": "list" }),
        json!({ "action": "list", "scope": "user" }),
        json!({ "action": "read", "name": "build-system" }),
        json!({ "action": "search", "query": "which build system do tests use?" }),
        json!({ "action": "search", "query": "zebra" }),
        json!({ "action": "write", "name": "build-system", "text": "Use `just`." }),
        json!({ "action": "read", "name": "build-system" }),
        json!({ "action": "delete", "name": "style" }),
        json!({ "action": "delete", "name": "style" }),
    ]
}

#[tokio::test]
async fn notes_are_written_found_read_and_removed() {
    let fixture = Fixture::new();
    let output = fixture.all(&a_life()).await;
    expect![[r#"
        There are no notes.
        ----
        wrote project note build-system
        ----
        wrote user note style
        ----
        - style (user, episodic): How the user likes code
        - build-system (project, semantic): About build-system
        ----
        - style (user, episodic): How the user likes code
        ----
        [semantic note of the project, 2100-01-01T00:00:00Z: About build-system]

        Use `just`, not make.

        Tests need Docker.
        ----
        - build-system (project, semantic): About build-system
        ----
        No notes match.
        ----
        replaced project note build-system
        ----
        [semantic note of the project, 2100-01-01T00:00:00Z: About build-system]

        Use `just`.
        ----
        removed user note style
        ----
        failed: note "style" does not exist; use `list` to see all notes
        ----
    "#]]
    .assert_eq(&output);
    expect![[r#"
        ---
        name: "build-system"
        description: "About build-system"
        kind: semantic
        created: "2100-01-01T00:00:00Z"
        ---

        Use `just`.
    "#]]
    .assert_eq(&std::fs::read_to_string(fixture.at("data/project/build-system.md")).unwrap());
    expect![[r#"
        # Notes

        Generated: edit the notes, not this list.

        - [build-system](build-system.md) (semantic): About build-system
    "#]]
    .assert_eq(&std::fs::read_to_string(fixture.at("data/project/INDEX.md")).unwrap());
    let mode = |path: &str| fixture.at(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("data/project/build-system.md"), mode("data/project")), (0o600, 0o700));
    assert_eq!(fixture.tool().effect(), Effect::Idempotent);
}

#[tokio::test]
async fn note_names_are_never_paths() {
    let fixture = Fixture::new();
    std::fs::create_dir_all(fixture.at("data/project")).unwrap();
    std::fs::write(fixture.at("data/secret.md"), "secret").unwrap();
    symlink("../secret.md", fixture.at("data/project/linked.md")).unwrap();
    let output = fixture
        .all(&[
            write("../secret", "x"),
            write("/etc/passwd", "x"),
            write("a/b", "x"),
            write("Index", "x"),
            write("index", "x"),
            write(&"x".repeat(65), "x"),
            write("", "x"),
            json!({ "action": "write", "name": "a", "text": "x" }),
            json!({ "action": "write", "name": "a", "description": "x" }),
            write("large", &"x".repeat(NOTE_BYTES_MAX as usize)),
            json!({ "action": "read", "name": "../secret" }),
            json!({ "action": "read", "name": "linked" }),
            json!({ "action": "delete", "name": "../secret" }),
            json!({ "action": "search" }),
            json!({ "action": "list" }),
            // The target of a link is not touched; the link itself is replaced.
            write("linked", "mine"),
        ])
        .await;
    expect![[r#"
        invalidArgs: invalid note name "../secret": use lower-case words joined by hyphens, at most 64 characters, and not `index`
        ----
        invalidArgs: invalid note name "/etc/passwd": use lower-case words joined by hyphens, at most 64 characters, and not `index`
        ----
        invalidArgs: invalid note name "a/b": use lower-case words joined by hyphens, at most 64 characters, and not `index`
        ----
        invalidArgs: invalid note name "Index": use lower-case words joined by hyphens, at most 64 characters, and not `index`
        ----
        invalidArgs: invalid note name "index": use lower-case words joined by hyphens, at most 64 characters, and not `index`
        ----
        invalidArgs: invalid note name "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": use lower-case words joined by hyphens, at most 64 characters, and not `index`
        ----
        invalidArgs: this action needs `name`
        ----
        invalidArgs: this action needs `description`
        ----
        invalidArgs: this action needs `text`
        ----
        invalidArgs: the note has 16482 bytes; the limit is 16384; shorten it or split it into several notes
        ----
        failed: note "../secret" does not exist; use `list` to see all notes
        ----
        failed: note "linked" does not exist; use `list` to see all notes
        ----
        failed: note "../secret" does not exist; use `list` to see all notes
        ----
        invalidArgs: this action needs `query`
        ----
        There are no notes.
        [note /T/data/project/linked.md is skipped: not a regular file, but a symlink]
        ----
        wrote project note linked
        ----
    "#]].assert_eq(&output);
    assert_eq!(std::fs::read_to_string(fixture.at("data/secret.md")).unwrap(), "secret");
    assert!(!fixture.at("data/project/linked.md").is_symlink());
}

#[tokio::test]
async fn a_shared_name_reads_the_project_note_and_deletion_needs_a_scope() {
    let fixture = Fixture::new();
    let user =
        json!({ "action": "write", "scope": "user", "name": "a", "description": "mine", "text": "user" });
    let output = fixture
        .all(&[
            write("a", "project"),
            user,
            json!({ "action": "read", "name": "a" }),
            json!({ "action": "read", "name": "a", "scope": "user" }),
            json!({ "action": "delete", "name": "a" }),
            json!({ "action": "delete", "name": "a", "scope": "user" }),
            json!({ "action": "list" }),
        ])
        .await;
    expect![[r#"
        wrote project note a
        ----
        wrote user note a
        ----
        [semantic note of the project, 2100-01-01T00:00:00Z: About a]

        project
        ----
        [semantic note of the user, 2100-01-01T00:00:00Z: mine]

        user
        ----
        failed: both user and project have a note "a"; set `scope`
        ----
        removed user note a
        ----
        - a (project, semantic): About a
        ----
    "#]]
    .assert_eq(&output);
}

#[tokio::test]
async fn a_failed_recall_is_reported() {
    let fixture = Fixture::new();
    let search = json!({ "action": "search", "query": "parser" });
    let found = fixture.tool().with_recall(Arc::new(|query: &str, count: usize| {
        let lines = [format!("{query} {count}\nfixed"), "x".repeat(1_000)];
        Ok(lines.into_iter().map(Recollection::Session).collect())
    }));
    let text = output_of(found, search.clone()).await;
    assert!(text.contains("From earlier sessions:\n- parser 10 fixed\n- xxx"), "{text}");
    assert!(text.ends_with("[700 more characters]"), "{text}");
    let failing =
        fixture.tool().with_recall(Arc::new(|_: &str, _: usize| Err("the database is damaged".into())));
    expect![[r#"
        No notes match.
        [cannot search earlier sessions: the database is damaged]"#]]
    .assert_eq(&output_of(failing, search).await);
}

#[tokio::test]
async fn recall_adds_existing_notes_once() {
    let fixture = Fixture::new();
    for name in ["parsers", "grammar"] {
        call(fixture.tool(), write(name, "How texts are read.")).await.unwrap();
    }
    let found = fixture.tool().with_recall(Arc::new(|_: &str, _: usize| {
        let note = |name: &str| Recollection::Note { origin: FileOrigin::Project, name: name.to_owned() };
        Ok(vec![note("grammar"), note("gone"), note("parsers"), note("grammar")])
    }));
    let text = output_of(found, json!({ "action": "search", "query": "parsers" })).await;
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(names, ["parsers", "grammar"], "{text}");
}

#[tokio::test]
async fn at_the_limit_notes_can_be_replaced_but_not_added() {
    let fixture = Fixture::new();
    std::fs::create_dir_all(fixture.at("data/project")).unwrap();
    for number in 0..NOTES_MAX {
        std::fs::write(fixture.at(&format!("data/project/n{number}.md")), "x").unwrap();
    }
    assert!(call(fixture.tool(), write("n7", "new")).await.is_ok());
    let output = output_of(fixture.tool(), write("another", "x")).await;
    assert_eq!(output, "failed: there are already 1000 notes; remove or merge some first");
}
