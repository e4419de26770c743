//! Checks whether an answer without tool calls is complete. Pure functions. An incomplete answer only leads to a
//! bounded number of follow-up prompts; its wording never causes an error.

mod words;

use rheon_types::event::{TaskItem, TaskStatus};
use rheon_types::{AssistantMessage, Content, StopReason};

use words::{announces, asks};

/// What is missing in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shortfall {
    /// It reached its token limit.
    Cut,
    /// It is empty.
    Empty,
    /// It contains only thinking.
    ThinkingOnly,
    /// It announces a next step without doing it.
    Announced { sentence: String },
    /// The task list has open tasks.
    OpenTasks { tasks: Vec<String> },
}

/// The maximum number of open tasks listed.
const TASKS_MAX: usize = 10;

/// What is missing in `answer`, most severe first.
pub(crate) fn shortfall(answer: &AssistantMessage, tasks: &[TaskItem]) -> Option<Shortfall> {
    if answer.stop_reason == StopReason::Length {
        return Some(Shortfall::Cut);
    }
    let text = answer.text();
    if text.trim().is_empty() {
        let has_thought = answer.content.iter().any(|block| matches!(block, Content::Thinking { .. }));
        return Some(if has_thought { Shortfall::ThinkingOnly } else { Shortfall::Empty });
    }
    // A question to the user ends the turn, even with open tasks.
    if asks(&text) {
        return None;
    }
    if let Some(sentence) = announces(&text) {
        return Some(Shortfall::Announced { sentence });
    }
    let open: Vec<String> = tasks
        .iter()
        .filter(|task| match task.status {
            TaskStatus::Pending | TaskStatus::InProgress => true,
            TaskStatus::Completed => false,
        })
        .map(|task| task.text.clone())
        .collect();
    if open.is_empty() { None } else { Some(Shortfall::OpenTasks { tasks: open }) }
}

impl Shortfall {
    /// The follow-up prompt for the model.
    pub(crate) fn nudge(&self) -> String {
        match self {
            Self::Cut => include_str!("cut.md").trim_end().into(),
            Self::Empty => include_str!("empty.md").trim_end().into(),
            Self::ThinkingOnly => include_str!("thinking_only.md").trim_end().into(),
            Self::Announced { sentence } => {
                include_str!("announced.md").trim_end().replace("{sentence}", sentence)
            }
            Self::OpenTasks { tasks } => {
                let named: Vec<String> =
                    tasks.iter().take(TASKS_MAX).map(|task| format!("- {task}")).collect();
                include_str!("open_tasks.md").trim_end().replace("{tasks}", &named.join("\n"))
            }
        }
    }

    /// The reason recorded if the answer is accepted anyway.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Cut => "the answer reached its length limit".into(),
            Self::Empty => "the answer is empty".into(),
            Self::ThinkingOnly => "the answer contains only thinking".into(),
            Self::Announced { sentence } => {
                format!("the answer announces a step without doing it: {sentence:?}")
            }
            Self::OpenTasks { tasks } => format!("{} tasks are not done", tasks.len()),
        }
    }
}

#[cfg(test)]
#[path = "complete_tests.rs"]
mod tests;
