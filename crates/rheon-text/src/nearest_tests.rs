//! Which words are taken for which, and which for none.

use super::{did_you_mean, distance, nearest};

#[test]
fn a_word_with_up_to_two_slips_is_known() {
    let known = ["model", "models", "max_turns"];
    let cases = [
        ("modle", Some("model")),
        ("Models", Some("models")),
        ("mdoel", Some("model")),
        ("maxturn", Some("max_turns")),
        ("turns", None),
        ("", None),
        ("xy", None),
    ];
    for (word, expected) in cases {
        assert_eq!(nearest(word, known), expected, "{word}");
    }
    assert_eq!(nearest("model", []), None);
}

#[test]
fn advice_names_one_or_all() {
    assert_eq!(did_you_mean("alow", &["allow", "deny"]), "did you mean \"allow\"?");
    assert_eq!(did_you_mean("zebra", &["allow", "deny"]), "expected one of allow, deny");
}

#[test]
fn distances() {
    for (a, b, expected) in [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("äö", "ao", 2)] {
        assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
    }
    assert_eq!(distance(&"a".repeat(64), "a"), 63);
    assert_eq!(distance(&"a".repeat(65), &"a".repeat(65)), usize::MAX / 4);
}
