//! `drive`: talks to the program as an SDK would: sends a prompt, says yes to every question and counts them.

use std::collections::VecDeque;
use std::fmt;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::project::Step;

/// How much of a failure is shown.
const SHOWN_CHARS_MAX: usize = 1_500;

/// What came of a conversation.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub(super) steps: Vec<StepOutcome>,
    /// What the program asked.
    pub(super) questions: Vec<String>,
}

impl Conversation {
    pub(super) fn is_good(&self) -> bool {
        self.questions.is_empty() && self.steps.iter().all(StepOutcome::is_good)
    }
}

/// What came of one step.
#[derive(Debug)]
pub(super) struct StepOutcome {
    name: String,
    /// The result; none if there was none.
    result: Option<ToolOutcome>,
}

/// The result of a call, as the model reads it.
#[derive(Debug)]
struct ToolOutcome {
    text: String,
    is_error: bool,
}

impl StepOutcome {
    /// A command that ends with an error is a result like any other, which says its code.
    pub(super) fn is_good(&self) -> bool {
        let is_good = |result: &ToolOutcome| {
            let text = &result.text;
            !result.is_error && (!text.contains("exit code ") || text.contains("exit code 0"))
        };
        self.result.as_ref().is_some_and(is_good)
    }

    pub(super) fn details(&self) -> String {
        let text = self.result.as_ref().map_or("no result", |result| result.text.as_str());
        let skipped = text.chars().count().saturating_sub(SHOWN_CHARS_MAX);
        let end: String = text.chars().skip(skipped).collect();
        format!("{} failed: {}", self.name, end.trim().replace('\n', "\n    "))
    }
}

impl fmt::Display for StepOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name, if self.is_good() { "ok" } else { "FAILED" })
    }
}

/// Sends `prompt` and follows the conversation to its end. Every question is answered with yes.
pub(super) fn drive(
    command: &mut Command,
    prompt: &str,
    steps: &[Step],
    time_max: Duration,
) -> Result<Conversation> {
    let mut process =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start the program")?;
    let mut input = process.stdin.take().context("no input")?;
    let output = process.stdout.take().context("no output")?;
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    send(&mut input, &json!({ "type": "user", "message": { "role": "user", "content": prompt } }))?;
    let (mut conversation, mut results) = (Conversation::default(), VecDeque::new());
    let deadline = Instant::now() + time_max;
    loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                let message: Value =
                    serde_json::from_str(&line).with_context(|| format!("no JSON: {line}"))?;
                match text_at(&message, "/type") {
                    Some("control_request") => answer(&mut input, &message, &mut conversation.questions)?,
                    Some("user") => results.extend(results_in(&message)),
                    Some("result") => break,
                    Some(_) | None => {}
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                println!("== e2e-projects: stopped after {} s", time_max.as_secs());
                break;
            }
        }
    }
    drop(input);
    stop(process)?;
    let outcome = |step: &Step| StepOutcome { name: step.name().to_owned(), result: results.pop_front() };
    conversation.steps = steps.iter().map(outcome).collect();
    Ok(conversation)
}

/// Says yes to a question, and remembers it.
fn answer(input: &mut ChildStdin, message: &Value, questions: &mut Vec<String>) -> Result<()> {
    let mut response = json!({});
    if text_at(message, "/request/subtype") == Some("can_use_tool") {
        let keys = ["command", "file_path", "path", "url"];
        let asked = keys.iter().find_map(|key| text_at(message, &format!("/request/input/{key}")));
        let tool = text_at(message, "/request/tool_name").unwrap_or_default();
        questions.push(format!("{tool}: {}", asked.unwrap_or_default()));
        response = json!({ "behavior": "allow", "updatedInput": message.pointer("/request/input") });
    }
    let id = message.pointer("/request_id");
    let response = json!({ "subtype": "success", "request_id": id, "response": response });
    send(input, &json!({ "type": "control_response", "response": response }))
}

fn text_at<'a>(message: &'a Value, pointer: &str) -> Option<&'a str> {
    message.pointer(pointer).and_then(Value::as_str)
}

fn send(input: &mut ChildStdin, message: &Value) -> Result<()> {
    writeln!(input, "{message}").context("the program does not read")
}

/// The tool results in a message.
fn results_in(message: &Value) -> Vec<ToolOutcome> {
    let blocks = message.pointer("/message/content").and_then(Value::as_array).into_iter().flatten();
    let results = blocks.filter(|block| text_at(block, "/type") == Some("tool_result"));
    let outcome = |block: &Value| ToolOutcome {
        text: block.pointer("/content").map_or_else(String::new, text_of),
        is_error: block.pointer("/is_error").and_then(Value::as_bool).unwrap_or_default(),
    };
    results.map(outcome).collect()
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| text_at(block, "/text")).collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// How long the program may take to end once its input has.
const END_TIME_MAX: Duration = Duration::from_secs(20);

fn stop(mut process: Child) -> Result<()> {
    let deadline = Instant::now() + END_TIME_MAX;
    while process.try_wait()?.is_none() {
        if Instant::now() > deadline {
            process.kill().context("cannot stop the program")?;
            process.wait()?;
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
