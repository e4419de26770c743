//! A text that is typed, key by key.

use super::{Edited, Editing, PAST_MAX, Unit, text};
use crate::repl::keys::{Key, Keys};

/// What comes of bytes as they are typed.
fn typed(editing: &mut Editing, bytes: &[u8]) -> Vec<Edited> {
    let keys = Keys::default().take(bytes);
    let mut edited: Vec<Edited> = Vec::new();
    for key in keys {
        let what = editing.key(key);
        if let Edited::Line(line) = &what {
            editing.remember(line);
        }
        edited.push(what);
    }
    edited.retain(|edited| *edited != Edited::Changed);
    edited
}

fn line(text: &str) -> Edited {
    Edited::Line(text.into())
}

#[test]
fn a_pasted_text_and_what_is_typed_around_it_are_one_line() {
    let mut editing = Editing::default();
    assert_eq!(typed(&mut editing, b"see: \x1b[200~one\rtwo\x1b[201~ ok?\r"), [line("see: one\ntwo ok?")]);
    assert!(editing.is_empty());
}

#[test]
fn a_long_pasted_text_is_one_thing_and_comes_out_whole() {
    let mut editing = Editing::default();
    let pasted = "line\n".repeat(100);
    let bytes = format!("a\x1b[200~{pasted}\x1b[201~b");
    typed(&mut editing, bytes.as_bytes());
    assert_eq!(editing.units().len(), 3);
    assert_eq!(text(editing.units()), format!("a{pasted}b"));
    // Two keys erase it.
    typed(&mut editing, b"\x7f\x7f");
    assert_eq!(editing.units(), [Unit::Character('a')]);
}

#[test]
fn a_line_that_ends_with_a_backslash_goes_on() {
    let mut editing = Editing::default();
    assert_eq!(typed(&mut editing, b"one\\\rtwo\r"), [line("one\ntwo")]);
    assert_eq!(typed(&mut editing, b"a\\b\r"), [line("a\\b")]);
}

#[test]
fn keys_move_and_erase() {
    let mut editing = Editing::default();
    assert_eq!(typed(&mut editing, b"helo world\x1b[D\x1bb\x1b[D\x1b[D\x1b[Dl\r"), [line("hello world")]);
    assert_eq!(typed(&mut editing, b"one two\x17three\r"), [line("one three")]);
    assert_eq!(typed(&mut editing, b"gone\x15kept\x01\x1b[C\x0b\r"), [line("k")]);
    assert_eq!(typed(&mut editing, b"abc\x01\x04\x1b[3~\x1b[3~\x1b[3~\x7f\r"), [line("")]);
}

#[test]
fn the_past_comes_back_and_the_draft_after_it() {
    let mut editing = Editing::with_past(["earlier".to_owned()]);
    typed(&mut editing, b"first\r   \rfirst\r");
    assert_eq!(typed(&mut editing, b"dra\x1b[A\x1b[A\x1b[A\r"), [line("earlier")]);
    assert_eq!(typed(&mut editing, b"dra\x1b[A\x1b[A\x1b[B\x1b[B\x1b[Bft\r"), [line("draft")]);
}

#[test]
fn no_more_than_so_much_of_the_past_is_kept() {
    let past = (0..=PAST_MAX).map(|number| number.to_string());
    let mut editing = Editing::with_past(past);
    for _ in 0..=PAST_MAX {
        editing.key(Key::Up);
    }
    assert_eq!(text(editing.units()), "1");
}

#[test]
fn the_end_is_only_where_nothing_is_typed() {
    let mut editing = Editing::default();
    assert_eq!(typed(&mut editing, b"a\x01\x04\x04"), [Edited::End]);
    assert_eq!(editing.key(Key::Escape), Edited::Escape);
    assert_eq!(editing.key(Key::PasteTooLong), Edited::TooLong);
}
