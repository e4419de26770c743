//! Tests of the wrapping of running text.

use super::Wrap;

fn wrapped(columns: Option<usize>, pieces: &[&str]) -> String {
    let mut wrap = Wrap::new(columns);
    pieces.iter().map(|piece| wrap.piece(piece)).collect()
}

#[test]
fn lines_break_between_words() {
    let cases: [(&[&str], &str); 9] = [
        (&["one two three"], "one two\nthree"),
        (&["one ", "two ", "three"], "one two\nthree"),
        (&["on", "e two th", "ree"], "one two\nthree"),
        (&["one two1 a"], "one two1\na"),
        (&["  in two"], "  in two"),
        (&["  indented"], "  indented"),
        (&["a  b      c"], "a  b\nc"),
        (&["verylongword is"], "verylongword\nis"),
        (&["漢字 漢字 a"], "漢字\n漢字 a"),
    ];
    for (pieces, lines) in cases {
        assert_eq!(wrapped(Some(8), pieces), lines);
    }
}

#[test]
fn a_word_in_pieces_is_not_held_back() {
    assert_eq!(wrapped(Some(8), &["one tw", "enty"]), "one twenty");
}

#[test]
fn a_line_break_of_the_text_begins_anew() {
    let mut wrap = Wrap::new(Some(8));
    assert_eq!(wrap.piece("one two "), "one two");
    wrap.line_break();
    assert_eq!(wrap.piece("three"), "three");
}

#[test]
fn without_an_edge_nothing_changes() {
    let text = "one  two\tthree   ";
    assert_eq!(wrapped(None, &[text]), text);
}
