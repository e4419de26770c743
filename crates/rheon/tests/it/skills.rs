//! Skills in the prompt and on demand.

use std::sync::Arc;

use crate::sdk;
use expect_test::expect;
use rheon::prelude::*;
use rheon::tools::builtin::SkillTool;
use rheon::tools::skills::{FileOrigin, SkillDir, SkillSet};
use rheon_testkit::{Scenario, Turn, scripted};

fn skills(files: &[(&str, &str)]) -> (tempfile::TempDir, SkillSet) {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::create_dir(dir.path().join(name)).unwrap();
        std::fs::write(dir.path().join(name).join("SKILL.md"), text).unwrap();
    }
    let skills = SkillSet::load(&[SkillDir { path: dir.path().to_owned(), origin: FileOrigin::User }]);
    (dir, skills)
}

#[tokio::test(start_paused = true)]
async fn the_model_is_told_of_skills_and_reads_one_when_it_needs_it() {
    let (dir, skills) = skills(&[
        ("pdf", "---\nname: pdf\ndescription: Reads PDFs.\n---\nUse pdftotext on $ARGUMENTS.\n"),
        ("broken", "no frontmatter"),
    ]);
    let turn = Turn::call("skill", json!({ "name": "pdf", "arguments": "a.pdf" }));
    let ran = scripted(Scenario::new().turn(turn).turn("Done."))
        // The prompt may come later; the list stands behind it all the same.
        .with(sdk(|builder| builder.with_skills(&skills).system_prompt("You are brief.")))
        .tool(SkillTool::new(Arc::new(skills.clone())))
        .run("Read a.pdf")
        .await;
    let base = dir.path().canonicalize().unwrap().display().to_string();
    let requests = ran.provider.requests();
    let request = requests.last().unwrap();
    let sections: Vec<String> =
        request.system.sections().map(|section| section.text.replace(&base, "/T")).collect();
    expect![[r#"
        [
            "You are brief.",
            "<available_skills>\n<skill>\n<name>pdf</name>\n<description>Reads PDFs.</description>\n<location>/T/pdf/SKILL.md</location>\n</skill>\n</available_skills>",
        ]
    "#]].assert_debug_eq(&sections);
    let result = request.messages.for_model().last().unwrap();
    expect![[r#"
        <skill_content name="pdf">
        Use pdftotext on a.pdf.

        [The skill's directory is /T/pdf; paths in the text above are relative to it.]
        </skill_content>"#]]
    .assert_eq(&result.text().replace(&base, "/T"));
}

#[tokio::test(start_paused = true)]
async fn without_skills_nothing_is_said_of_them() {
    let (_dir, skills) = skills(&[("broken", "no frontmatter")]);
    let ran = scripted(Scenario::new().turn("Hi."))
        .with(sdk(|builder| builder.with_skills(&skills)))
        .run("Hi")
        .await;
    assert!(ran.provider.requests().iter().all(|request| request.system.is_empty()));
}
