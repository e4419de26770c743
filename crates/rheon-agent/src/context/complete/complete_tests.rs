//! Good answers pass; what is left open is found.

use rheon_types::{Timestamp, Usage};

use super::*;

fn answer(content: Vec<Content>, stop_reason: StopReason) -> AssistantMessage {
    AssistantMessage {
        content,
        stop_reason,
        model: String::new(),
        provider: String::new(),
        usage: Usage::default(),
        timestamp: Timestamp::default(),
        error_message: None,
    }
}

fn said(text: &str) -> Option<Shortfall> {
    shortfall(&answer(vec![Content::text(text)], StopReason::Stop), &[])
}

fn task(text: &str, status: TaskStatus) -> TaskItem {
    TaskItem { text: text.into(), status }
}

#[test]
fn ordinary_good_answers_are_complete() {
    for good in [
        "Done. All 12 tests pass.",
        "I fixed the bug in `parse.rs`: the index was off by one.\n\n- src/parse.rs\n- tests/parse.rs",
        "42",
        "The function returns None when the list is empty. Let me know if you want it to panic instead.",
        "I'll wait for your decision.",
        "I can also add a test if you like.",
        "I will need the key before I go on; I'll continue once you have set it.",
        "Should I also update the docs?",
        "```\nlet me = 1;\n```",
        "TODO is the name of the file, and it will be read at start.",
        "Das Problem ist behoben; ich werde nichts weiter ändern.",
        "Next steps: you could run `make`.",
        "Here is the plan:\n1. I'll read the file.\n2. I'll change it.",
    ] {
        assert_eq!(said(good), None, "{good}");
    }
}

#[test]
fn an_announcement_without_an_action_is_found() {
    for (text, sentence) in [
        ("I see the problem. Let me fix it now.", "Let me fix it now."),
        ("The tests fail.\n\nI'll look at the log next:", "I'll look at the log next:"),
        ("Now I’ll run the tests…", "Now I’ll run the tests…"),
    ] {
        assert_eq!(said(text), Some(Shortfall::Announced { sentence: sentence.into() }), "{text}");
    }
}

#[test]
fn empty_cut_and_thinking_only_answers_are_found() {
    let thinking = Content::Thinking { thinking: "hm".into(), signature: None };
    assert_eq!(said(" \n"), Some(Shortfall::Empty));
    assert_eq!(shortfall(&answer(vec![thinking], StopReason::Stop), &[]), Some(Shortfall::ThinkingOnly));
    let cut = answer(vec![Content::text("And then")], StopReason::Length);
    assert_eq!(shortfall(&cut, &[]), Some(Shortfall::Cut));
}

#[test]
fn open_tasks_are_named_unless_the_user_is_asked() {
    let tasks = [task("read", TaskStatus::Completed), task("write", TaskStatus::InProgress)];
    let done = answer(vec![Content::text("I read it.")], StopReason::Stop);
    let found = shortfall(&done, &tasks);
    assert_eq!(found, Some(Shortfall::OpenTasks { tasks: vec!["write".into()] }));
    assert!(found.is_some_and(|found| found.nudge().contains("\n- write\n")));
    let question = answer(vec![Content::text("I read it. May I write it?")], StopReason::Stop);
    assert_eq!(shortfall(&question, &tasks), None);
}
