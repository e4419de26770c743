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
    (0..left).for_each(|_| drop(editing.key(Key::Leave)));
    drawing.draw("> ", editing.units(), editing.cursor(), SIZE).escape_debug().to_string()
}

#[test]
fn a_text_is_drawn_over_what_was_there() {
    let mut drawing = Drawing::default();
    expect![[r#"\r\u{1b}[J> \r\u{1b}[2C"#]].assert_eq(&drawn(&mut drawing, "", 0));
    expect![[r#"\r\u{1b}[J> abc\r\u{1b}[4C"#]].assert_eq(&drawn(&mut drawing, "abc", 1));
    expect![[r#"\r\u{1b}[J> abcdefgh\r\nijkl\r\u{1b}[4C"#]].assert_eq(&drawn(
        &mut drawing,
        "abcdefghijkl",
        0,
    ));
    expect![[r#"\u{1b}[1A\r\u{1b}[J> one\r\ntwo\u{1b}[1A\r\u{1b}[4C"#]].assert_eq(&drawn(
        &mut drawing,
        "one\ntwo",
        5,
    ));
    expect![[r#"\r\n\r\n"#]].assert_eq(&drawing.leave().escape_debug().to_string());
}

#[test]
fn wide_characters_and_those_that_terminals_obey_take_their_room() {
    let mut drawing = Drawing::default();
    expect![[r#"\r\u{1b}[J> 日本語日\r\n本\r\u{1b}[2C"#]].assert_eq(&drawn(&mut drawing, "日本語日本", 0));
    expect![[r#"\u{1b}[1A\r\u{1b}[J> \\u{1b}[2\r\nJ\\u{7}\r\u{1b}[6C"#]].assert_eq(&drawn(
        &mut drawing,
        "\u{1b}[2J\u{7}",
        0,
    ));
}

#[test]
fn of_a_text_that_is_higher_than_the_terminal_the_rows_around_the_cursor_are_shown() {
    let mut drawing = Drawing::default();
    expect![[r#"\r\u{1b}[J3\r\n4\r\n5\r\u{1b}[1C"#]].assert_eq(&drawn(&mut drawing, "1\n2\n3\n4\n5", 0));
    expect![[r#"\u{1b}[2A\r\u{1b}[J> [pasted:\r\n 40 lines]\r\u{1b}[10C"#]].assert_eq(&drawn(
        &mut drawing,
        &"x\n".repeat(40),
        0,
    ));
}

#[test]
fn what_a_narrower_terminal_has_broken_into_more_rows_goes_too() {
    let mut drawing = Drawing::default();
    drawn(&mut drawing, "abcdefghijklmnopqr", 0);
    let narrow = Size { columns: 6, rows: 4 };
    // Two rows of ten cells are four of six.
    expect![[r#"\u{1b}[3A\r\u{1b}[J"#]].assert_eq(&drawing.hide(narrow).escape_debug().to_string());
    expect![[r#"\r\u{1b}[J"#]].assert_eq(&drawing.hide(narrow).escape_debug().to_string());
}
