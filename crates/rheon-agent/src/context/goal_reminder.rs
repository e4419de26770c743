//! `GoalReminder`: repeats the goal and the progress near the end of the window, more often the fuller it is.

use std::sync::{Arc, Mutex, PoisonError};

use rheon_types::event::{TaskItem, TaskStatus};
use rheon_types::{AgentMessage, Author, History, Message, Reminder, ReminderContext};

/// Reminds the model of the user's request and the current task.
#[derive(Debug, Default)]
pub struct GoalReminder {
    read: Mutex<GoalScan>,
}

/// How far the conversation was scanned, so that the last user message is not searched again in every turn.
#[derive(Debug, Default)]
struct GoalScan {
    /// The number of messages scanned.
    len: usize,
    /// The last message scanned. A conversation with the same message at this index is the same up to it.
    last: Option<Arc<AgentMessage>>,
    /// The last user message among them.
    goal: Option<Arc<AgentMessage>>,
}

/// The maximum length of the repeated goal.
const GOAL_CHARS_MAX: usize = 600;

/// In earlier turns the goal is still close by.
const FIRST_TURN: u32 = 4;

impl Reminder for GoalReminder {
    fn name(&self) -> &str {
        "recitation"
    }

    fn remind(&self, situation: &ReminderContext<'_>) -> Option<String> {
        if situation.turn_index < FIRST_TURN || !situation.turn_index.is_multiple_of(interval(situation)) {
            return None;
        }
        let goal = self.read.lock().unwrap_or_else(PoisonError::into_inner).goal(situation.history)?;
        let mut lines = vec![format!("What the user wants: {goal}")];
        lines.extend(progress(situation.tasks));
        Some(lines.join("\n"))
    }
}

/// How many turns apart reminders are.
fn interval(situation: &ReminderContext<'_>) -> u32 {
    let percent = situation.tokens_used.saturating_mul(100) / situation.tokens_window.max(1);
    match percent {
        0..50 => 8,
        50..75 => 4,
        _ => 1,
    }
}

impl GoalScan {
    /// The last user message, shortened.
    fn goal(&mut self, history: &History) -> Option<String> {
        let at_end = self.len.checked_sub(1).and_then(|place| history.get(place));
        let is_same = at_end.zip(self.last.as_ref()).is_some_and(|(one, other)| Arc::ptr_eq(one, other));
        if !is_same {
            *self = Self::default();
        }
        let new = (self.len..history.len()).rev().filter_map(|place| history.get(place));
        let last = new.into_iter().find(|message| is_users(message));
        self.goal = last.or(self.goal.as_ref()).cloned();
        self.len = history.len();
        self.last = history.last().cloned();
        let line = self.goal.as_ref()?.as_llm()?.text().split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = line.chars().take(GOAL_CHARS_MAX).collect();
        Some(if short.len() < line.len() { format!("{short} […]") } else { short })
    }
}

fn is_users(message: &AgentMessage) -> bool {
    match message.as_llm() {
        Some(Message::User(user)) => user.author == Author::User,
        Some(Message::Assistant(_) | Message::ToolResult(_)) | None => false,
    }
}

/// The progress of the task list.
fn progress(tasks: &[TaskItem]) -> Option<String> {
    if tasks.is_empty() {
        return None;
    }
    let is = |status| move |task: &&TaskItem| task.status == status;
    let done = tasks.iter().filter(is(TaskStatus::Completed)).count();
    let current =
        tasks.iter().find(is(TaskStatus::InProgress)).or_else(|| tasks.iter().find(is(TaskStatus::Pending)));
    let now = current.map_or_else(String::new, |task| format!("; now: {}", task.text));
    Some(format!("Tasks: {done} of {} done{now}", tasks.len()))
}

#[cfg(test)]
#[path = "goal_reminder_tests.rs"]
mod tests;
