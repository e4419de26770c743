//! What a terminal is told to show of a text that is being typed.

use expect_test::expect;

use super::Drawing;
use crate::repl::editing::Editing;
use crate::repl::keys::Key;
use crate::terminal::Size;

const SIZE: Size = Size { columns: 11, rows: 4 };

/// What is drawn of a text, the cursor so many keys to the left of its end.
fn drawn(drawing: &mut Drawing, text: &str, left: usize) -> String {
    let mut editing = Editing::default();
    editing.key(Key::Paste(text.into()));
    (0..left).for_each(|_| drop(editing.key(Key::Left)));
    drawing.draw("> ", editing.units(), editing.cursor(), SIZE).escape_debug().to_string()
}

#[test]
fn a_text_is_drawn_over_what_was_there() {
    let mut drawing = Drawing::default();
    expect![[r#""#]].assert_eq(&drawn(&mut drawing, "", 0));
    expect![[r#""#]].assert_eq(&drawn(&mut drawing, "abc", 1));
    expect![[r#""#]].assert_eq(&drawn(&mut drawing, "abcdefghijkl", 0));
    expect![[r#""#]].assert_eq(&drawn(&mut drawing, "one\ntwo", 5));
    expect![[r#""#]].assert_eq(&drawing.leave().escape_debug().to_string());
}

#[test]
fn wide_characters_and_those_that_terminals_obey_take_their_room() {
    let mut drawing = Drawing::default();
    expect![[r#""#]].assert_eq(&drawn(&mut drawing, "日本語日本", 0));
    expect![[r#""#]].assert_eq(&drawn(&mut drawing, "\u{1b}[2J\u{7}", 0));
}

#[test]
fn of_a_text_that_is_higher_than_the_terminal_the_rows_around_the_cursor_are_shown() {
    let mut drawing = Drawing::default();
    expect![[r#""#]].assert_eq(&drawn(&mut drawing, "1\n2\n3\n4\n5", 0));
    expect![[r#""#]].assert_eq(&drawn(&mut drawing, &"x\n".repeat(40), 0));
}
