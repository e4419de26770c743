//! `todo`: the task list that the model keeps and the user sees.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_macros::Tool;
use rheon_types::event::{TaskItem, TaskStatus};
use rheon_types::{ToolContext, ToolError, ToolNews, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::builtin::call::truncate;

const TASKS_MAX: usize = 200;

const CHARACTERS_MAX: usize = 2_000;

/// The most open tasks in the result, and the most characters of each.
const OPEN_SHOWN_MAX: usize = 10;
const OPEN_CHARACTERS_MAX: usize = 200;

/// The task list of a session. Clones share the list, so that user interfaces can read what the tool writes.
#[derive(Debug, Clone, Default)]
pub struct TodoList {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    items: Mutex<Vec<TaskItem>>,
    /// Held while a list is stored and published, so that the last published list is the stored one.
    writing: Mutex<()>,
}

impl TodoList {
    pub fn items(&self) -> Vec<TaskItem> {
        self.lock().clone()
    }

    /// Restores the tasks of a resumed session without publishing them.
    pub fn restore(&self, items: Vec<TaskItem>) {
        *self.lock() = items;
    }

    fn write(&self, items: Vec<TaskItem>, publish: impl FnOnce(Vec<TaskItem>)) {
        let _writing = self.shared.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.restore(items.clone());
        // The list is unlocked here, because listeners may read it.
        publish(items);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<TaskItem>> {
        // A list is replaced in one step, so it is never half written.
        self.shared.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Tool)]
#[tool(name = "todo", label = "Tasks", description = include_str!("todo.md"), effect = "idempotent", arguments = Arguments)]
pub struct TodoTool {
    list: TodoList,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[schemars(length(max = 200))]
    tasks: Vec<TaskArgument>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskArgument {
    #[schemars(length(min = 1, max = 2000))]
    text: String,
    #[serde(default)]
    status: StatusArgument,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum StatusArgument {
    #[default]
    Pending,
    InProgress,
    Completed,
}

impl TodoTool {
    pub fn new(list: TodoList) -> Self {
        Self { list }
    }

    async fn run(&self, arguments: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let items = items(arguments)?;
        let result = result(&items);
        self.list.write(items, |items| context.news(ToolNews::Tasks(items)));
        Ok(result)
    }
}

fn items(arguments: Arguments) -> Result<Vec<TaskItem>, ToolError> {
    if arguments.tasks.len() > TASKS_MAX {
        let problem = format!("{} tasks exceed the limit of {TASKS_MAX}", arguments.tasks.len());
        return Err(ToolError::InvalidArgs(format!("{problem}; merge some of them")));
    }
    arguments.tasks.into_iter().enumerate().map(|(index, task)| item(index, task)).collect()
}

fn item(index: usize, task: TaskArgument) -> Result<TaskItem, ToolError> {
    let invalid = |problem: String| ToolError::InvalidArgs(format!("tasks[{index}].text {problem}"));
    let text = task.text.trim();
    let count = text.chars().count();
    if text.is_empty() {
        return Err(invalid("is empty; describe the task".into()));
    }
    if count > CHARACTERS_MAX {
        return Err(invalid(format!("has {count} characters; the limit is {CHARACTERS_MAX}; shorten it")));
    }
    Ok(TaskItem { text: text.to_owned(), status: task.status.into() })
}

impl From<StatusArgument> for TaskStatus {
    fn from(status: StatusArgument) -> Self {
        match status {
            StatusArgument::Pending => Self::Pending,
            StatusArgument::InProgress => Self::InProgress,
            StatusArgument::Completed => Self::Completed,
        }
    }
}

fn result(items: &[TaskItem]) -> ToolResult {
    let open: Vec<&TaskItem> = items.iter().filter(|item| item.status != TaskStatus::Completed).collect();
    let in_progress = open.iter().filter(|item| item.status == TaskStatus::InProgress).count();
    let done = items.len() - open.len();
    let mut text = match (items.len(), open.len()) {
        (0, _) => "The task list is empty.".to_owned(),
        (all, 0) => format!("All {all} tasks are done."),
        (all, _) => format!("{done} of {all} tasks are done. Open:"),
    };
    // Writing to a string cannot fail.
    for item in open.iter().take(OPEN_SHOWN_MAX) {
        let mark = if item.status == TaskStatus::InProgress { "[in progress] " } else { "" };
        write!(text, "\n- {mark}{}", truncate(&item.text, OPEN_CHARACTERS_MAX)).ok();
    }
    if let rest @ 1.. = open.len().saturating_sub(OPEN_SHOWN_MAX) {
        write!(text, "\n[{rest} more]").ok();
    }
    if in_progress > 1 {
        write!(text, "\n{in_progress} tasks are in progress; one at a time is easier to follow.").ok();
    }
    ToolResult::text(text).with_details(json!({ "tasks": items, "open": open.len(), "done": done }))
}
