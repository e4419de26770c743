//! The projects can be read, and the script of the model has a reply per step.

use super::project::hosts_in;
use super::{PROJECTS, Project, model_script};

#[test]
fn every_project_installs_builds_tests_serves_fetches_edits_and_commits() {
    for (name, text) in PROJECTS {
        let project = Project::parse(name, text).unwrap();
        let steps: Vec<&str> = project.steps.iter().map(super::Step::name).collect();
        assert_eq!(steps, ["install", "build", "test", "serve", "fetch", "edit", "commit"], "{name}");
        let script: toml::Table = toml::from_str(&model_script(&project, 4711).unwrap()).unwrap();
        assert_eq!(script["reply"].as_array().unwrap().len(), 7, "{name}");
        assert!(!toml::to_string(&script).unwrap().contains("{port}"), "{name}");
    }
}

#[test]
fn hosts_are_found_in_what_package_managers_print() {
    let printed =
        "global.index-url='https://user:pass@mirror.example:8443/simple'\nhttp://a-b.example/ x://\n";
    assert_eq!(hosts_in(printed), ["mirror.example", "a-b.example"]);
}
