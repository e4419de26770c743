//! Tests of `inert`: every kind of text that terminals obey.

use super::inert;

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
        ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}"),
    ];
    for (text, shown) in cases {
        assert_eq!(inert(text), shown);
        assert_eq!(inert(shown), shown, "what is inert stays as it is");
    }
}
