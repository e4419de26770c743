//! Lists and searches directories of transcripts.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::super::fixtures::{SESSION, answer, file, text, user, with};
use super::{END_BYTES, TranscriptFindError, find, list};
use crate::claude::project_dir_name;
use serde_json::json;

fn write(path: &Path, content: &str, modified_s: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    let at = UNIX_EPOCH + Duration::from_secs(modified_s);
    File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
}

#[test]
fn the_newest_come_first_and_only_transcripts_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    let cwd = Path::new("/nowhere/project");
    let project = dir.path().join(project_dir_name(cwd));
    assert_eq!(list(dir.path(), cwd, 10).unwrap(), []);
    let titled = |words: &str| file(&[user("u", None, words), answer("a", Some("u"), "m", text("1"))]);
    write(&project.join("old.jsonl"), &titled("old"), 1_000);
    write(&project.join("new.jsonl"), &titled("new"), 3_000);
    write(&project.join("mid.jsonl"), "garbage", 2_000);
    write(&project.join("notes.txt"), "", 9_000);
    write(&project.join("..jsonl"), "", 9_000);
    fs::create_dir_all(project.join("folder.jsonl")).unwrap();
    let listed = list(dir.path(), cwd, 10).unwrap();
    let shown: Vec<_> = listed
        .iter()
        .map(|it| (it.id.as_str(), it.modified.as_millis(), it.facts.title.as_deref()))
        .collect();
    assert_eq!(
        shown,
        [("new", 3_000_000, Some("new")), ("mid", 2_000_000, None), ("old", 1_000_000, Some("old"))]
    );
    assert_eq!(list(dir.path(), cwd, 1).unwrap().len(), 1);
}

#[test]
fn a_title_is_found_at_either_end_of_a_long_file_wherever_the_cut_falls() {
    let dir = tempfile::tempdir().unwrap();
    let cwd = Path::new("/nowhere/project");
    let path = dir.path().join(project_dir_name(cwd)).join(format!("{SESSION}.jsonl"));
    let bulk = with(user("x", None, ""), "bulk", json!("é🙂".repeat(100_000)));
    let end = json!({"type": "last-prompt", "lastPrompt": "the end"});
    // The cut goes through every byte of a four-byte character.
    for padding in 0..4 {
        let pad = json!({"type": "custom-title", "pad": "x".repeat(padding)});
        let lines = [bulk.clone(), pad, end.clone()];
        write(&path, &file(&lines), 1_000);
        assert!(fs::metadata(&path).unwrap().len() > 2 * END_BYTES);
        assert_eq!(list(dir.path(), cwd, 1).unwrap()[0].facts.title.as_deref(), Some("the end"));
    }
    write(&path, &file(&[user("u", None, "the beginning"), bulk, end]), 1_000);
    assert_eq!(list(dir.path(), cwd, 1).unwrap()[0].facts.title.as_deref(), Some("the beginning"));
}

#[test]
#[cfg(unix)]
fn a_project_is_identified_by_its_canonical_path() {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().canonicalize().unwrap().join("real");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, dir.path().join("link")).unwrap();
    let projects = dir.path().join("projects");
    write(&projects.join(project_dir_name(&real)).join("one.jsonl"), "", 1_000);
    assert_eq!(list(&projects, &dir.path().join("link"), 10).unwrap().len(), 1);
}

#[test]
fn a_session_is_found_in_any_project_and_the_newest_of_its_files() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(find(&dir.path().join("missing"), SESSION).unwrap(), None);
    let name = format!("{SESSION}.jsonl");
    write(&dir.path().join("-a").join(&name), "", 2_000);
    write(&dir.path().join("-b").join(&name), "", 3_000);
    write(&dir.path().join("-c").join(&name), "", 1_000);
    assert_eq!(find(dir.path(), SESSION).unwrap(), Some(dir.path().join("-b").join(name)));
    assert_eq!(find(dir.path(), "another").unwrap(), None);
}

#[test]
fn an_invalid_id_never_touches_a_path() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("secret.jsonl"), "", 1_000);
    fs::create_dir(dir.path().join("-a")).unwrap();
    for id in ["../secret", "..", "", "-a/../../secret", "x\0y"] {
        assert!(matches!(find(dir.path(), id), Err(TranscriptFindError::Name(_))), "{id:?}");
    }
}

#[test]
fn ten_thousand_transcripts_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    let cwd = Path::new("/nowhere/project");
    let project = dir.path().join(project_dir_name(cwd));
    fs::create_dir_all(&project).unwrap();
    let content = file(&[user("u", None, "one")]);
    for number in 0..10_000 {
        fs::write(project.join(format!("s{number:05}.jsonl")), &content).unwrap();
    }
    assert_eq!(list(dir.path(), cwd, 50).unwrap().len(), 50);
    assert_eq!(list(dir.path(), cwd, usize::MAX).unwrap().len(), 10_000);
}
