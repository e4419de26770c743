//! Typed text becomes a valid full-text query.

use super::{QUESTION_CHARS_MAX, WORDS_MAX, all_words, any_word, joined, segmented};

#[test]
fn typed_text_becomes_phrases_without_operators() {
    let cases = [
        ("", None),
        (" \t\n", None),
        ("+ - * ( ) \"", None),
        ("hello", Some("\"hello\"*")),
        ("hello ", Some("\"hello\"")),
        ("a", Some("\"a\"")),
        ("foo AND bar", Some("\"foo\" \"AND\" \"bar\"*")),
        ("say \"yes\"", Some("\"say\" \"\"\"yes\"\"\"*")),
        ("col:x NEAR(a b)", Some("\"col:x\" \"NEAR(a\" \"b)\"*")),
        ("a\0b", Some("\"a\" \"b\"")),
    ];
    for (typed, question) in cases {
        assert_eq!(all_words(typed).as_deref(), question, "{typed:?}");
    }
}

#[test]
fn a_prompt_becomes_its_distinct_words_without_stop_words() {
    let cases = [
        ("How do I fix the test? Fix it!", Some("\"fix\" OR \"test\"")),
        ("the and of", None),
        ("?!", None),
        ("你好", Some("\"\u{200b}你\u{200b}\" OR \"\u{200b}好\u{200b}\"")),
    ];
    for (prompt, question) in cases {
        assert_eq!(any_word(prompt).as_deref(), question, "{prompt:?}");
    }
}

#[test]
fn a_query_has_a_limit() {
    let long = "x".repeat(QUESTION_CHARS_MAX + 6_000);
    assert_eq!(all_words(&long).map(|question| question.len()), Some(QUESTION_CHARS_MAX + 3));
    let many = (0..10_000).map(|n| format!("w{n} ")).collect::<String>();
    assert_eq!(all_words(&many).map(|question| question.split(' ').count()), Some(WORDS_MAX));
    assert_eq!(any_word(&many).map(|question| question.split(" OR ").count()), Some(WORDS_MAX));
}

#[test]
fn separated_characters_are_joined_again() {
    let text = "fix 日本語 now🚀 ok";
    assert_eq!(joined(&segmented(text)), text);
    assert_ne!(segmented(text), text);
    assert_eq!(segmented("plain é"), "plain é");
}
