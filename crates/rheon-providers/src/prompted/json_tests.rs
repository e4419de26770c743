//! Ends of values and contents of strings.

use proptest::prelude::*;

use super::json::{StringStatus, Unescape, leading_value};

fn unescape(inside: &str) -> (String, StringStatus) {
    let (mut unescape, mut text) = (Unescape::default(), String::new());
    for character in inside.chars() {
        if unescape.push(character, &mut text) == StringStatus::Ended {
            return (text, StringStatus::Ended);
        }
    }
    (text, StringStatus::On)
}

#[test]
fn value_ends_with_its_brackets_and_quotes() {
    for (text, value) in [
        (r#"{"a": "}"} x"#, Some(r#"{"a": "}"}"#)),
        (r#""a\"b" c"#, Some(r#""a\"b""#)),
        ("[1, [2]]]", Some("[1, [2]]")),
        ("12,", Some("12")),
        ("true}", Some("true")),
        (r#"{"a": "\\"}"#, Some(r#"{"a": "\\"}"#)),
        (r#"{"a": "\"}"#, None),
        ("12", None),
        ("", None),
    ] {
        assert_eq!(leading_value(text), value, "{text}");
    }
}

#[test]
fn invalid_escape_stays_and_half_a_pair_is_replaced() {
    for (inside, text) in [
        (r#"a\n\t\"\\\/\u00e9""#, "a\n\t\"\\/é"),
        (r#"\ud83d\ude00""#, "😀"),
        (r#"\ud83dx""#, "\u{fffd}x"),
        (r#"\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
        (r#"\ud83d""#, "\u{fffd}"),
        (r#"\ude00""#, "\u{fffd}"),
        (r#"\q\u12x""#, "\\q\u{fffd}x"),
    ] {
        assert_eq!(unescape(inside), (text.to_owned(), StringStatus::Ended), "{inside}");
    }
    assert_eq!(unescape(r"ab\ud83d\ud"), ("ab".to_owned(), StringStatus::On));
}

proptest! {
    #[test]
    fn any_string_round_trips(text in any::<String>()) {
        let json = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(leading_value(&json), Some(json.as_str()));
        prop_assert_eq!(unescape(json.strip_prefix('"').unwrap()), (text, StringStatus::Ended));
    }

    #[test]
    fn any_text_is_read_without_panicking(text in ".{0,200}") {
        unescape(&text);
        leading_value(&text);
    }
}
