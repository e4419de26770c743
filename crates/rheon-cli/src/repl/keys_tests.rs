//! Keys as terminals send them.

use proptest::prelude::*;

use super::{Key, Keys, PASTE_BYTES_MAX};

fn keys(bytes: &[u8]) -> Vec<Key> {
    Keys::default().take(bytes)
}

#[test]
fn a_pasted_text_of_several_lines_is_one_key() {
    let typed = b"a\x1b[200~one\rtwo\r\nthree\nfour\x1b[31m\x1b[201~\r";
    let paste = Key::Paste("one\ntwo\nthree\nfour\u{1b}[31m".into());
    assert_eq!(keys(typed), [Key::Character('a'), paste, Key::Enter]);
}

#[test]
fn a_pasted_text_at_the_cap_is_kept_and_one_byte_more_is_not() {
    for (length, too_long) in [(PASTE_BYTES_MAX, false), (PASTE_BYTES_MAX + 1, true)] {
        let mut keys = Keys::default();
        assert_eq!(keys.take(b"\x1b[200~"), []);
        assert_eq!(keys.take(&vec![b'x'; length]), []);
        let pasted = keys.take(b"\x1b[201~y");
        let is_kept = matches!(&pasted[0], Key::Paste(text) if text.len() == length);
        assert_eq!((pasted[0] == Key::PasteTooLong, is_kept), (too_long, !too_long));
        assert_eq!(pasted[1..], [Key::Character('y')]);
    }
}

#[test]
fn sequences_of_terminals_are_keys() {
    use Key::*;
    assert_eq!(keys(b"\x1b[A\x1bOB\x1b[C\x1b[D"), [Up, Down, Right, Leave]);
    assert_eq!(keys(b"\x1b[1;5C\x1b[1;3D\x1bb\x1bf"), [WordRight, WordLeft, WordLeft, WordRight]);
    assert_eq!(keys(b"\x1b[H\x1b[4~\x1bOF\x01\x05"), [Home, End, End, Home, End]);
    assert_eq!(keys(b"\x7f\x1b[3~\x15\x0b\x17"), [Backspace, Delete, EraseBefore, EraseAfter, EraseWord]);
    assert_eq!(keys(b"\n\x1b\r\x1b[13;2u\x1b[27;2;13~"), [LineBreak, LineBreak, LineBreak, LineBreak]);
    // Function keys, reports of the mouse and of the focus are no text.
    assert_eq!(keys(b"\x1b[15~\x1b[<0;1;1M\x1b[I\x1bx\x00"), []);
    assert_eq!(keys(b"\t"), [Tab]);
}

#[test]
fn characters_are_whole_and_what_is_none_is_marked() {
    assert_eq!(keys("é€🦀".as_bytes()), ['é', '€', '🦀'].map(Key::Character));
    assert_eq!(keys(b"\xffa\xe2a"), ['\u{fffd}', 'a', '\u{fffd}', 'a'].map(Key::Character));
}

#[test]
fn a_lone_escape_is_a_key_when_nothing_follows() {
    let mut keys = Keys::default();
    assert_eq!((keys.take(b"\x1b"), keys.has_lone_escape()), (vec![], true));
    assert_eq!(keys.take_lone_escape(), Some(Key::Escape));
    assert_eq!(keys.take_lone_escape(), None);
}

#[test]
fn a_sequence_without_an_end_is_given_up() {
    let mut typed = b"\x1b[".to_vec();
    typed.extend([b'1'; 40]);
    typed.push(b'a');
    assert_eq!(keys(&typed).len(), 0);
    let mut pieces = Keys::default();
    for byte in &typed {
        pieces.take(&[*byte]);
    }
    assert_eq!(pieces.take(b"\r"), [Key::Enter]);
}

proptest! {
    #[test]
    fn it_does_not_matter_where_bytes_are_cut(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                &b"a"[..], "é".as_bytes(), "🦀".as_bytes(), b"\r", b"\n", b"\x1b[A", b"\x1b[200~", b"\x1b[201~", b"\x1b[1;5C",
                b"\xff", b"\x1bb", b"\x7f",
            ]),
            0..20,
        ),
        cut in 1usize..7,
    ) {
        let typed = pieces.concat();
        let whole = keys(&typed);
        let mut cuts = Keys::default();
        let cut: Vec<Key> = typed.chunks(cut).flat_map(|chunk| cuts.take(chunk)).collect();
        prop_assert_eq!(whole, cut);
    }
}
