//! Which lessons are drawn, and which are not.

use std::sync::Arc;

use expect_test::expect;
use rheon_types::{
    AgentMessage, AssistantMessage, Content, History, Message, StopReason, Timestamp, ToolCall,
    ToolResultMessage, Usage,
};
use serde_json::{Value, json};

use super::{Correction, Failures, LessonRedactor, Resolutions, correction, corrections};

/// One call: the tool, its main argument, and the error message if it failed.
type Step<'a> = (&'a str, &'a str, Option<&'a str>);

fn lessons(steps: &[Step<'_>]) -> Vec<String> {
    let (mut failures, mut resolutions) = (Failures::new(), Resolutions::new());
    for (tool, argument, failed) in steps {
        let key = if *tool == "bash" { "command" } else { "path" };
        let arguments = json!({ key: argument, "content": "not shown" });
        match failed {
            Some(message) => {
                failures.record_exit(tool, &arguments, message);
                resolutions.record_failure(tool, &arguments);
            }
            None => {
                let resolved = failures.record_success(tool, &arguments);
                resolutions.record_success(tool, &arguments, resolved.as_ref(), &failures);
            }
        }
    }
    resolutions.take_lessons().into_iter().map(|lesson| lesson.text).collect()
}

const LINKER: Option<&str> = Some("error: linker `cc` failed\nmore");

#[test]
fn the_changes_between_repeated_failures_and_a_success_are_a_lesson() {
    let steps = [
        ("bash", "cargo build", LINKER),
        ("read", "Cargo.toml", None),
        ("edit", "unrelated.rs", None),
        ("bash", "cargo build", LINKER),
        ("bash", "apt-get install  gcc", None),
        ("read", "notes.md", None),
        ("edit", ".cargo/config.toml", None),
        ("edit", ".cargo/config.toml", None),
        ("bash", "cargo build", None),
        ("bash", "cargo build", LINKER),
        ("bash", "cargo build", LINKER),
        ("edit", "x", None),
        ("bash", "cargo build", None),
    ];
    // Each failure gives one lesson per session.
    expect![[r#"
        [
            "When `cargo build` fails with \"error: linker `cc` failed\": `apt-get install gcc`, then `edit .cargo/config.toml` came before it worked.",
        ]
    "#]].assert_debug_eq(&lessons(&steps));
}

#[test]
fn a_similar_command_that_works_is_a_lesson() {
    let unknown = Some("error: unexpected argument '--no-captur' found; usage: cargo test; parse error");
    let steps = [
        ("bash", "cargo test --workspace --no-captur", unknown),
        ("bash", "cargo test --workspace --no-captures", unknown),
        ("bash", "cargo fmt", None),
        ("bash", "cargo test --workspace --nocapture", None),
    ];
    expect![[r#"
        [
            "When `cargo test --workspace --no-captures` fails with \"error: unexpected argument '--no-captur' found; usage: cargo test; parse error\": `cargo test --workspace --nocapture` worked.",
        ]
    "#]].assert_debug_eq(&lessons(&steps));
}

#[test]
fn chance_single_failures_and_unrelated_work_give_no_lesson() {
    let none: Vec<String> = Vec::new();
    let flaky =
        [("bash", "make", LINKER), ("bash", "make", LINKER), ("read", "a", None), ("bash", "make", None)];
    assert_eq!(lessons(&flaky), none);
    let once = [("bash", "make", LINKER), ("edit", "a", None), ("bash", "make", None)];
    assert_eq!(lessons(&once), none);
    let other_kinds = [
        ("bash", "make", Some("timed out")),
        ("bash", "make", Some("permission denied")),
        ("edit", "a", None),
        ("bash", "make", None),
    ];
    assert_eq!(lessons(&other_kinds), none);
    // A different spelling does not fix failing tests.
    let tests = [
        ("bash", "cargo test a b", LINKER),
        ("bash", "cargo test a b", LINKER),
        ("bash", "cargo test a", None),
    ];
    assert_eq!(lessons(&tests), none);
}

#[test]
fn lessons_are_bounded() {
    let mut steps: Vec<(String, Option<String>)> = Vec::new();
    for index in 0..40 {
        let command = format!("{index} {}", "é".repeat(5_000));
        for _ in 0..2 {
            steps.push((command.clone(), Some("ü".repeat(5_000))));
        }
        steps.extend((0..200).map(|step| (format!("step {index} {step} {}", "ä".repeat(500)), None)));
        for _ in 0..2 {
            steps.push((command.clone(), Some("ü".repeat(5_000))));
        }
        steps.push((format!("fix {index} {}", "ö".repeat(5_000)), None));
        steps.push((command, None));
    }
    let steps: Vec<Step<'_>> =
        steps.iter().map(|(command, text)| ("bash", command.as_str(), text.as_deref())).collect();
    let lessons = lessons(&steps);
    assert_eq!(lessons.len(), 16);
    assert!(lessons.iter().all(|lesson| lesson.chars().count() < 700));
}

#[test]
fn corrections_are_recognized() {
    let changes = ["`edit src/a.rs`".to_owned()];
    let is_lesson = |text: &str| correction(&changes, text, &LessonRedactor::default()).is_some();
    for text in [
        "No, use tabs.",
        "no",
        "Nope",
        "Don\u{2019}t touch the tests",
        "do not add comments",
        "Please don't rename things.",
        "Hm. Use the builder instead.",
        "That's not what I meant",
        "revert that",
        "You should not edit generated files",
        "I said four spaces",
    ] {
        assert!(is_lesson(text), "{text}");
    }
    for text in [
        "",
        "Thanks!",
        "no problem",
        "Don't worry about it",
        "Never mind, that is fine",
        "Nothing else",
        "Noted.",
        "Now add a test",
        "Great, continue",
        "The donor's page is steadfast; insteadiness",
        "stopwatch.rs needs a test",
    ] {
        assert!(!is_lesson(text), "{text}");
    }
    assert_eq!(correction(&[], "No, use tabs.", &LessonRedactor::default()), None);
    expect![[r#"After `edit src/a.rs`, the user said: "No, use tabs. Always.""#]].assert_eq(
        &correction(&changes, "No, use\n\n tabs.  Always.", &LessonRedactor::default()).unwrap().text,
    );
    let long =
        correction(&changes, &format!("No, {}", "é".repeat(100_000)), &LessonRedactor::default()).unwrap();
    assert!(long.text.chars().count() < 400);
}

fn assistant(calls: &[(&str, &str, Value)]) -> AgentMessage {
    let call = |(id, name, arguments): &(&str, &str, Value)| {
        Content::ToolCall(ToolCall {
            id: (*id).into(),
            name: (*name).into(),
            arguments: Arc::new(arguments.clone()),
            malformed: None,
            key_order: None,
        })
    };
    let message = Message::Assistant(AssistantMessage {
        content: calls.iter().map(call).collect(),
        stop_reason: StopReason::ToolUse,
        model: "m".into(),
        provider: "p".into(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    });
    message.into()
}

fn result(id: &str, is_error: bool) -> AgentMessage {
    let message = Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "edit".into(),
        content: vec![Content::text("x")],
        is_error,
        timestamp: Timestamp::default(),
    });
    message.into()
}

fn user(text: &str) -> AgentMessage {
    AgentMessage::user(text, Timestamp::default())
}

#[test]
fn a_conversation_gives_lessons_from_corrections_after_successful_changes() {
    let edit = |id, path: &str| (id, "edit", json!({ "path": path }));
    let messages = [
        user("No, start with the parser"),
        assistant(&[edit("1", "a.rs"), edit("2", "b.rs"), ("3", "read", json!({ "path": "c.rs" }))]),
        result("1", false),
        result("2", true),
        result("3", false),
        Message::note("no, don't stop", Timestamp::default()).into(),
        user("No, put it into c.rs instead."),
        user("Don't forget the tests."),
        assistant(&[("4", "bash", json!({ "command": "rm -r out" }))]),
        result("4", false),
        user("Fine. Go on."),
        user("Never mind."),
    ];
    let history: History = messages.into_iter().map(Arc::new).collect();
    expect![[r#"
        [
            Lesson {
                text: "After `edit a.rs`, the user said: \"No, put it into c.rs instead.\"",
                source: Correction(
                    Correction {
                        changes: [
                            "`edit a.rs`",
                        ],
                        quote: "No, put it into c.rs instead.",
                    },
                ),
            },
        ]
    "#]]
    .assert_debug_eq(&corrections(&history, &LessonRedactor::default()));
}

#[test]
fn secrets_are_redacted_before_lessons_are_truncated() {
    let redact = || LessonRedactor::new(|text: &str| text.replace("key-0123456789", "[redacted]"));
    // The key crosses the point where the text is truncated.
    let command = format!("deploy {} key-0123456789", "x".repeat(145));
    let (mut failures, mut resolutions) = (Failures::new(), Resolutions::new());
    resolutions.redact_with(redact());
    let arguments = json!({ "command": command });
    for _ in 0..2 {
        failures.record_exit("bash", &arguments, "refused: key-0123456789 is no good");
        resolutions.record_failure("bash", &arguments);
    }
    let login = json!({ "command": "login --with key-0123456789" });
    resolutions.record_success("bash", &login, None, &failures);
    let resolved = failures.record_success("bash", &arguments);
    resolutions.record_success("bash", &arguments, resolved.as_ref(), &failures);
    let texts: Vec<String> = resolutions.take_lessons().into_iter().map(|lesson| lesson.text).collect();
    let text = correction(&["`a`".to_owned()], "No, use key-0123456789 instead", &redact()).unwrap().text;
    expect![[r#"
        When `deploy (x) [redact...` fails with "refused: [redacted] is no good": `login --with [redacted]` came before it worked.
        After `a`, the user said: "No, use [redacted] instead""#]].assert_eq(&format!("{}\n{text}", texts.join("\n").replace(&"x".repeat(145), "(x)")));
}

#[test]
fn a_correction_contradicts_only_advice_that_was_followed() {
    let contradicts = |changes: &[&str], quote: &str, learning: &str| {
        let changes = changes.iter().map(|change| format!("`{change}`")).collect();
        Correction { changes, quote: quote.to_owned() }.contradicts(learning)
    };
    let sync = "When `pytest` fails with \"no module named ledger\": `uv sync` came before it worked.";
    assert!(contradicts(&["pytest", "uv sync"], "No, don't sync: add ledger to the path instead.", sync));
    assert!(!contradicts(&["pytest"], "No, don't run pytest here.", sync), "that is not what it advises");
    assert!(!contradicts(&["uv sync"], "No, leave the docs alone.", sync), "that is about something else");
    let tuesday = "Deploys go out on Tuesdays.";
    assert!(contradicts(&["./deploy.sh"], "Never deploy on a Tuesday!", tuesday));
    assert!(!contradicts(&["edit a.rs"], "Never deploy on a Tuesday!", tuesday), "nothing was done by it");
    let package = "After `npm install`, the user said: \"No, use pnpm instead.\"";
    assert!(!contradicts(&["npm install"], "I said pnpm instead of npm!", package), "the wish is the same");
    assert!(contradicts(&["pnpm install"], "No, don't use pnpm in this folder.", package));
    let read = "Mend the tests by reading them first.";
    assert!(!contradicts(&["rm -r tests"], "No, never delete tests.", read), "one word of many says little");
    assert!(!contradicts(&[], "No, don't use pnpm in this folder.", package));
    assert!(!contradicts(&["\u{0}"], "", ""));
}
