//! Tests of values and lines in words.

use serde_json::json;

use super::{arguments, describe_call, fit, one_line, width};

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
        assert_eq!(describe_call(&call), text);
    }
}
