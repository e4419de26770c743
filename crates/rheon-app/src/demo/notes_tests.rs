//! Tests of the notes: names that stay inside, and the caps.

use expect_test::expect;

use super::notes::{NAME_CHARS_MAX, NOTE_BYTES_MAX, NOTES_MAX, NoteFile, NoteName, Notes};

fn name(text: &str) -> NoteName {
    NoteName::parse(text).unwrap()
}

#[test]
fn names_that_could_lead_elsewhere_are_refused() {
    let long = "a".repeat(NAME_CHARS_MAX + 1);
    let bad = [
        "",
        ".",
        "..",
        "../a",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "a.md",
        "A",
        "a b",
        "a\n",
        "a\0",
        "é",
        "a:b",
        "~",
        "C:",
        &long,
    ];
    for text in bad {
        let refused = NoteName::parse(text).unwrap_err().to_string();
        assert_eq!(refused, format!("{text:?} is no name for a note: use 1 to 40 of a-z, 0-9 and -"));
    }
    for text in ["a", "0", "-", "release-plan", &"a".repeat(NAME_CHARS_MAX)] {
        NoteName::parse(text).unwrap();
    }
}

#[test]
fn the_schema_says_the_same_length() {
    assert_eq!(NoteName::PATTERN, format!("^[a-z0-9-]{{1,{NAME_CHARS_MAX}}}$"));
}

#[test]
fn a_note_is_a_file_and_the_last_text_counts() {
    let folder = tempfile::tempdir().unwrap();
    let notes = Notes::new(folder.path());
    notes.write(&name("b"), "first").unwrap();
    notes.write(&name("b"), "second").unwrap();
    notes.write(&name("a"), "").unwrap();
    assert_eq!(notes.read(&name("b")).unwrap(), "second");
    let file = |name: &str, bytes| NoteFile { name: name.into(), bytes };
    assert_eq!(notes.list().unwrap(), [file("a.md", 0), file("b.md", 6)]);
}

#[test]
fn a_note_has_at_most_so_many_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let notes = Notes::new(folder.path());
    notes.write(&name("full"), &"x".repeat(NOTE_BYTES_MAX)).unwrap();
    let refused = notes.write(&name("over"), &"x".repeat(NOTE_BYTES_MAX + 1)).unwrap_err();
    expect!["the note has 65537 bytes, at most 65536 are kept; make it shorter or split it"]
        .assert_eq(&refused.to_string());
}

#[test]
fn there_are_at_most_so_many_notes() {
    let folder = tempfile::tempdir().unwrap();
    let notes = Notes::new(folder.path());
    for index in 0..NOTES_MAX {
        notes.write(&name(&index.to_string()), "x").unwrap();
    }
    let refused = notes.write(&name("one-more"), "x").unwrap_err();
    expect!["there are 100 notes already; write to one of them"].assert_eq(&refused.to_string());
    notes.write(&name("0"), "y").unwrap();
}

#[test]
fn a_folder_that_is_gone_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let notes = Notes::new(folder.path());
    folder.close().unwrap();
    let refused = notes.write(&name("a"), "x").unwrap_err();
    expect!["the folder of the notes cannot be used: No such file or directory (os error 2)"]
        .assert_eq(&refused.to_string());
}
