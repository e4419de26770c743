//! Reading files of rules: every mistake is an error with its place (D19, M10).

use expect_test::expect;
use rheon_types::event::PermissionMode;

use crate::policy::Document;
use crate::policy::document::{DOCUMENT_BYTES_MAX, RULES_MAX};

#[test]
fn the_example_of_the_conventions_is_read() {
    let text = r#"{"model": "x", "permissions":{"defaultMode":"acceptEdits","allow":["Bash(npm run *)","Read(~/.zshrc)"],
        "ask":["Bash(git push *)"],"deny":["Read(./.env)","WebFetch(domain:*.evil.com)","mcp__github__delete_*"],
        "additionalDirectories":["../lib"], "disableBypassPermissionsMode": "disable"}}"#;
    let document = Document::parse("settings.json", text).unwrap();
    let texts = |entries: &[crate::policy::RuleEntry]| -> Vec<String> {
        entries.iter().map(|entry| entry.rule.to_string()).collect()
    };
    assert_eq!(document.default_mode, Some(PermissionMode::AcceptEdits));
    assert_eq!(texts(&document.allow), ["Bash(npm run *)", "Read(~/.zshrc)"]);
    assert_eq!(texts(&document.ask), ["Bash(git push *)"]);
    assert_eq!(
        texts(&document.deny),
        ["Read(./.env)", "WebFetch(domain:*.evil.com)", "mcp__github__delete_*"]
    );
    assert_eq!(document.additional_directories, ["../lib"]);
    assert!(document.bypass_disabled);
}

#[test]
fn what_cannot_be_understood_is_an_error_with_its_place() {
    let texts = [
        "",
        "[]",
        "null",
        "{\"permissions\": null}",
        "{\"permissions\": {\"allow\": null}}",
        "{\"permissions\": {\"allow\": \"Bash\"}}",
        "{\"permissions\": {\"allow\": [1]}}",
        "{\n  \"permissions\": {\n    \"alow\": []}}",
        "{\n  \"permisions\": {}}",
        "{\"deny\": []}",
        "{\"permissions\": {\"allow\": [],\n \"allow\": []}}",
        "{\"permissions\": {}, \"permissions\": {}}",
        "{\"permissions\": {\"defaultMode\": \"acceptEdit\"}}",
        "{\"permissions\": {\"defaultMode\": \"yolo\"}}",
        "{\"permissions\": {\"deny\": [\"Bash(ls)\",\n  \"Bash(rm\"]}}",
        "{\"permissions\": {\"deny\": [{\"match\": []}]}}",
        "{\"permissions\": {\"deny\": [{\"rule\": \"Bash\", \"not_mach\": []}]}}",
        "{\"permissions\": {\"disableBypassPermissionsMode\": \"no\"}}",
        "{\"permissions\": {\"deny\": [\"Bash(rm *)\"]",
    ];
    let mut table = String::new();
    for text in texts {
        table.push_str(&Document::parse("settings.json", text).unwrap_err().to_string());
        table.push('\n');
    }
    expect![[r#"
        cannot read settings.json: line 1, column 1: EOF while parsing a value
        cannot read settings.json: line 1, column 1: invalid type: sequence, expected an object such as {"permissions": {"deny": ["Read(./.env)"]}}
        cannot read settings.json: line 1, column 4: invalid type: null, expected an object such as {"permissions": {"deny": ["Read(./.env)"]}}
        cannot read settings.json: line 1, column 20: invalid type: null, expected an object of rules such as {"allow": [], "ask": [], "deny": []}
        cannot read settings.json: line 1, column 30: invalid type: null, expected a list of rules such as ["Bash(git status)"]
        cannot read settings.json: line 1, column 32: invalid type: string "Bash", expected a list of rules such as ["Bash(git status)"]
        cannot read settings.json: line 1, column 28: invalid type: integer `1`, expected a rule such as "Bash(git status)", or {"rule": ..., "match": [...], "not_match": [...]}
        cannot read settings.json: line 3, column 10: unknown key "alow"; did you mean "allow"?
        cannot read settings.json: line 2, column 14: unknown key "permisions"; rules belong in "permissions"
        cannot read settings.json: line 1, column 7: unknown key "deny"; rules belong in "permissions"
        cannot read settings.json: line 2, column 13: duplicate key "allow"; merge them
        cannot read settings.json: line 1, column 38: duplicate key "permissions"; merge them
        cannot read settings.json: line 1, column 45: unknown mode "acceptEdit"; did you mean "acceptEdits"?
        cannot read settings.json: line 1, column 39: unknown mode "yolo"; expected one of default, acceptEdits, plan, dontAsk, bypassPermissions, bypass
        cannot read settings.json: line 2, column 11: cannot read the rule "Bash(rm": character 8: the parenthesis is not closed; write Bash(rm)
        cannot read settings.json: line 1, column 39: missing key "rule"
        cannot read settings.json: line 1, column 53: unknown key "not_mach"; did you mean "not_match"?
        cannot read settings.json: line 1, column 54: "disableBypassPermissionsMode" must be "disable"
        cannot read settings.json: line 1, column 39: EOF while parsing an object
    "#]].assert_eq(&table);
}

#[test]
fn a_mark_of_byte_order_is_no_mistake() {
    assert_eq!(Document::parse("x", "\u{feff}{\"permissions\":{}}"), Ok(Document::default()));
}

#[test]
fn files_and_lists_have_limits() {
    let padded = |bytes: usize| format!("{{}}{}", " ".repeat(bytes - 2));
    assert!(Document::parse("x", &padded(DOCUMENT_BYTES_MAX)).is_ok());
    assert!(Document::parse("x", &padded(DOCUMENT_BYTES_MAX + 1)).is_err());
    let list =
        |count: usize| format!("{{\"permissions\":{{\"deny\":[{}]}}}}", vec!["\"Bash(x)\""; count].join(","));
    assert_eq!(Document::parse("x", &list(RULES_MAX)).unwrap().deny.len(), RULES_MAX);
    assert!(Document::parse("x", &list(RULES_MAX + 1)).is_err());
    let deep = format!("{{\"x\":{}", "[".repeat(100_000));
    assert!(Document::parse("x", &deep).is_err());
}
