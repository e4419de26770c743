//! Every kind of text that terminals obey or readers do not see, written out.

use super::{inert, visible, visible_block};

#[test]
fn what_a_terminal_would_obey_is_written_out() {
    let cases = [
        ("plain", "plain"),
        ("lines\nand\ttabs", "lines\nand\ttabs"),
        ("ünïcödé 漢字 🎉", "ünïcödé 漢字 🎉"),
        ("\x1b[31mred\x1b[0m", "\\u{1b}[31mred\\u{1b}[0m"),
        ("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}"),
        ("\x1b]52;c;aGk=\x1b\\", "\\u{1b}]52;c;aGk=\\u{1b}\\"),
        ("\u{9b}2J", "\\u{9b}2J"),
        ("\u{90}dcs\u{9c}", "\\u{90}dcs\\u{9c}"),
        ("over\rwritten", "over\\rwritten"),
        ("back\x08space\x7f", "back\\u{8}space\\u{7f}"),
        ("nul\0", "nul\\u{0}"),
        ("a\u{202e}b\u{202c}", "a\\u{202e}b\\u{202c}"),
        (
            "👨\u{200d}👩\u{200d}👧 e\u{301} ❤\u{fe0f} می\u{200c}خواهم",
            "👨\u{200d}👩\u{200d}👧 e\u{301} ❤\u{fe0f} می\u{200c}خواهم",
        ),
        ("א\u{200f} a\u{200b}b\u{ad}", "א\\u{200f} a\\u{200b}b\\u{ad}"),
        ("a\u{2028}b", "a\\u{2028}b"),
        ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}"),
    ];
    for (text, shown) in cases {
        assert_eq!(inert(text), shown);
        assert_eq!(inert(shown), shown, "what is inert stays as it is");
    }
}

#[test]
fn what_a_person_decides_about_hides_nothing() {
    let cases = [
        ("plain\nlines", "plain\nlines"),
        ("a\tb", "a    b"),
        ("a\u{200b}b\u{feff}\u{ad}", "a\\u{200b}b\\u{feff}\\u{ad}"),
        ("\u{202e}\u{200f}\u{e0041}", "\\u{202e}\\u{200f}\\u{e0041}"),
        ("\x1b[8m\r", "\\u{1b}[8m\\u{d}"),
    ];
    for (text, shown) in cases {
        assert_eq!(visible_block(text), shown);
    }
}

#[test]
fn a_line_hides_nothing_and_stays_one() {
    let cases = [
        ("plain ünïcödé", "plain ünïcödé"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("back\\slash \"quotes\"", "back\\slash \"quotes\""),
        ("\x1b[2K\u{9b}\u{7f}", "\\u{1b}[2K\\u{9b}\\u{7f}"),
        ("❤\u{fe0f}\u{200d}\u{34f}\u{ffa0}", "❤\\u{fe0f}\\u{200d}\\u{34f}\\u{ffa0}"),
    ];
    for (text, shown) in cases {
        assert_eq!(visible(text), shown);
    }
}
