//! The frontmatter of a `SKILL.md`, read leniently.
//!
//! YAML is read by `serde-saphyr`: it is pure Rust, it is maintained, and it bounds depth and aliases.

use serde_json::{Map, Value};

use crate::policy::visible;
use crate::skills::limits::{DESCRIPTION_CHARACTERS_MAX, NAME_CHARACTERS_MAX};
use crate::skills::skill::Invocation;
use crate::skills::warning::SkillProblem;

/// What a file says about itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frontmatter {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) invocation: Invocation,
}

/// The frontmatter and the body of a file; nothing if it has no frontmatter.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---")?;
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            return Some((text.get(first.len()..end)?, text.get(end + line.len()..)?));
        }
        end += line.len();
    }
    None
}

/// What the frontmatter says, with what is odd about it; an error is a reason to leave the skill out.
pub(crate) fn read(
    frontmatter: &str,
    folder_name: &str,
) -> Result<(Frontmatter, Vec<SkillProblem>), SkillProblem> {
    let mut problems = Vec::new();
    let fields = match parse(frontmatter) {
        Ok(fields) => fields,
        Err(problem) => {
            let fields =
                parse(&quoted(frontmatter)).map_err(|_| SkillProblem::Unreadable(problem.clone()))?;
            problems.push(SkillProblem::Mended(problem));
            fields
        }
    };
    let name = name(&fields, folder_name, &mut problems)?;
    let description = text_of(&fields, "description").ok_or(SkillProblem::NoDescription)?;
    if description.chars().nth(DESCRIPTION_CHARACTERS_MAX).is_some() {
        problems.push(SkillProblem::DescriptionCut);
    }
    let description = description.chars().take(DESCRIPTION_CHARACTERS_MAX).collect();
    let invocation = invocation(&fields, &mut problems);
    Ok((Frontmatter { name, description, invocation }, problems))
}

fn parse(yaml: &str) -> Result<Map<String, Value>, String> {
    let first_line = |error: serde_saphyr::Error| {
        let told = error.to_string();
        let line = told.lines().next().unwrap_or_default();
        // What a program could do about it helps nobody who wrote the file.
        let line = line.split(", set ").next().unwrap_or(line);
        visible(line.strip_prefix("error: ").unwrap_or(line))
    };
    match serde_saphyr::from_str::<Value>(yaml).map_err(first_line)? {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err("it holds no `key: value` lines".into())
        }
    }
}

/// The same with every plain value of one line in quotes, because a `: ` in it is what breaks files most often.
fn quoted(yaml: &str) -> String {
    let mut text = String::with_capacity(yaml.len());
    for line in yaml.lines() {
        match line.split_once(": ") {
            Some((key, value)) if is_key(key) && is_plain(value.trim()) => {
                let value = value.trim().replace('\\', "\\\\").replace('"', "\\\"");
                text.push_str(&format!("{key}: \"{value}\"\n"));
            }
            Some(_) | None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|one| one.is_alphanumeric() || matches!(one, '-' | '_'))
}

/// Whether a value has no mark of its own: no quotes, no block, no flow, no truth value.
fn is_plain(value: &str) -> bool {
    !value.is_empty()
        && !value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!', '#'])
        && !matches!(value, "true" | "false" | "null" | "~")
}

fn name(
    fields: &Map<String, Value>,
    folder_name: &str,
    problems: &mut Vec<SkillProblem>,
) -> Result<String, SkillProblem> {
    let folder = || folder_name.to_owned();
    let Some(name) = text_of(fields, "name").filter(|name| is_usable(name)) else {
        if !is_usable(folder_name) {
            return Err(SkillProblem::NameUnusable);
        }
        problems.push(SkillProblem::NameMissing { folder: folder() });
        return Ok(folder());
    };
    if !is_as_specified(&name) {
        problems.push(SkillProblem::NameOdd { name: name.clone() });
    }
    if name != folder_name {
        problems.push(SkillProblem::NameDiffers { name: name.clone(), folder: folder() });
    }
    Ok(name)
}

fn is_usable(name: &str) -> bool {
    (1..=NAME_CHARACTERS_MAX).contains(&name.chars().count()) && name.trim() == name && visible(name) == name
}

/// `^[a-z0-9]+(-[a-z0-9]+)*$`.
fn is_as_specified(name: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit())
    };
    name.split('-').all(is_word)
}

fn invocation(fields: &Map<String, Value>, problems: &mut Vec<SkillProblem>) -> Invocation {
    match text_of(fields, "disable-model-invocation").as_deref() {
        None if !fields.contains_key("disable-model-invocation") => Invocation::Anyone,
        Some("false") => Invocation::Anyone,
        Some("true") => Invocation::UserOnly,
        Some(_) | None => {
            problems.push(SkillProblem::InvocationOdd);
            Invocation::UserOnly
        }
    }
}

/// A field as text, if it has any.
fn text_of(fields: &Map<String, Value>, key: &str) -> Option<String> {
    let text = match fields.get(key)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}
