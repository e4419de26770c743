//! Beginning a project.

use std::fs;

use super::{InitOutcome, init_project};
use crate::config::{Config, ConfigInputs};
use crate::sessions::EnvVars;

#[test]
fn what_is_there_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("CLAUDE.md"), "mine").unwrap();
    fs::create_dir(path(".rheon")).unwrap();
    fs::write(path(".rheon/config.toml"), "effort = \"low\"").unwrap();
    assert_eq!(
        init_project(dir.path()).unwrap(),
        [
            InitOutcome::Left(path(".rheon/config.toml")),
            InitOutcome::Written(path(".rheon/.gitignore")),
            InitOutcome::Left(path("CLAUDE.md"))
        ]
    );
    assert_eq!(fs::read_to_string(path(".rheon/config.toml")).unwrap(), "effort = \"low\"");
    assert!(!path("AGENTS.md").exists());
}

#[test]
fn what_is_written_can_be_loaded_without_a_word() {
    let dir = tempfile::tempdir().unwrap();
    let (home, project) = (dir.path().join("home"), dir.path().join("project"));
    fs::create_dir_all(&home).unwrap();
    fs::create_dir_all(&project).unwrap();
    init_project(&project).unwrap();
    let environment: EnvVars = [("HOME", home)].into_iter().collect();
    let managed = dir.path().join("managed.toml");
    let inputs = ConfigInputs { managed, ..ConfigInputs::new(environment, project.canonicalize().unwrap()) };
    let config = Config::load(inputs).unwrap();
    assert_eq!(config.warnings, []);
}

#[test]
fn a_dir_that_is_a_file_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(".rheon"), "").unwrap();
    let error = init_project(dir.path()).unwrap_err();
    assert_eq!(error.path, dir.path().join(".rheon/config.toml"));
}
