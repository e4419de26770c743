//! `todo`: the task list that the model keeps and the user sees.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_macros::Tool;
use rheon_types::event::{TaskItem, TaskStatus};
use rheon_types::{ToolContext, ToolError, ToolFact, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::builtin::call::clipped;

/// How many tasks a list may have.
const TASKS_MAX: usize = 200;

/// How many characters a task may have.
const CHARACTERS_MAX: usize = 2_000;

/// How many open tasks the result repeats, and how much of each.
const OPEN_SHOWN_MAX: usize = 10;
const OPEN_CHARACTERS_MAX: usize = 200;

/// The task list of a session. A clone is the same list, so that user interfaces and the context can read what the tool writes.
#[derive(Debug, Clone, Default)]
pub struct TodoList {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    items: Mutex<Vec<TaskItem>>,
    /// Held while a list is written and told, so that the last list told is the one that is kept.
    writing: Mutex<()>,
}

impl TodoList {
    /// The tasks as they are now.
    pub fn items(&self) -> Vec<TaskItem> {
        self.lock().clone()
    }

    /// Puts back the tasks of a session that goes on; tells nobody.
    pub fn restore(&self, items: Vec<TaskItem>) {
        *self.lock() = items;
    }

    fn write(&self, items: Vec<TaskItem>, tell: impl FnOnce(Vec<TaskItem>)) {
        let _writing = self.shared.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.restore(items.clone());
        // Whoever is told may read the list, so the list itself is free by now.
        tell(items);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<TaskItem>> {
        // A list is replaced in one step and never half written.
        self.shared.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the task list.
#[derive(Tool)]
#[tool(label = "Tasks", description = include_str!("todo.md"), effect = "idempotent", arguments = Arguments)]
pub struct Todo {
    list: TodoList,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[schemars(length(max = 200))]
    tasks: Vec<Task>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Task {
    #[schemars(length(min = 1, max = 2000))]
    text: String,
    #[serde(default)]
    status: Status,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Status {
    #[default]
    Pending,
    InProgress,
    Completed,
}

impl Todo {
    /// The tool for this list.
    pub fn new(list: TodoList) -> Self {
        Self { list }
    }

    async fn run(&self, given: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let items = items(given)?;
        let result = result(&items);
        self.list.write(items, |items| context.record(ToolFact::Tasks(items)));
        Ok(result)
    }
}

fn items(given: Arguments) -> Result<Vec<TaskItem>, ToolError> {
    if given.tasks.len() > TASKS_MAX {
        let problem = format!("{} tasks are more than the {TASKS_MAX} a list may have", given.tasks.len());
        return Err(ToolError::InvalidArgs(format!("{problem}; join some of them")));
    }
    given.tasks.into_iter().enumerate().map(|(index, task)| item(index, task)).collect()
}

fn item(index: usize, task: Task) -> Result<TaskItem, ToolError> {
    let refused = |problem: String| ToolError::InvalidArgs(format!("tasks[{index}].text {problem}"));
    let text = task.text.trim();
    let count = text.chars().count();
    if text.is_empty() {
        return Err(refused("is empty; say what is to be done".into()));
    }
    if count > CHARACTERS_MAX {
        return Err(refused(format!("has {count} characters, more than {CHARACTERS_MAX}; say it shorter")));
    }
    Ok(TaskItem { text: text.to_owned(), status: task.status.into() })
}

impl From<Status> for TaskStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Pending => Self::Pending,
            Status::InProgress => Self::InProgress,
            Status::Completed => Self::Completed,
        }
    }
}

fn result(items: &[TaskItem]) -> ToolResult {
    let open: Vec<&TaskItem> = items.iter().filter(|item| item.status != TaskStatus::Completed).collect();
    let begun = open.iter().filter(|item| item.status == TaskStatus::InProgress).count();
    let done = items.len() - open.len();
    let mut text = match (items.len(), open.len()) {
        (0, _) => "The task list is empty.".to_owned(),
        (all, 0) => format!("All {all} tasks are done."),
        (all, _) => format!("{done} of {all} tasks are done. Open:"),
    };
    // Writing to a string cannot fail.
    for item in open.iter().take(OPEN_SHOWN_MAX) {
        let mark = if item.status == TaskStatus::InProgress { "[in progress] " } else { "" };
        write!(text, "\n- {mark}{}", clipped(&item.text, OPEN_CHARACTERS_MAX)).ok();
    }
    if let rest @ 1.. = open.len().saturating_sub(OPEN_SHOWN_MAX) {
        write!(text, "\n[{rest} more]").ok();
    }
    if begun > 1 {
        write!(text, "\n{begun} tasks are in progress; one at a time is easier to follow.").ok();
    }
    ToolResult::text(text).with_details(json!({ "tasks": items, "open": open.len(), "done": done }))
}
