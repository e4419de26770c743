//! Ranking notes for a task.

use super::rank::rank;
use super::{Note, NoteKind};
use crate::markdown::FileOrigin;

fn note(name: &str, text: &str) -> Note {
    Note {
        name: name.into(),
        description: String::new(),
        kind: NoteKind::Semantic,
        created: String::new(),
        keywords: Vec::new(),
        text: text.into(),
        origin: FileOrigin::User,
    }
}

fn names(notes: &[Note], task: &str) -> Vec<String> {
    rank(notes, task).into_iter().map(|note| note.name.clone()).collect()
}

#[test]
fn rare_words_count_more_than_common_ones() {
    let notes = [
        note("a", "tests tests tests run here"),
        note("b", "tests of the tokenizer"),
        note("c", "tests are slow"),
        note("d", "nothing of the kind"),
    ];
    assert_eq!(names(&notes, "Why do the tokenizer tests fail?")[0], "b");
    assert_eq!(names(&notes, "Why do the tokenizer tests fail?").len(), 3);
    assert_eq!(names(&notes, "and the of with"), Vec::<String>::new());
    assert_eq!(names(&notes, ""), Vec::<String>::new());
    assert_eq!(names(&[], "tests"), Vec::<String>::new());
}

#[test]
fn names_count_more_than_text_and_plurals_match() {
    let mut tagged = note("x", "other");
    tagged.keywords = vec!["release".into()];
    let notes = [note("y", "how a release is made"), tagged];
    assert_eq!(names(&notes, "Releases!"), ["x", "y"]);
    assert_eq!(names(&[note("日本", "設定")], "設"), ["日本"]);
}

#[test]
fn ties_are_broken_by_age_and_the_order_is_stable() {
    let mut notes: Vec<Note> = (0..20).map(|n| note(&format!("n{n:02}"), "parser lexer tokenizer")).collect();
    notes[7].created = "2026-11-15T10:00:00Z".into();
    let first = names(&notes, "parser tokenizer lexer");
    assert_eq!(first[..2], ["n07", "n00"]);
    for _ in 0..10 {
        assert_eq!(names(&notes, "lexer parser tokenizer"), first);
    }
}

#[test]
fn long_tasks_and_notes_are_truncated() {
    let notes = [note("a", &"filler ".repeat(100_000)), note("b", "needle")];
    assert_eq!(names(&notes, &format!("needle {}", "x".repeat(10_000_000))), ["b"]);
}
