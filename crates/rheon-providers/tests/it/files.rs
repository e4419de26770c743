//! Scenarios from files, with the file in every complaint.

use std::fs;
use std::path::Path;

use rheon_providers::scripted::{
    SCENARIO_BYTES_MAX, Scenario, ScenarioError, ScenarioPosition, ScriptedProvider,
};

use crate::support::{text, user};

fn error(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    let message = Scenario::from_path(&path).unwrap_err().to_string();
    message.replace(&folder.display().to_string(), "FOLDER").replace('\\', "/")
}

#[tokio::test]
async fn a_file_is_read_by_its_ending() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("a.toml", "[[turns]]\nsteps = [{ type = 'text', text = 'Hi' }]"),
        ("a.json", r#"{"turns": [{"steps": [{"type": "text", "text": "Hi"}]}]}"#),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        let provider = ScriptedProvider::new(Scenario::from_path(&path).unwrap());
        assert_eq!(text(&provider, user("x")).await, "Hi");
    }
}

#[test]
fn a_complaint_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(
        error(folder, "a.toml", "\nnam = 'x'"),
        "scenario FOLDER/a.toml: line 2, column 1: nam: unknown key; did you mean \"name\"?"
    );
    assert_eq!(
        error(folder, "b.json", "{"),
        "scenario FOLDER/b.json: line 1, column 1: not JSON: EOF while parsing an object"
    );
    assert_eq!(
        error(folder, "c.yaml", ""),
        "scenario FOLDER/c.yaml: the format is unknown; name the file .toml or .json"
    );
    assert_eq!(
        error(folder, "d.toml", [b'#', 0xff]),
        "cannot read scenario FOLDER/d.toml: invalid utf-8 sequence of 1 bytes from index 1"
    );
    let large = "é".repeat(SCENARIO_BYTES_MAX / 2) + "é";
    assert_eq!(error(folder, "e.json", large), "scenario FOLDER/e.json: larger than 4194304 bytes; split it");
    let missing = Scenario::from_path(folder.join("f.toml")).unwrap_err();
    assert!(missing.to_string().starts_with("cannot read scenario "), "{missing}");
}

#[test]
fn a_program_can_read_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    fs::write(&path, "[[turns]]\n repeat = 1").unwrap();
    match Scenario::from_path(&path).unwrap_err() {
        ScenarioError::Invalid { place, key, .. } => {
            assert_eq!(place, ScenarioPosition { path: Some(path), line: 2, column: 2 });
            assert_eq!(key, "turns[0].repeat");
        }
        other => panic!("{other}"),
    }
}
