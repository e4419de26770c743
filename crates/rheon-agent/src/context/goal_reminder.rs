//! `GoalReminder`: the goal and how far the work is, said again near the end of the window, the more often the fuller it is.

use std::sync::{Arc, Mutex, PoisonError};

use rheon_types::event::{TaskItem, TaskStatus};
use rheon_types::{AgentMessage, Author, History, Message, Reminder, ReminderContext};

/// Reminds the model of what the user wants and of the task it is at.
#[derive(Debug, Default)]
pub struct GoalReminder {
    read: Mutex<GoalScan>,
}

/// How far a conversation was read, so that what the user said long ago is not looked for again in every turn.
#[derive(Debug, Default)]
struct GoalScan {
    /// How many messages.
    len: usize,
    /// The last of them. A conversation that has it in the same place is the same up to it.
    last: Option<Arc<AgentMessage>>,
    /// What the user said last among them.
    goal: Option<Arc<AgentMessage>>,
}

/// The most characters of the goal that are said again.
const GOAL_CHARS_MAX: usize = 600;

/// Before this turn everything still stands close by.
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

/// Every how many turns it speaks.
fn interval(situation: &ReminderContext<'_>) -> u32 {
    let percent = situation.tokens_used.saturating_mul(100) / situation.tokens_window.max(1);
    match percent {
        0..50 => 8,
        50..75 => 4,
        _ => 1,
    }
}

impl GoalScan {
    /// What the user said last, shortened.
    fn goal(&mut self, history: &History) -> Option<String> {
        let at_end = self.len.checked_sub(1).and_then(|place| history.get(place));
        let is_same = at_end.zip(self.last.as_ref()).is_some_and(|(one, other)| Arc::ptr_eq(one, other));
        if !is_same {
            *self = Self::default();
        }
        let new = (self.len..history.len()).rev().filter_map(|place| history.get(place));
        let found = new.into_iter().find(|message| is_users(message));
        self.goal = found.or(self.goal.as_ref()).cloned();
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

/// How far the task list is.
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
