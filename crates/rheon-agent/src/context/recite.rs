//! `Recitation`: the goal and how far the work is, said again near the end of the window, the more often the fuller it is.

use rheon_types::event::{TaskItem, TaskStatus};
use rheon_types::{Author, History, Message, Reminder, Situation};

/// Reminds the model of what the user wants and of the task it is at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Recitation {}

/// The most characters of the goal that are said again.
const GOAL_CHARS_MAX: usize = 600;

/// Before this turn everything still stands close by.
const FIRST_TURN: u32 = 4;

impl Reminder for Recitation {
    fn name(&self) -> &str {
        "recitation"
    }

    fn remind(&self, situation: &Situation<'_>) -> Option<String> {
        if situation.turn_index < FIRST_TURN || !situation.turn_index.is_multiple_of(interval(situation)) {
            return None;
        }
        let goal = goal(situation.history)?;
        let mut lines = vec![format!("What the user wants: {goal}")];
        lines.extend(progress(situation.tasks));
        Some(lines.join("\n"))
    }
}

/// Every how many turns it speaks.
fn interval(situation: &Situation<'_>) -> u32 {
    let percent = situation.tokens_used.saturating_mul(100) / situation.tokens_window.max(1);
    match percent {
        0..50 => 8,
        50..75 => 4,
        _ => 1,
    }
}

/// What the user said last, shortened.
fn goal(history: &History) -> Option<String> {
    let said = history.iter().rev().find_map(|message| match message.as_llm() {
        Some(message @ Message::User(user)) if user.author == Author::User => Some(message.text()),
        Some(Message::User(_) | Message::Assistant(_) | Message::ToolResult(_)) | None => None,
    })?;
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(GOAL_CHARS_MAX).collect();
    Some(if short.len() < line.len() { format!("{short} […]") } else { short })
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
#[path = "recite_tests.rs"]
mod tests;
