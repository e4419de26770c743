//! Settings: what is read, and where they cannot be.

use std::time::Duration;

use expect_test::expect;

use crate::hooks::{HookEvent, HookExecution, HookFailurePolicy, HookSettings, UNSUPPORTED_EVENTS};

#[test]
fn everything_that_a_hook_can_say_is_read() {
    let text = r#"{
      "model": "x", "permissions": {"deny": ["Read(./.env)"]},
      "hooks": {
        "PreToolUse": [{"matcher": "Bash|Edit", "hooks": [
          {"type": "command", "command": "${CLAUDE_PROJECT_DIR}/x.sh", "args": ["a"], "timeout": 1.5,
           "if": "Bash(rm *)", "statusMessage": "looking", "onFailure": "block", "once": true},
          {"type": "command", "command": "log", "async": true}
        ]}],
        "WorktreeCreate": [{"anything": true}]
      }
    }"#;
    let settings = HookSettings::parse(&format!("\u{feff}{text}"), ".claude/settings.json").unwrap();
    let hooks: Vec<_> = settings.hooks().collect();
    let [first, second] = hooks.as_slice() else { panic!("{settings:?}") };
    assert_eq!(settings.groups[0].event, HookEvent::PreToolUse);
    assert_eq!(
        (first.timeout, first.on_failure),
        (Some(Duration::from_millis(1500)), HookFailurePolicy::Block)
    );
    assert_eq!(first.args.as_deref(), Some(["a".to_owned()].as_slice()));
    assert_eq!(first.condition.as_ref().unwrap().text(), "Bash(rm *)");
    assert_eq!((second.execution, second.on_failure), (HookExecution::Background, HookFailurePolicy::Allow));
    assert_eq!(&*second.source, ".claude/settings.json");
    assert_eq!(
        settings.warnings,
        [
            ".claude/settings.json: ignoring \"once\" of a hook for PreToolUse",
            ".claude/settings.json: hooks for WorktreeCreate never run: Rheon does not support this event",
        ]
    );
}

#[test]
fn all_events_of_claude_code_are_known() {
    assert_eq!(HookEvent::ALL.len() + UNSUPPORTED_EVENTS.len(), 31);
    for name in UNSUPPORTED_EVENTS {
        let settings = HookSettings::parse(&format!("{{\"hooks\":{{\"{name}\":[]}}}}"), "x").unwrap();
        assert!(settings.is_empty() && settings.warnings.len() == 1);
    }
}

#[test]
fn what_cannot_be_understood_is_an_error_with_its_place() {
    let hook = |hook: &str| format!("{{\"hooks\": {{\n  \"Stop\": [{{\"hooks\": [\n    {hook}]}}]}}}}");
    let texts = [
        String::new(),
        "[]".into(),
        "{\"hooks\": []}".into(),
        "{\"hook\": {}}".into(),
        "{\"PreToolUse\": []}".into(),
        "{\"hooks\": {\"PreToolUze\": []}}".into(),
        "{\"hooks\": {\"Completely\": []}}".into(),
        "{\"hooks\": {}, \"hooks\": {}}".into(),
        "{\"hooks\": {\"Stop\": [{\"matcher\": \"(\", \"hooks\": []}]}}".into(),
        "{\"hooks\": {\"Stop\": [{\"mather\": \"\", \"hooks\": []}]}}".into(),
        "{\"hooks\": {\"Stop\": [{\"matcher\": \"\"}]}}".into(),
        "{\"hooks\": {\"Stop\": {}}}".into(),
        hook("\"./x.sh\""),
        hook("{}"),
        hook("{\"type\": \"command\"}"),
        hook("{\"type\": \"command\", \"command\": \" \"}"),
        hook("{\"type\": \"comand\", \"command\": \"x\"}"),
        hook("{\"type\": \"http\", \"url\": \"x\"}"),
        hook("{\"type\": \"command\", \"comand\": \"x\"}"),
        hook("{\"type\": \"command\", \"command\": 7}"),
        hook("{\"type\": \"command\", \"command\": \"x\", \"timeout\": 0}"),
        hook("{\"type\": \"command\", \"command\": \"x\", \"timeout\": 1e99}"),
        hook("{\"type\": \"command\", \"command\": \"x\", \"if\": \"Bash(\"}"),
        hook("{\"type\": \"command\", \"command\": \"x\", \"if\": \"Bash(rm *)\"}"),
        hook("{\"type\": \"command\", \"command\": \"x\", \"onFailure\": \"blok\"}"),
        hook("{\"type\": \"command\", \"command\": \"x\", \"onFailure\": \"block\", \"async\": true}"),
    ];
    let problem = |text: &String| HookSettings::parse(text, "s.json").unwrap_err().to_string() + "\n";
    expect![[r#"
        cannot read the hooks of s.json: line 1, column 1: EOF while parsing a value
        cannot read the hooks of s.json: line 1, column 1: invalid type: sequence, expected an object such as {"hooks": {"PreToolUse": []}}
        cannot read the hooks of s.json: line 1, column 10: invalid type: sequence, expected an object of events such as {"PreToolUse": [{"matcher": "Bash", "hooks": []}]}
        cannot read the hooks of s.json: line 1, column 7: unknown key "hook"; hooks belong in "hooks"
        cannot read the hooks of s.json: line 1, column 13: unknown key "PreToolUse"; hooks belong in "hooks"
        cannot read the hooks of s.json: line 1, column 23: unknown event "PreToolUze"; did you mean "PreToolUse"?
        cannot read the hooks of s.json: line 1, column 23: unknown event "Completely"; expected one of SessionStart, SessionEnd, UserPromptSubmit, PreToolUse, PermissionRequest, PermissionDenied, PostToolUse, PostToolUseFailure, PreCompact, PostCompact, SubagentStart, SubagentStop, Stop, StopFailure, Notification
        cannot read the hooks of s.json: line 1, column 21: duplicate key "hooks"; merge them
        cannot read the hooks of s.json: line 1, column 35: invalid matcher "(": regex parse error: ( ^ error: unclosed group
        cannot read the hooks of s.json: line 1, column 29: unknown key "mather"; did you mean "matcher"?
        cannot read the hooks of s.json: line 1, column 35: missing key "hooks": a list of commands
        cannot read the hooks of s.json: line 1, column 19: invalid type: map, expected a sequence
        cannot read the hooks of s.json: line 3, column 12: invalid type: string "./x.sh", expected a hook such as {"type": "command", "command": "./check.sh"}
        cannot read the hooks of s.json: line 3, column 6: missing key "type"; add "type": "command"
        cannot read the hooks of s.json: line 3, column 23: missing key "command"
        cannot read the hooks of s.json: line 3, column 39: "command" must be a non-empty string
        cannot read the hooks of s.json: line 3, column 21: unknown type "comand"; did you mean "command"?
        cannot read the hooks of s.json: line 3, column 19: unsupported hook type "http"; use "command"
        cannot read the hooks of s.json: line 3, column 32: unknown key "comand"; did you mean "command"?
        cannot read the hooks of s.json: line 3, column 36: invalid type: integer `7`, expected a string
        cannot read the hooks of s.json: line 3, column 53: the timeout 0 must be more than 0 and at most 86400 seconds
        cannot read the hooks of s.json: line 3, column 56: the timeout 1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 must be more than 0 and at most 86400 seconds
        cannot read the hooks of s.json: line 3, column 54: cannot read the rule "Bash(": character 6: the parenthesis is not closed; write Bash()
        cannot read the hooks of s.json: line 3, column 63: "if" applies to tool calls only, not to Stop; remove it
        cannot read the hooks of s.json: line 3, column 60: unknown "onFailure" "blok"; did you mean "block"?
        cannot read the hooks of s.json: line 3, column 76: Rheon does not wait for a hook with "async", so "onFailure" cannot block
    "#]].assert_eq(&texts.iter().map(problem).collect::<String>());
}

#[test]
fn a_file_has_its_limits() {
    assert!(HookSettings::parse(&" ".repeat(10_000_000), "x").is_err());
    let many = |count: usize| {
        let hooks = vec![r#"{"type":"command","command":"x"}"#; count].join(",");
        HookSettings::parse(&format!("{{\"hooks\":{{\"Stop\":[{{\"hooks\":[{hooks}]}}]}}}}"), "x")
    };
    assert_eq!(many(1_000).unwrap().hooks().count(), 1_000);
    assert!(many(1_001).is_err());
}
