//! The size and text of the standard tools, which are sent with every request.

use expect_test::expect_file;
use rheon_policy::PatternRoots;
use rheon_testkit::TestClock;
use serde_json::json;

use super::*;
use crate::builtin::MemoryTool;
use crate::skills::{FileOrigin, SkillDir};

/// The most bytes of all names, descriptions and schemas as JSON.
const BYTES_MAX: usize = 9_000;

async fn all_tools() -> Vec<Arc<dyn Tool>> {
    let dir = tempfile::tempdir().unwrap();
    let skill = dir.path().join("skills/x/SKILL.md");
    std::fs::create_dir_all(skill.parent().unwrap()).unwrap();
    std::fs::write(skill, "---\nname: x\ndescription: y\n---\n").unwrap();
    let skills = [SkillDir { path: dir.path().join("skills"), origin: FileOrigin::User }];
    let places = PatternRoots { working_dir: dir.path().to_owned(), home: None };
    let settings = ToolkitSettings {
        sandbox: Requirement::NoSandbox,
        web: Some(AddressRule::Public),
        skills: Arc::new(SkillSet::load(&skills)),
        ..ToolkitSettings::new(Policy::empty(places), Arc::new(TestClock::default()))
    };
    Toolkit::new(settings).await.unwrap().tools()
}

#[tokio::test]
async fn tool_descriptions_stay_within_the_byte_budget() {
    let tools = all_tools().await;
    let mut table = String::new();
    let mut total = 0;
    for tool in &tools {
        let schema = tool.parameters_schema();
        let words = json!({ "name": tool.name(), "description": tool.description(), "parameters": schema });
        let bytes = words.to_string().len();
        let (described, schema) = (tool.description().len(), schema.to_string().len());
        table += &format!("{}: {bytes} (description {described}, schema {schema})\n", tool.name());
        total += bytes;
    }
    assert!(total <= BYTES_MAX, "{total} bytes\n{table}");
    assert_eq!(tools.len(), 14);
}

/// Any change here makes every prompt cache miss once.
#[tokio::test]
async fn tool_descriptions_and_schemas_match_the_snapshot() {
    let mut tools = all_tools().await;
    tools.push(Arc::new(MemoryTool::new(Vec::new(), Arc::new(TestClock::default()))));
    let mut all = String::new();
    for tool in tools {
        let (name, label, effect) = (tool.name(), tool.label(), tool.effect());
        all += &format!(
            "{name} ({label}, {effect:?})\n{:?}\n{}\n\n",
            tool.description(),
            tool.parameters_schema()
        );
    }
    expect_file!["builtin/words.txt"].assert_eq(&all);
}

#[tokio::test]
async fn only_the_named_tools_are_offered() {
    let dir = tempfile::tempdir().unwrap();
    let toolkit = async || {
        let places = PatternRoots { working_dir: dir.path().to_owned(), home: None };
        let settings = ToolkitSettings {
            sandbox: Requirement::NoSandbox,
            ..ToolkitSettings::new(Policy::empty(places), Arc::new(TestClock::default()))
        };
        Toolkit::new(settings).await.unwrap()
    };
    let offered = async |names: &[&str]| {
        let mut toolkit = toolkit().await;
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let unknown = toolkit.restrict_to(&names);
        (toolkit.tools().iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>().join(" "), unknown)
    };
    assert_eq!(offered(&[]).await, (String::new(), vec![]));
    // A name that rules know but this session does not have is not an error.
    assert_eq!(offered(&["Read", "search", "WebSearch"]).await, ("read search".to_owned(), vec![]));
    assert_eq!(
        offered(&["Bash", "Bsh"]).await,
        ("bash bash_output bash_kill".to_owned(), vec!["Bsh".to_owned()])
    );
}
