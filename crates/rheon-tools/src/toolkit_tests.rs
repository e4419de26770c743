//! What the standard tools cost: their words go with every request.

use expect_test::expect_file;
use rheon_policy::PatternRoots;
use rheon_testkit::TestClock;
use serde_json::json;

use super::*;
use crate::builtin::Remember;
use crate::skills::{Origin, SkillFolder};

/// What the names, descriptions and schemas may have together, as JSON.
const BYTES_MAX: usize = 9_000;

/// Every standard tool.
async fn all_tools() -> Vec<Arc<dyn Tool>> {
    let folder = tempfile::tempdir().unwrap();
    let skill = folder.path().join("skills/x/SKILL.md");
    std::fs::create_dir_all(skill.parent().unwrap()).unwrap();
    std::fs::write(skill, "---\nname: x\ndescription: y\n---\n").unwrap();
    let skills = [SkillFolder { path: folder.path().join("skills"), origin: Origin::User }];
    let places = PatternRoots { working_folder: folder.path().to_owned(), home: None };
    let settings = ToolkitSettings {
        sandbox: Requirement::NoSandbox,
        web: Some(AddressRule::Public),
        skills: Arc::new(SkillSet::load(&skills)),
        ..ToolkitSettings::new(Policy::empty(places), Arc::new(TestClock::default()))
    };
    Toolkit::new(settings).await.unwrap().tools()
}

#[tokio::test]
async fn the_words_of_all_standard_tools_are_few() {
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

/// A byte that changes here makes every cache of every service miss once.
#[tokio::test]
async fn what_models_read_of_the_tools_is_known_to_the_byte() {
    let mut tools = all_tools().await;
    tools.push(Arc::new(Remember::new(Vec::new(), Arc::new(TestClock::default()))));
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
async fn only_the_tools_that_are_named_are_offered() {
    let folder = tempfile::tempdir().unwrap();
    let toolkit = async || {
        let places = PatternRoots { working_folder: folder.path().to_owned(), home: None };
        let settings = ToolkitSettings {
            sandbox: Requirement::NoSandbox,
            ..ToolkitSettings::new(Policy::empty(places), Arc::new(TestClock::default()))
        };
        Toolkit::new(settings).await.unwrap()
    };
    let offered = async |names: &[&str]| {
        let mut toolkit = toolkit().await;
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let unknown = toolkit.offer_only(&names);
        (toolkit.tools().iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>().join(" "), unknown)
    };
    assert_eq!(offered(&[]).await, (String::new(), vec![]));
    // A tool that rules know and this session has not is no mistake.
    assert_eq!(offered(&["Read", "search", "WebSearch"]).await, ("read search".to_owned(), vec![]));
    assert_eq!(
        offered(&["Bash", "Bsh"]).await,
        ("bash bash_output bash_kill".to_owned(), vec!["Bsh".to_owned()])
    );
}
