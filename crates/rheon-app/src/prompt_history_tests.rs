//! The history of prompts.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{FILE_BYTES_MAX, PROMPT_BYTES_MAX, PromptHistory};

fn history(dir: &Path, project: &str) -> PromptHistory {
    PromptHistory { file: dir.join("rheon/history.jsonl"), project: project.to_owned() }
}

#[test]
fn prompts_come_back_in_their_directory() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (history(dir.path(), "/one"), history(dir.path(), "/two"));
    assert_eq!(one.load(), Vec::<String>::new());
    for text in ["a", "b\nc", "b\nc", " ", &"x".repeat(PROMPT_BYTES_MAX + 1)] {
        one.add(text).unwrap();
    }
    two.add("d").unwrap();
    assert_eq!(one.load(), ["a", "b\nc"]);
    assert_eq!(two.load(), ["d"]);
    let mode = std::fs::metadata(&one.file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn garbage_in_the_file_is_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let history = history(dir.path(), "/one");
    history.add("a").unwrap();
    let mut bytes = std::fs::read(&history.file).unwrap();
    bytes.extend(b"{\"project\":\n\xff\xfe\n[]\n");
    std::fs::write(&history.file, bytes).unwrap();
    history.add("b").unwrap();
    assert_eq!(history.load(), ["a", "b"]);
}

#[test]
fn the_file_stays_bounded_while_two_write_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let long = "y".repeat(PROMPT_BYTES_MAX - 10);
    std::thread::scope(|scope| {
        for project in ["/one", "/two"] {
            let (history, long) = (history(dir.path(), project), &long);
            scope
                .spawn(move || (0..100).for_each(|index| history.add(&format!("{index:03}{long}")).unwrap()));
        }
    });
    let history = history(dir.path(), "/one");
    assert!(std::fs::metadata(&history.file).unwrap().len() <= FILE_BYTES_MAX);
    let last = history.load().pop().unwrap();
    assert!(last.starts_with("099"), "{last}");
}
