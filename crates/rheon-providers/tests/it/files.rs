//! Scenarios from files; every error names the file.

use std::fs;
use std::path::Path;

use rheon_providers::scripted::{
    SCENARIO_BYTES_MAX, Scenario, ScenarioError, ScenarioPosition, ScriptedProvider,
};

use crate::support::{text, user};

fn error(directory: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = directory.join(name);
    fs::write(&path, content).unwrap();
    let message = Scenario::from_path(&path).unwrap_err().to_string();
    message.replace(&directory.display().to_string(), "DIR").replace('\\', "/")
}

#[tokio::test]
async fn file_format_follows_the_extension() {
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("a.toml", "[[turns]]\nsteps = [{ type = 'text', text = 'Hi' }]"),
        ("a.json", r#"{"turns": [{"steps": [{"type": "text", "text": "Hi"}]}]}"#),
    ] {
        let path = directory.path().join(name);
        fs::write(&path, content).unwrap();
        let provider = ScriptedProvider::new(Scenario::from_path(&path).unwrap());
        assert_eq!(text(&provider, user("x")).await, "Hi");
    }
}

#[test]
fn error_names_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    assert_eq!(
        error(directory, "a.toml", "\nnam = 'x'"),
        "scenario DIR/a.toml: line 2, column 1: nam: unknown key; did you mean \"name\"?"
    );
    assert_eq!(
        error(directory, "b.json", "{"),
        "scenario DIR/b.json: line 1, column 1: not JSON: EOF while parsing an object"
    );
    assert_eq!(
        error(directory, "c.yaml", ""),
        "scenario DIR/c.yaml: the format is unknown; name the file .toml or .json"
    );
    assert_eq!(
        error(directory, "d.toml", [b'#', 0xff]),
        "cannot read scenario DIR/d.toml: invalid utf-8 sequence of 1 bytes from index 1"
    );
    let large = "é".repeat(SCENARIO_BYTES_MAX / 2) + "é";
    assert_eq!(error(directory, "e.json", large), "scenario DIR/e.json: larger than 4194304 bytes; split it");
    let missing = Scenario::from_path(directory.join("f.toml")).unwrap_err();
    assert!(missing.to_string().starts_with("cannot read scenario "), "{missing}");
}

#[test]
fn position_is_available_to_programs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.toml");
    fs::write(&path, "[[turns]]\n repeat = 1").unwrap();
    match Scenario::from_path(&path).unwrap_err() {
        ScenarioError::Invalid { position, key, .. } => {
            assert_eq!(position, ScenarioPosition { path: Some(path), line: 2, column: 2 });
            assert_eq!(key, "turns[0].repeat");
        }
        other => panic!("{other}"),
    }
}
