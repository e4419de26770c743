//! `ask_user`: asks the user questions.
//!
//! A missing answer is not a failure: the result tells the model how to proceed. Only a call that is cancelled while it
//! waits is an error.

use std::collections::HashSet;
use std::fmt::Write;

use rheon_macros::Tool;
use rheon_types::event::{Choice, PermissionDecision, PermissionResponse, Selection, Subject, UserQuestion};
use rheon_types::{ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::builtin::call::{ask, truncate};

const QUESTIONS_MAX: usize = 4;

const CHOICES_MAX: usize = 6;

const TEXT_CHARACTERS_MAX: usize = 2_000;
const LABEL_CHARACTERS_MAX: usize = 200;
const DESCRIPTION_CHARACTERS_MAX: usize = 1_000;

/// The most answers to one question, and the most characters of each.
const ANSWERS_MAX: usize = 20;
const ANSWER_CHARACTERS_MAX: usize = 10_000;

#[derive(Default, Tool)]
// Asking changes nothing, but the user should not be asked twice.
#[tool(
    name = "ask_user",
    label = "Question",
    description = include_str!("ask_user.md"),
    effect = "idempotent",
    arguments = Arguments
)]
pub struct AskUserTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[schemars(length(min = 1, max = 4))]
    questions: Vec<QuestionArgument>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QuestionArgument {
    #[schemars(length(min = 1, max = 2000))]
    text: String,
    /// None for a free answer.
    #[serde(default)]
    #[schemars(length(max = 6))]
    choices: Vec<ChoiceArgument>,
    #[serde(default)]
    selection: SelectionArgument,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChoiceArgument {
    #[schemars(length(min = 1, max = 200))]
    label: String,
    #[serde(default)]
    #[schemars(length(max = 1000))]
    description: String,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum SelectionArgument {
    #[default]
    One,
    Many,
}

impl AskUserTool {
    async fn run(&self, arguments: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        let questions = questions(arguments)?;
        let subject = Subject::Questions { questions: questions.clone() };
        let answer = ask(&context, subject, "the model has a question").await?;
        Ok(match answer {
            None => outcome_result("nobody", include_str!("ask_user/non_interactive.md")),
            Some(answer) => match answer.decision {
                PermissionDecision::Allow => answered_result(&questions, answer),
                PermissionDecision::Deny => declined_result(answer),
            },
        })
    }
}

fn questions(arguments: Arguments) -> Result<Vec<UserQuestion>, ToolError> {
    if arguments.questions.is_empty() || arguments.questions.len() > QUESTIONS_MAX {
        let problem = format!("`questions` must have 1 to {QUESTIONS_MAX} items");
        return Err(ToolError::InvalidArgs(problem));
    }
    arguments.questions.into_iter().enumerate().map(|(index, question)| checked(index, question)).collect()
}

fn checked(index: usize, question: QuestionArgument) -> Result<UserQuestion, ToolError> {
    let at = format!("questions[{index}]");
    let text = required(&format!("{at}.text"), &question.text, TEXT_CHARACTERS_MAX)?;
    if question.choices.len() > CHOICES_MAX {
        let count = question.choices.len();
        let problem =
            format!("{at}.choices has {count} items; the limit is {CHOICES_MAX}; offer the most likely ones");
        return Err(ToolError::InvalidArgs(problem));
    }
    let mut choices = Vec::new();
    let mut labels = HashSet::new();
    for (number, choice) in question.choices.into_iter().enumerate() {
        let at = format!("{at}.choices[{number}]");
        let label = required(&format!("{at}.label"), &choice.label, LABEL_CHARACTERS_MAX)?;
        let description =
            check_length(&format!("{at}.description"), &choice.description, DESCRIPTION_CHARACTERS_MAX)?;
        if !labels.insert(label.clone()) {
            let problem = format!("{at}.label is a duplicate; labels must differ");
            return Err(ToolError::InvalidArgs(problem));
        }
        choices.push(Choice { label, description });
    }
    let selection = match question.selection {
        SelectionArgument::One => Selection::One,
        SelectionArgument::Many => Selection::Many,
    };
    Ok(UserQuestion { text, choices, selection })
}

fn required(field: &str, text: &str, characters_max: usize) -> Result<String, ToolError> {
    let text = check_length(field, text, characters_max)?;
    if text.is_empty() {
        return Err(ToolError::InvalidArgs(format!("{field} is empty")));
    }
    Ok(text)
}

fn check_length(field: &str, text: &str, characters_max: usize) -> Result<String, ToolError> {
    let text = text.trim();
    let count = text.chars().count();
    if count > characters_max {
        let problem = format!("{field} has {count} characters; the limit is {characters_max}; shorten it");
        return Err(ToolError::InvalidArgs(problem));
    }
    Ok(text.to_owned())
}

fn answered_result(questions: &[UserQuestion], answer: PermissionResponse) -> ToolResult {
    let mut text = String::new();
    let mut answers_by_question: Vec<Vec<String>> = Vec::new();
    let mut answers = answer.answers.into_iter();
    for question in questions {
        let given = answers.next().unwrap_or_default();
        let given: Vec<String> = given
            .iter()
            .map(|one| truncate(one.trim(), ANSWER_CHARACTERS_MAX))
            .filter(|one| !one.is_empty())
            .take(ANSWERS_MAX)
            .collect();
        let answer_text = if given.is_empty() { "(no answer)".to_owned() } else { given.join("; ") };
        // Writing to a string cannot fail.
        writeln!(text, "Question: {}\nAnswer: {answer_text}", question.text).ok();
        answers_by_question.push(given);
    }
    if let Some(message) = answer.message.as_deref().map(str::trim).filter(|message| !message.is_empty()) {
        writeln!(text, "The user adds: {}", truncate(message, ANSWER_CHARACTERS_MAX)).ok();
    }
    ToolResult::text(text.trim_end())
        .with_details(json!({ "outcome": "answered", "answers": answers_by_question }))
}

fn declined_result(answer: PermissionResponse) -> ToolResult {
    let mut text = include_str!("ask_user/declined.md").trim_end().to_owned();
    if let Some(message) = answer.message.as_deref().map(str::trim).filter(|message| !message.is_empty()) {
        // Writing to a string cannot fail.
        write!(text, "\nThe user says: {}", truncate(message, ANSWER_CHARACTERS_MAX)).ok();
    }
    outcome_result("declined", &text)
}

fn outcome_result(outcome: &str, text: &str) -> ToolResult {
    ToolResult::text(text.trim_end()).with_details(json!({ "outcome": outcome, "answers": [] }))
}
