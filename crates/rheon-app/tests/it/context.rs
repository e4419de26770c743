//! What models are told in three projects, and what an agent does with it.

use std::sync::Arc;

use expect_test::{expect, expect_file};
use rheon_agent::{Effort, base_prompt};
use rheon_app::context::{ContextInputs, ContextSource, ContextSources, LoadedContext, ProjectTrust};
use rheon_app::memory::MemoryStore;
use rheon_store::sqlite::{LearningStatus, Memory, OpenMode};
use rheon_testkit::{FnTool, Scenario, Turn, scripted};
use rheon_types::{Effect, Request, ThinkingLevel, ToolResult};
use serde_json::json;

use crate::fixture::{Fixture, learnt, python_project, rust_crate, says};

#[tokio::test]
async fn a_rust_crate_has_rules_skills_and_a_map() {
    let (fixture, inputs) = rust_crate();
    let shown = fixture.shown(&LoadedContext::load(inputs).await).replace(base_prompt(), "(the base prompt)");
    expect_file!["../golden/rust_crate.txt"].assert_eq(&shown);
}

#[tokio::test]
async fn a_python_project_has_rules_for_another_program_notes_and_learnings() {
    let (fixture, inputs, _) = python_project();
    let shown = fixture.shown(&LoadedContext::load(inputs).await).replace(base_prompt(), "(the base prompt)");
    expect_file!["../golden/python_project.txt"].assert_eq(&shown);
}

#[tokio::test]
async fn an_empty_dir_has_the_base_prompt_and_facts() {
    let fixture = Fixture::new();
    let loaded = LoadedContext::load(fixture.inputs("project", "Say hello.")).await;
    expect_file!["../golden/empty_folder.txt"].assert_eq(&fixture.shown(&loaded));
}

#[tokio::test]
async fn skills_of_a_project_stay_behind_trust_and_its_rules_are_only_text() {
    let (_ground, mut inputs) = rust_crate();
    inputs.trust = ProjectTrust::Untrusted;
    let loaded = LoadedContext::load(inputs).await;
    let told = [
        "Working on parcel",
        "<name>review</name>",
        "<name>release</name>",
        "- Git: branch main\n",
        "1 untracked",
    ];
    assert_eq!(told.map(|text| says(&loaded, text)), [true, true, false, true, false]);
}

#[tokio::test]
async fn what_is_turned_off_is_not_even_looked_for() {
    let (fixture, inputs, _) = python_project();
    fixture.write("project/AGENTS.md", "\0").write(".local/notes/odd.md", "---\nkind: [\n---\n");
    let off = |inputs: &ContextInputs, source| ContextInputs {
        sources: ContextSources::default().without(source),
        ..inputs.clone()
    };
    assert_eq!(LoadedContext::load(inputs.clone()).await.warnings.len(), 2);
    for source in [ContextSource::Rules, ContextSource::Memory] {
        let loaded = LoadedContext::load(off(&inputs, source)).await;
        assert_eq!((source, loaded.warnings.len()), (source, 1));
    }
    let loaded = LoadedContext::load(off(&inputs, ContextSource::Learnings)).await;
    assert!(loaded.learnings.is_empty() && loaded.lessons.is_none() && !says(&loaded, "uv sync"));
    assert!(!says(&LoadedContext::load(off(&inputs, ContextSource::Environment)).await, "Working directory"));
}

#[tokio::test]
async fn bad_input_is_a_warning_and_the_rest_is_loaded() {
    let (fixture, mut inputs, _) = python_project();
    fixture
        .write("project/CLAUDE.md", "\u{0}\u{1}binary")
        .write("project/.agents/skills/bad/SKILL.md", "no front matter")
        .write(".local/projects/p/notes/odd.md", "---\nkind: [\n---\nStill a note about pytest.\n");
    inputs.task = "pytest ".to_owned() + &"x ".repeat(100_000);
    let loaded = LoadedContext::load(inputs).await;
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let home = fixture.path("").display().to_string();
    expect![[r#"
        rules in ~/project/CLAUDE.md: not used: not UTF-8 text
        skill ~/project/.agents/skills/bad is skipped: missing frontmatter between two `---` lines
        note ~/.local/projects/p/notes/odd.md is loaded with a warning: invalid frontmatter, ignored: line 1 column 7: unclosed bracket '['"#]].assert_eq(&warnings.join("\n").replace(&home, "~/"));
    assert!(says(&loaded, "Still a note"));
}

fn make(codes: &'static [i64]) -> FnTool {
    let nth = std::sync::atomic::AtomicUsize::new(0);
    FnTool::new("bash", move |_, _| {
        let code =
            codes.get(nth.fetch_add(1, std::sync::atomic::Ordering::Relaxed)).copied().unwrap_or_default();
        let text = if code == 0 { "ok" } else { "no module named ledger" };
        async move { Ok(ToolResult::text(text).with_details(json!({ "exit_code": code }))) }
    })
    .effect(Effect::Pure)
}

#[tokio::test]
async fn an_agent_that_is_wired_has_the_prompt_the_effort_the_reminders_and_the_lessons() {
    let (_ground, mut inputs, ids) = python_project();
    inputs.effort = Some(Effort::High);
    let memory = Arc::clone(&inputs.memory.as_ref().unwrap().memory);
    let loaded = LoadedContext::load(inputs).await;
    let call = |command: &str| Turn::call("bash", json!({ "command": command }));
    let scenario = Scenario::new()
        .turn(call("pytest"))
        .turn(call("pytest"))
        .turn(call("uv sync"))
        .turn(call("pytest"))
        .turn("It passes.")
        .turn("I see.");
    let ran = scripted(scenario)
        .tool(make(&[1, 1, 0, 0]))
        .with(|builder| loaded.wire(builder))
        .run("Mend the tests.")
        .await;
    let requests = ran.provider.requests();
    let first = &requests[0];
    assert_eq!((&first.system, first.thinking), (&loaded.assembled.prompt(), ThinkingLevel::High));
    let said = |request: &Request| request.reminder.as_deref().unwrap_or("nothing").to_owned();
    let reminders: Vec<String> = requests.iter().map(said).collect();
    expect![[r#"
        nothing
        ----
        nothing
        ----
        <reminder>

        These calls keep failing:
        - bash command=pytest (failed 2 times: no module named ledger); read its output, fix the cause, then run it again
        </reminder>
        ----
        <reminder>

        These calls keep failing:
        - bash command=pytest (failed 2 times: no module named ledger); read its output, fix the cause, then run it again
        </reminder>
        ----
        nothing"#]].assert_eq(&reminders.join("\n----\n"));

    // The user corrects what was done, and the session goes on with the same agent.
    ran.agent.run("No, don't sync: add ledger to the path instead.").await.unwrap();
    expect![[
        r#"After `pytest`, `uv sync`, the user said: "No, don't sync: add ledger to the path instead." x1"#
    ]]
    .assert_eq(&all(&memory));
    let used = memory.learnings().get(ids[0]).unwrap().unwrap();
    assert_eq!(
        (used.evidence_for, used.evidence_against),
        (2, 1),
        "it was found out once more; that it was in the prompt of a run that ended well does not count any more, since the user \
         spoke against it"
    );
    let unused = memory.learnings().get(ids[1]).unwrap().unwrap();
    assert_eq!(unused.evidence_for, 1);
    assert_eq!(loaded.lessons.unwrap().take_problems(), []);
}

/// All learnings of a memory that nobody judged, with what speaks for them.
fn all(memory: &Memory) -> String {
    let proposed = memory.learnings().with_status(LearningStatus::Proposed).unwrap();
    let mut lines: Vec<String> = proposed
        .iter()
        .map(|learning| format!("{} x{}", learning.proposal.text, learning.evidence_for))
        .collect();
    lines.sort();
    lines.join("\n")
}

#[tokio::test]
async fn each_correction_is_proposed_once_in_a_session_and_a_run_that_failed_is_no_evidence() {
    let fixture = Fixture::new();
    let (store, ids) = learnt(&["Mend the tests by reading them first."]);
    let memory = Arc::clone(&store.memory);
    let inputs = ContextInputs { memory: Some(store), ..fixture.inputs("project", "Mend the tests.") };
    let loaded = LoadedContext::load(inputs).await;
    assert_eq!(loaded.learnings.len(), 1);
    let scenario = Scenario::new()
        .turn(Turn::call("bash", json!({ "command": "rm -r tests" })))
        .turn("Gone.")
        .turn("Sorry.")
        .turn("Yes.");
    let ran =
        scripted(scenario).tool(make(&[])).with(|builder| loaded.wire(builder)).run("Mend the tests.").await;
    for said in ["No, never delete tests.", "Thanks.", "And now?"] {
        // The scenario ends before the last one, so that this run fails.
        ran.agent.run(said).await.ok();
    }
    expect![[r#"After `rm -r tests`, the user said: "No, never delete tests." x1"#]].assert_eq(&all(&memory));
    assert_eq!(memory.learnings().get(ids[0]).unwrap().unwrap().evidence_for, 4);
}

#[tokio::test]
async fn reminders_and_effort_can_be_turned_off() {
    let fixture = Fixture::new();
    let mut inputs = fixture.inputs("project", "Rewrite everything across the whole codebase.");
    inputs.sources = ContextSources::default().without(ContextSource::Effort).without_reminders();
    let loaded = LoadedContext::load(inputs).await;
    let turn = || Turn::call("bash", json!({ "command": "make" }));
    let scenario = Scenario::new().turn(turn()).turn(turn()).turn("Done.");
    let ran = scripted(scenario).tool(make(&[1, 1])).with(|builder| loaded.wire(builder)).run("Go.").await;
    let told = |request: &Request| (request.reminder.is_none(), request.thinking);
    assert_eq!(ran.provider.requests().iter().map(told).collect::<Vec<_>>(), [(true, ThinkingLevel::Off); 3]);
}

#[tokio::test]
async fn a_memory_that_cannot_be_written_is_a_problem_and_the_run_is_what_it_was() {
    let fixture = Fixture::new();
    let path = fixture.path("memory.db");
    drop(Memory::open(&path, OpenMode::ReadWrite).unwrap());
    let memory = Arc::new(Memory::open(&path, OpenMode::ReadOnly).unwrap());
    let store = MemoryStore { memory, project: "p".into(), session_id: "now".into(), parent: None };
    let inputs = ContextInputs { memory: Some(store), ..fixture.inputs("project", "Mend the tests.") };
    let loaded = LoadedContext::load(inputs).await;
    let scenario = Scenario::new()
        .turn(Turn::call("bash", json!({ "command": "rm -r tests" })))
        .turn("Gone.")
        .turn("Sorry.");
    let ran = scripted(scenario).tool(make(&[])).with(|builder| loaded.wire(builder)).run("Mend them.").await;
    let output = ran.agent.run("No, never delete tests.").await.unwrap();
    assert_eq!(output.text, "Sorry.");
    let problems: Vec<String> =
        loaded.lessons.unwrap().take_problems().iter().map(ToString::to_string).collect();
    let home = fixture.path("").display().to_string();
    expect!["learnings are neither used nor saved: cannot write ~/memory.db; check the permissions of the file and its directory"].assert_eq(&problems.join("\n").replace(&home, "~/"));
}
