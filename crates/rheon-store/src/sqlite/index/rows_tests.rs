//! Converts events to rows, without a database.

use std::sync::Arc;

use expect_test::expect;
use rheon_types::{
    AgentEvent, AgentMessage, Message, MessageEvent, RunEnd, SessionEvent, Timestamp, ToolEvent,
};
use serde_json::json;

use super::super::super::fixture_tests::{answered, ended, events, run, said, tool_said};
use super::{ARGUMENTS_BYTES_MAX, OUTPUT_BYTES_MAX, Row, TEXT_BYTES_MAX, TITLE_CHARS_MAX, rows_of};

fn rows(kind: AgentEvent) -> Vec<Row> {
    events("s", 0, vec![kind]).first().map(rows_of).unwrap().1
}

fn text_bytes(kind: AgentEvent) -> usize {
    match rows(kind).first() {
        Some(Row::Entry { text, .. }) => text.len(),
        other => panic!("{other:?}"),
    }
}

fn title(prompt: &str) -> String {
    match rows(said(prompt)).pop() {
        Some(Row::FirstPrompt(prompt)) => prompt,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_given_title_is_apart_from_the_first_prompt() {
    let titled = |title: &str| AgentEvent::Session(SessionEvent::Title { title: title.into() });
    assert_eq!(rows(titled("Nested lists\nand more")), [Row::Title("Nested lists".into())]);
    assert_eq!(rows(titled("")), [Row::Title(String::new())]);
}

#[test]
fn a_run_becomes_rows() {
    let mut text = String::new();
    for event in events("s", 0, run("Fix the bug\nplease", "Done.")) {
        for row in rows_of(&event).1 {
            text += &format!("{} {row:?}\n", event.seq);
        }
    }
    expect![[r#"
        1 Status(Unfinished)
        1 Model("m1")
        2 Turn
        3 Entry { role: User, text: "Fix the bug\nplease" }
        3 FirstPrompt("Fix the bug")
        4 Model("m1")
        5 Spent { usage: Usage { input: 100, output: 20, cache_read: 0, cache_write: 0, total_tokens: 0 }, cost: Some(MicroUsd(7)) }
        6 CallStart { call_id: "c1", name: "read", arguments: "{\"path\":\"a.rs\"}" }
        7 CallEnd { call_id: "c1", name: "read", state: Done, duration_ms: 12 }
        8 CallEnd { call_id: "c2", name: "shell", state: Blocked, duration_ms: 0 }
        9 Entry { role: ToolResult, text: "fn main() {}" }
        10 Turn
        11 Model("m2")
        12 Entry { role: Assistant, text: "Done." }
        13 Spent { usage: Usage { input: 150, output: 30, cache_read: 0, cache_write: 0, total_tokens: 0 }, cost: None }
        14 Status(Completed)
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_title_is_the_first_line_cut_at_a_character() {
    assert_eq!(title("\n  Fix\u{7} it  \nnow"), "Fix it");
    let long = "é".repeat(TITLE_CHARS_MAX + 1);
    assert_eq!(title(&long), "é".repeat(TITLE_CHARS_MAX - 1) + "…");
    assert_eq!(title(&"é".repeat(TITLE_CHARS_MAX)), "é".repeat(TITLE_CHARS_MAX));
}

#[test]
fn texts_are_cut_at_a_character_at_their_limits() {
    assert_eq!(text_bytes(answered(&"a".repeat(TEXT_BYTES_MAX))), TEXT_BYTES_MAX);
    assert_eq!(text_bytes(answered(&"a".repeat(TEXT_BYTES_MAX + 1))), TEXT_BYTES_MAX);
    assert_eq!(text_bytes(answered(&format!("a{}", "é".repeat(TEXT_BYTES_MAX)))), TEXT_BYTES_MAX - 1);
    assert_eq!(text_bytes(tool_said(&"a".repeat(OUTPUT_BYTES_MAX * 2))), OUTPUT_BYTES_MAX);
}

#[test]
fn arguments_are_shortened() {
    let short = |args| match rows(AgentEvent::Tool(ToolEvent::Start {
        call_id: "c".into(),
        name: "t".into(),
        args: Arc::new(args),
        effect: rheon_types::Effect::Pure,
        grant: None,
    }))
    .pop()
    {
        Some(Row::CallStart { arguments, .. }) => arguments,
        other => panic!("{other:?}"),
    };
    assert_eq!(short(json!({"a": 1})), r#"{"a":1}"#);
    let cut = short(json!({ "a": "é".repeat(10_000_000) }));
    assert!(cut.ends_with("é…") && cut.len() <= ARGUMENTS_BYTES_MAX + "…".len(), "{cut}");
}

#[test]
fn runtime_notes_set_no_title_and_empty_messages_are_not_indexed() {
    let note = Message::note("be brief", Timestamp::default());
    let rows_of_note =
        rows(AgentEvent::Message(MessageEvent::End { message: Arc::new(AgentMessage::from(note)) }));
    assert_eq!(rows_of_note, [Row::Entry { role: super::EntryRole::Runtime, text: "be brief".into() }]);
    assert_eq!(rows(answered("")), []);
    assert_eq!(rows(said(" \n ")), [Row::Entry { role: super::EntryRole::User, text: " \n ".into() }]);
    assert_eq!(rows(ended(RunEnd::Aborted)), [Row::Status(super::SessionStatus::Aborted)]);
}
