//! Lenient parsing of a command's frontmatter, which is optional.

use serde_json::Value;

use crate::commands::command::CommandInfo;
use crate::commands::warning::CommandProblem;
use crate::markdown::{Fields, ParseMode, parse, split, text_field};

const FIELD_CHARACTERS_MAX: usize = 1_024;

const RULES_MAX: usize = 100;

/// Parses the frontmatter and lists its problems.
pub(super) fn read(text: &str) -> (CommandInfo, Vec<CommandProblem>) {
    let mut problems = Vec::new();
    let body = body(text);
    let fields = match split(text) {
        Some((yaml, _)) => fields(yaml, &mut problems),
        None => {
            if text.trim_start_matches('\u{feff}').starts_with("---\n") {
                problems.push(CommandProblem::UnclosedFrontmatter);
            }
            Fields::new()
        }
    };
    let field = |key: &str| text_field(&fields, key).map(|text| one_line(&text));
    let info = CommandInfo {
        description: field("description").unwrap_or_else(|| first_line(body)),
        argument_hint: hint(&fields),
        model: field("model"),
        agent: field("agent"),
        is_subtask: match field("subtask").as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => {
                problems.push(CommandProblem::InvalidSubtask);
                false
            }
        },
        allowed_tools: rules(fields.get("allowed-tools")),
    };
    (info, problems)
}

pub(super) fn body(text: &str) -> &str {
    split(text).map_or(text.trim_start_matches('\u{feff}'), |(_, body)| body).trim()
}

fn fields(yaml: &str, problems: &mut Vec<CommandProblem>) -> Fields {
    match parse(yaml) {
        Ok((fields, ParseMode::Strict)) => fields,
        Ok((fields, ParseMode::Quoted(problem))) => {
            problems.push(CommandProblem::UnquotedYaml(problem));
            fields
        }
        Err(problem) => {
            problems.push(CommandProblem::InvalidYaml(problem));
            Fields::new()
        }
    }
}

/// People write `[file]` without quotes, which YAML reads as a list.
fn hint(fields: &Fields) -> Option<String> {
    match fields.get("argument-hint")? {
        Value::Array(items) => {
            let words = items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
            Some(one_line(&format!("[{words}]")))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            text_field(fields, "argument-hint").map(|text| one_line(&text))
        }
    }
}

/// Rules are a list, or one line separated by commas or spaces.
fn rules(field: Option<&Value>) -> Vec<String> {
    let rules: Vec<String> = match field {
        Some(Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).map(|rule| rule.trim().to_owned()).collect()
        }
        Some(Value::String(line)) => split_rules(line),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
    };
    rules.into_iter().filter(|rule| !rule.is_empty()).take(RULES_MAX).map(|rule| one_line(&rule)).collect()
}

/// Splits a line into rules. Parentheses belong to the rule before them.
fn split_rules(line: &str) -> Vec<String> {
    let mut rules = vec![String::new()];
    let mut depth = 0_usize;
    for character in line.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_between = depth == 0 && (character == ',' || character.is_whitespace());
        match rules.last_mut() {
            Some(rule) if !is_between => rule.push(character),
            Some(_) | None => rules.push(String::new()),
        }
    }
    rules
}

fn first_line(body: &str) -> String {
    let line = body
        .lines()
        .map(|line| line.trim_start_matches('#').trim())
        .find(|line| !line.is_empty() && *line != "---");
    one_line(line.unwrap_or_default())
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(FIELD_CHARACTERS_MAX).collect()
}
