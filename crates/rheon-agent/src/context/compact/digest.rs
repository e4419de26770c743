//! A summary written without a model: requests, tool calls and results, as facts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rheon_types::event::{TaskItem, TaskStatus};
use rheon_types::{AgentMessage, Author, History, Message};

/// The maximum number of user requests listed.
const REQUESTS_MAX: usize = 20;
/// The maximum length of each request.
const REQUEST_CHARS_MAX: usize = 300;
/// The maximum length of the model's last text.
const LAST_TEXT_CHARS_MAX: usize = 1_000;

/// What happened in `messages`, as facts.
pub(super) fn digest(messages: &History) -> String {
    let mut requests = Vec::new();
    let mut calls: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut last_text = None;
    for message in messages.for_model() {
        match message {
            Message::User(user) if user.author == Author::User => requests.push(message.text()),
            Message::User(_) => {}
            Message::Assistant(answer) => {
                let text = answer.text();
                if !text.trim().is_empty() {
                    last_text = Some(text);
                }
            }
            Message::ToolResult(result) => {
                let (all, failed) = calls.entry(result.tool_name.as_str()).or_default();
                *all += 1;
                *failed += usize::from(result.is_error);
            }
        }
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    if !requests.is_empty() {
        text.push_str("The user asked:\n");
        let skipped = requests.len().saturating_sub(REQUESTS_MAX);
        if skipped > 0 {
            writeln!(text, "({skipped} earlier requests omitted)").ok();
        }
        for request in requests.iter().skip(skipped) {
            writeln!(text, "- {}", one_line(request, REQUEST_CHARS_MAX)).ok();
        }
    }
    if !calls.is_empty() {
        text.push_str("Tools that ran:\n");
        for (name, (all, failed)) in calls {
            let errors = if failed > 0 { format!(", {failed} with an error") } else { String::new() };
            writeln!(text, "- {name}: {all} times{errors}").ok();
        }
    }
    if let Some(last) = last_text {
        writeln!(text, "Your last message: {}", one_line(&last, LAST_TEXT_CHARS_MAX)).ok();
    }
    if text.is_empty() {
        text.push_str("Nothing was asked, and no tool ran.");
    }
    text
}

/// The task list as text; empty if there are no tasks.
pub(super) fn task_list(tasks: &[TaskItem]) -> String {
    let line = |task: &TaskItem| {
        let mark = match task.status {
            TaskStatus::Pending => " ",
            TaskStatus::InProgress => ">",
            TaskStatus::Completed => "x",
        };
        format!("[{mark}] {}", task.text)
    };
    if tasks.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = tasks.iter().map(line).collect();
    format!("\n\nThe task list:\n{}", lines.join("\n"))
}

/// One line of at most `chars_max` characters.
fn one_line(text: &str, chars_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(chars_max).collect();
    if short.len() < line.len() { format!("{short} […]") } else { short }
}

/// `text` without its middle, in whole lines or words, with a mark where something is missing. The beginning of a summary
/// says what the user wants, its end what comes next.
pub(super) fn shortened(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let head = text.get(..text.floor_char_boundary(bytes_max / 3 * 2)).unwrap_or_default();
    let head = head.rfind(char::is_whitespace).and_then(|end| head.get(..end)).unwrap_or(head).trim_end();
    let tail = text.get(text.ceil_char_boundary(text.len() - bytes_max / 3)..).unwrap_or_default();
    let tail =
        tail.find(char::is_whitespace).and_then(|start| tail.get(start..)).unwrap_or(tail).trim_start();
    let omitted = text.len().saturating_sub(head.len() + tail.len());
    format!("{head}\n[… {omitted} bytes of this summary are left out here …]\n{tail}")
}

/// The message that replaces a range of messages.
pub(super) fn summary_message(text: &str, tasks: &[TaskItem]) -> AgentMessage {
    let template = include_str!("summary_message.md").trim_end();
    let note = template.replace("{summary}", text.trim()) + &task_list(tasks);
    Message::note(note, rheon_types::Timestamp::default()).into()
}
