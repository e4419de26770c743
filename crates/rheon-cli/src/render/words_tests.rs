//! Tests of figures, values and lines in words.

use rheon_types::MicroUsd;
use serde_json::json;

use super::{about, arguments, bytes, count, duration, fit, grouped, money, one_line, width};

#[test]
fn durations() {
    let cases = [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1.0 s"),
        (1_250, "1.2 s"),
        (59_999, "59.9 s"),
        (60_000, "1 min 0 s"),
        (125_999, "2 min 5 s"),
    ];
    for (millis, text) in cases {
        assert_eq!(duration(millis), text);
    }
}

#[test]
fn numbers() {
    let cases = [
        (0, "0"),
        (999, "999"),
        (1_000, "1,000"),
        (1_234_567, "1,234,567"),
        (u64::MAX, "18,446,744,073,709,551,615"),
    ];
    for (number, text) in cases {
        assert_eq!(grouped(number), text);
    }
    assert_eq!(
        [count(0, "turn"), count(1, "turn"), count(1_000, "turn")],
        ["0 turns", "1 turn", "1,000 turns"]
    );
}

#[test]
fn arguments_on_one_line() {
    let cases = [
        (json!({}), ""),
        (json!(null), ""),
        (json!({ "name": "plan" }), "name=plan"),
        (json!({ "path": "src/a.rs", "line": 3, "all": true }), "all=true line=3 path=src/a.rs"),
        (json!({ "text": "two words" }), r#"text="two words""#),
        (json!({ "text": "" }), r#"text="""#),
        (json!({ "text": "a\nb\t\x1b[31m\u{202e}\n" }), r#"text="a\nb\t\u{1b}[31m\u{202e}""#),
        (json!({ "list": [1, "\u{9b}2J"] }), r#"list=[1,"\u{9b}2J"]"#),
        (json!({ "a\nb": 1 }), "a (+1 line)=1"),
        (json!("only text"), r#""only text""#),
    ];
    for (value, text) in cases {
        assert_eq!(arguments(&value), text);
    }
    assert_eq!(arguments(&json!({ "text": "x".repeat(61) })), format!("text={}…", "x".repeat(60)));
    let many: serde_json::Map<_, _> = (0..21).map(|n| (format!("k{n:02}"), json!(n))).collect();
    assert!(arguments(&many.into()).ends_with("k19=19 …"));
}

#[test]
fn the_first_line() {
    let cases = [
        ("", "(empty)"),
        (" \n\t\n", "(empty)"),
        ("one", "one"),
        ("\n  one \n", "one"),
        ("one\n\ntwo\nthree\n", "one (+2 lines)"),
        ("a\tb\x1b[2J", "a b\\u{1b}[2J"),
    ];
    for (text, line) in cases {
        assert_eq!(one_line(text), line);
    }
    assert_eq!(one_line(&"x".repeat(100_000)).chars().count(), 1_001);
}

#[test]
fn texts_that_fit() {
    let cases = [
        ("four", 4, "four"),
        ("fives", 4, "fiv…"),
        ("漢字漢字", 8, "漢字漢字"),
        ("漢字漢字", 7, "漢字漢…"),
        ("漢字漢字", 6, "漢字…"),
        ("two", 1, "…"),
        ("two", 0, ""),
    ];
    for (text, columns, fitted) in cases {
        assert_eq!(fit(text, columns), fitted);
        assert!(width(&fit(text, columns)) <= columns);
    }
}

#[test]
fn sizes_and_money() {
    assert_eq!(
        [0, 1, 999, 1_000, 12_345, 4_000_000].map(bytes),
        ["0 bytes", "1 byte", "999 bytes", "1.0 kB", "12.3 kB", "4.0 MB"]
    );
    assert_eq!(
        [0, 1, 150, 600, 999, 1_001, 12_300, 999_999, 1_000_000, 12_340_001]
            .map(|micro| money(MicroUsd(micro))),
        [
            "$0.0000",
            "$0.000001",
            "$0.00015",
            "$0.0006",
            "$0.000999",
            "$0.0011",
            "$0.0123",
            "$1.0000",
            "$1.00",
            "$12.35"
        ]
    );
}

#[test]
fn what_calls_are_about() {
    let cases = [
        (json!({ "command": "ls -l", "path": "x" }), "ls -l"),
        (json!({ "command": "a\nb\x1b[2J" }), "a (+1 line)"),
        (json!({ "path": "src/a.rs", "limit": 2 }), "src/a.rs"),
        (json!({ "file_path": "/a b" }), "/a b"),
        (json!({ "pattern": "fn x", "path": "src" }), "fn x in src"),
        (json!({ "pattern": "*.rs" }), "*.rs"),
        (json!({ "url": "https://example.org" }), "https://example.org"),
        (json!({ "command": 3, "name": "n" }), "command=3 name=n"),
        (json!({ "path": " " }), r#"path="""#),
    ];
    for (call, text) in cases {
        assert_eq!(about(&call), text);
    }
}
