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
