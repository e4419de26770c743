//! Tests of how calls end.

use rheon_types::ToolResult;
use serde_json::json;

use super::Outcome;

fn shown(text: &str, details: serde_json::Value) -> String {
    let outcome = Outcome::of(&ToolResult::text(text).with_details(details), false, 1_234);
    format!("{:?} {}{} {}", outcome.ink, outcome.word, outcome.text, outcome.took.unwrap())
}

#[test]
fn ends_in_a_line() {
    let large = "a line of output\n".repeat(1_000);
    let cases = [
        shown("", json!(null)),
        shown("one", json!({})),
        shown("one\ntwo", json!({ "files": 2 })),
        shown(&large, json!({})),
        shown("exit code 0", json!({ "exit_code": 0 })),
        shown("\n\nexit code 2", json!({ "exit_code": 2 })),
        shown(&format!("{large}test result: ok\n\nexit code 0"), json!({ "exit_code": 0 })),
        shown("ended by signal 9, no exit code", json!({ "exit_code": null, "signal": 9 })),
    ];
    expect_test::expect![[r#"
        Plain (empty) 1.2 s
        Plain one 1.2 s
        Plain one (+1 line) 1.2 s
        Plain a line of output (+999 lines), 17.0 kB 1.2 s
        Plain exit code 0 · no output 1.2 s
        Red exit code 2 · no output 1.2 s
        Plain exit code 0 · 1,001 lines, 17.0 kB · … test result: ok 1.2 s
        Plain ended by signal 9, no exit code 1.2 s"#]]
    .assert_eq(&cases.join("\n"));
}

#[test]
fn a_failed_command_shows_the_lines_that_name_an_error_and_the_last_ones() {
    let notes: String = (0..20).map(|line| format!("note {line}\n")).collect();
    let text = format!(
        "start\nerror[E0308]: mismatched types\n  --> src/main.rs:3:5\n\n{notes}could not compile\nexit code 101"
    );
    let failed = |text: &str, truncated: bool| {
        let details = json!({ "exit_code": 101, "truncated": truncated });
        let outcome = Outcome::of(&ToolResult::text(text).with_details(details), false, 1_234);
        let lines: Vec<String> = outcome.lines.iter().map(|line| format!("{line}\n")).collect();
        format!("{}{}{}\n", lines.concat(), outcome.word, outcome.text)
    };
    let shown = [
        failed(&text, false),
        failed(&text, true),
        failed("one\n\ttwo\nexit code 101", false),
        failed("exit code 101", false),
    ];
    expect_test::expect![[r#"
        error[E0308]: mismatched types
          --> src/main.rs:3:5
        note 15
        note 16
        note 17
        note 18
        note 19
        could not compile
        exit code 101 · 8 of 25 lines shown
        --
        error[E0308]: mismatched types
          --> src/main.rs:3:5
        note 15
        note 16
        note 17
        note 18
        note 19
        could not compile
        exit code 101 · 8 of more than 25 lines shown
        --
        one
            two
        exit code 101
        --
        exit code 101 · no output
    "#]]
    .assert_eq(&shown.join("--\n"));
}

#[test]
fn a_typed_command_shows_its_output() {
    let result = |text: &str| ToolResult::text(text).with_details(json!({ "exit_code": 0 }));
    let typed = |text: &str| Outcome::of(&result(text), false, 1).with_output(&result(text));
    let few = typed("a\n\nb\nexit code 0");
    assert_eq!((few.lines.as_slice(), few.text.as_str()), (&["a".into(), String::new(), "b".into()][..], ""));
    let many: String = (0..150).map(|line| format!("line {line}\n")).collect();
    let many = typed(&format!("{many}exit code 0"));
    assert_eq!((many.lines.len(), many.text.as_str()), (100, " · 100 of 150 lines shown"));
    assert_eq!(many.lines.last().unwrap(), "line 149");
}
