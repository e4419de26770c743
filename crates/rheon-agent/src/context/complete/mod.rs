//! Whether an answer without tool calls is whole. Pure. What is found only leads to a question to the model, a bounded number
//! of times; no answer becomes an error because of how it is worded.

mod words;

use rheon_types::event::{TaskItem, TaskStatus};
use rheon_types::{AssistantMessage, Content, StopReason};

use words::{announces, asks};

/// What an answer leaves open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shortfall {
    /// It was cut off by the limit of its length.
    Cut,
    /// It says nothing at all.
    Empty,
    /// It only thinks.
    ThinkingOnly,
    /// It says what it will do next, and does not.
    Announced {
        /// In its own words.
        sentence: String,
    },
    /// Tasks of the list are not done.
    OpenTasks {
        /// They.
        tasks: Vec<String>,
    },
}

/// How many open tasks are named.
const TASKS_MAX: usize = 10;

/// What `answer` leaves open, the worst first.
pub(crate) fn shortfall(answer: &AssistantMessage, tasks: &[TaskItem]) -> Option<Shortfall> {
    if answer.stop_reason == StopReason::Length {
        return Some(Shortfall::Cut);
    }
    let text = answer.text();
    if text.trim().is_empty() {
        let has_thought = answer.content.iter().any(|block| matches!(block, Content::Thinking { .. }));
        return Some(if has_thought { Shortfall::ThinkingOnly } else { Shortfall::Empty });
    }
    // Who asks the user something waits for an answer, whatever is still open.
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
    /// What the model is told.
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

    /// What is recorded of an answer that is accepted all the same.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Cut => "the answer was cut off by the limit of its length".into(),
            Self::Empty => "the answer is empty".into(),
            Self::ThinkingOnly => "the answer has only thinking".into(),
            Self::Announced { sentence } => {
                format!("the answer announces what it does not do: {sentence:?}")
            }
            Self::OpenTasks { tasks } => format!("{} tasks are not done", tasks.len()),
        }
    }
}

#[cfg(test)]
#[path = "complete_tests.rs"]
mod tests;
