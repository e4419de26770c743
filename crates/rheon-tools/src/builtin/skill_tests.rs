//! What `skill` returns and rejects.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use expect_test::expect;
use rheon_types::{Effect, Tool};
use serde_json::json;
use tempfile::TempDir;

use crate::builtin::SkillTool;
use crate::builtin::fixture::{call, output_of};
use crate::skills::{FileOrigin, SkillDir, SkillSet};

struct Fixture {
    dir: TempDir,
}

impl Fixture {
    fn with(files: &[(&str, &str)]) -> Self {
        let fixture = Self { dir: tempfile::tempdir().unwrap() };
        for (path, text) in files {
            fixture.put(path, text);
        }
        fixture
    }

    fn base(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.base().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn tool(&self) -> SkillTool {
        let dir = SkillDir { path: self.base(), origin: FileOrigin::User };
        SkillTool::new(Arc::new(SkillSet::load(&[dir])))
    }

    fn clean(&self, text: &str) -> String {
        text.replace(&self.base().display().to_string(), "/T")
    }
}

const HEAD: &str = "---\nname: pdf\ndescription: Reads PDFs.\n---\n";

#[tokio::test]
async fn a_skill_result_has_its_text_directory_and_files() {
    let fixture = Fixture::with(&[
        (
            "pdf/SKILL.md",
            &format!("{HEAD}\n# PDF\nRead $ARGUMENTS with scripts/read.py, then $ARGUMENTS again.\n"),
        ),
        ("pdf/scripts/read.py", ""),
        ("pdf/references/a\nb.md", ""),
        ("pdf/.git/HEAD", ""),
    ]);
    symlink("/etc", fixture.base().join("pdf/etc")).unwrap();
    let result = call(fixture.tool(), json!({ "name": "pdf", "arguments": "x.pdf" })).await.unwrap();
    expect![[r#"
        <skill_content name="pdf">
        # PDF
        Read x.pdf with scripts/read.py, then x.pdf again.

        [The skill's directory is /T/pdf; paths in the text above are relative to it. Other files:
        references/a\nb.md
        scripts/read.py]
        </skill_content>"#]]
    .assert_eq(&fixture.clean(&result.as_text()));
    expect![[r#"{"digest":"81551244b61a09e6","directory":"/T/pdf","files":["references/a\\nb.md","scripts/read.py"],"name":"pdf","omitted":0}"#]]
    .assert_eq(&fixture.clean(&result.details.to_string()));
    assert_eq!(fixture.tool().effect(), Effect::Pure);
}

#[tokio::test]
async fn arguments_without_a_placeholder_are_appended() {
    let fixture = Fixture::with(&[
        ("a/SKILL.md", "---\nname: a\ndescription: x\n---\nPlain."),
        ("b/SKILL.md", "---\nname: b\ndescription: x\n---\nOn ($ARGUMENTS)."),
    ]);
    let mut all = Vec::new();
    for given in [
        json!({ "name": "a", "arguments": "$ARGUMENTS" }),
        json!({ "name": " a ", "arguments": " " }),
        json!({ "name": "b" }),
        json!({ "name": "b", "arguments": "$ARGUMENTS" }),
    ] {
        let output = output_of(fixture.tool(), given).await;
        let text = output.split("\n\n[The skill").next().unwrap();
        all.push(text.split_once(">\n").unwrap().1.to_owned());
    }
    assert_eq!(all, ["Plain.\n\nArguments: $ARGUMENTS", "Plain.", "On ().", "On ($ARGUMENTS)."]);
}

#[tokio::test]
async fn invalid_skill_calls_give_an_error() {
    let fixture = Fixture::with(&[
        ("a/SKILL.md", "---\nname: a\ndescription: x\n---\nPlain."),
        ("mine/SKILL.md", "---\nname: mine\ndescription: x\ndisable-model-invocation: true\n---\nSecret."),
        ("many/SKILL.md", &format!("---\nname: many\ndescription: x\n---\n{}", "$ARGUMENTS".repeat(100))),
        ("gone/SKILL.md", "---\nname: gone\ndescription: x\n---\n"),
        ("new/SKILL.md", "---\nname: new\ndescription: x\n---\nTrusted."),
    ]);
    let tool = fixture.tool();
    std::fs::remove_file(fixture.base().join("gone/SKILL.md")).unwrap();
    fixture.put("new/SKILL.md", "---\nname: new\ndescription: x\n---\nNobody has seen this.");
    std::fs::remove_dir_all(fixture.base().join("a")).unwrap();
    symlink("/etc", fixture.base().join("a")).unwrap();
    let tool = Arc::new(tool);
    let mut all = Vec::new();
    for given in [
        json!({ "name": "b" }),
        json!({ "name": "../a" }),
        json!({ "name": "x".repeat(5_000) }),
        json!({ "name": "mine" }),
        json!({ "name": "many", "arguments": "x".repeat(10_000) }),
        json!({ "name": "many", "arguments": "x".repeat(10_001) }),
        json!({ "name": "gone" }),
        json!({ "name": "new" }),
        json!({ "name": "a" }),
        json!({}),
    ] {
        let context = crate::builtin::fixture::context_of("run");
        let error = tool.execute(Arc::new(given), context).await.unwrap_err();
        all.push(format!("{}: {error}", error.kind()));
    }
    expect![[r#"
        failed: unknown skill "b"; available: a, gone, many, new
        failed: unknown skill "../a"; available: a, gone, many, new
        failed: unknown skill "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx [4900 more characters]"; available: a, gone, many, new
        denied: only the user may call the skill "mine"; ask them if you need it
        failed: the skill "many" with these arguments is larger than 262144 bytes; pass shorter arguments
        invalidArgs: `arguments` has 10001 characters; the limit is 10000
        failed: cannot use skill "gone": cannot read it: it no longer exists
        failed: cannot use skill "new": it changed since the session started; ask the user to review it and start a new session
        failed: cannot use skill "a": cannot read it: Not a directory (os error 20)
        invalidArgs: invalid arguments for skill: missing field `name`"#]].assert_eq(&all.join("\n"));
    let nothing = SkillTool::new(Arc::default());
    assert_eq!(
        output_of(nothing, json!({ "name": "a" })).await,
        "failed: unknown skill \"a\"; no skills are available"
    );
}

#[tokio::test]
async fn at_the_limits_files_and_names_are_counted() {
    let fixture = Fixture::with(&[("pdf/SKILL.md", HEAD)]);
    for number in 0..103 {
        fixture.put(&format!("pdf/{number:03}"), "");
    }
    assert!(
        output_of(fixture.tool(), json!({ "name": "pdf" }))
            .await
            .ends_with("\n099\n3 more files]\n</skill_content>")
    );
    for number in 0..51 {
        fixture.put(
            &format!("s{number:02}/SKILL.md"),
            &format!("---\nname: s{number:02}\ndescription: x\n---\n"),
        );
    }
    assert!(output_of(fixture.tool(), json!({ "name": "x" })).await.ends_with(", s48 and 2 more"));
}
