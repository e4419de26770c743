//! When the goal is said again, and in which words.

use std::sync::Arc;

use rheon_types::{AgentMessage, Timestamp};

use super::*;

fn history(texts: &[&str]) -> History {
    texts.iter().map(|text| Arc::new(AgentMessage::user(*text, Timestamp::default()))).collect()
}

fn spoken(tokens_used: u64) -> Vec<u32> {
    let history = history(&["fix it"]);
    let at = |turn_index| ReminderContext {
        history: &history,
        tasks: &[],
        turn_index,
        tokens_used,
        tokens_window: 100,
    };
    (0..20).filter(|turn| GoalReminder::default().remind(&at(*turn)).is_some()).collect()
}

#[test]
fn a_fuller_window_gets_more_reminders() {
    assert_eq!(spoken(10), [8, 16]);
    assert_eq!(spoken(60), [4, 8, 12, 16]);
    assert_eq!(spoken(80), (4..20).collect::<Vec<_>>());
}

#[test]
fn it_repeats_the_last_user_message_and_the_next_task() {
    let task = |text: &str, status| TaskItem { text: text.into(), status };
    let tasks = [task("read", TaskStatus::Completed), task("write", TaskStatus::Pending)];
    let mut history = history(&["old", "fix\n  it"]);
    history.push(Arc::new(Message::note("not the user", Timestamp::default()).into()));
    let situation =
        ReminderContext { history: &history, tasks: &tasks, turn_index: 8, tokens_used: 0, tokens_window: 0 };
    let said = GoalReminder::default().remind(&situation);
    assert_eq!(said.as_deref(), Some("What the user wants: fix it\nTasks: 1 of 2 done; now: write"));
}

#[test]
fn a_long_goal_is_shortened_between_characters() {
    let history = history(&["é".repeat(5_000).as_str()]);
    let mut read = GoalScan::default();
    assert_eq!(read.goal(&history), Some(format!("{} […]", "é".repeat(600))));
    assert_eq!(read.goal(&History::new()), None);
}

#[test]
fn later_messages_and_rewinds_change_the_goal() {
    let note = || Arc::new(AgentMessage::from(Message::note("a note", Timestamp::default())));
    let said = |text: &str| Arc::new(AgentMessage::user(text, Timestamp::default()));
    let mut read = GoalScan::default();
    let mut history = history(&["first"]);
    history.push(note());
    assert_eq!(read.goal(&history).as_deref(), Some("first"));
    history.push(note());
    assert_eq!(read.goal(&history).as_deref(), Some("first"));
    let earlier = history.clone();
    history.push(said("second"));
    history.push(note());
    assert_eq!(read.goal(&history).as_deref(), Some("second"));
    assert_eq!(read.goal(&earlier).as_deref(), Some("first"));
    let other: History = [note(), said("third"), note(), note()].into_iter().collect();
    assert_eq!(read.goal(&other).as_deref(), Some("third"));
}
