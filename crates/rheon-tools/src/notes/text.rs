//! Reads and writes the file format of notes. Pure.

use rheon_text::TextContext;
use serde_json::Value;

use crate::markdown::{Fields, FileOrigin, ParseMode, parse, split, text_field};
use crate::notes::note::{Note, NoteKind};
use crate::notes::warning::NoteProblem;

/// The most characters of a description and of a creation time.
const DESCRIPTION_CHARACTERS_MAX: usize = 300;
const CREATED_CHARACTERS_MAX: usize = 40;

/// The most keywords, and the most characters of each.
const KEYWORDS_MAX: usize = 32;
const KEYWORD_CHARACTERS_MAX: usize = 64;

/// Parses the note in the file `name` and lists its problems. Frontmatter is optional.
pub(super) fn read(name: &str, origin: FileOrigin, text: &str) -> (Note, Vec<NoteProblem>) {
    let mut problems = Vec::new();
    let (fields, body) = match split(text) {
        Some((yaml, body)) => (fields(yaml, &mut problems), body),
        None => (Fields::new(), text.trim_start_matches('\u{feff}')),
    };
    if let Some(other) = text_field(&fields, "name").filter(|other| other != name) {
        problems.push(NoteProblem::NameDiffers { name: one_line(&other, 64), file: name.to_owned() });
    }
    let body = body.trim();
    let description = text_field(&fields, "description").unwrap_or_else(|| first_line(body).to_owned());
    let created = text_field(&fields, "created").unwrap_or_default();
    let note = Note {
        name: name.to_owned(),
        description: one_line(&description, DESCRIPTION_CHARACTERS_MAX),
        kind: kind(&fields, &mut problems),
        created: one_line(&created, CREATED_CHARACTERS_MAX),
        keywords: keywords(&fields),
        text: body.to_owned(),
        origin,
    };
    (note, problems)
}

/// The file content of a note. [`read`] returns the same note.
pub(super) fn write(note: &Note) -> String {
    let mut head = vec![
        format!("name: {}", yaml_string(&note.name)),
        format!("description: {}", yaml_string(&one_line(&note.description, DESCRIPTION_CHARACTERS_MAX))),
        format!("kind: {}", note.kind.as_str()),
    ];
    if !note.created.is_empty() {
        head.push(format!("created: {}", yaml_string(&one_line(&note.created, CREATED_CHARACTERS_MAX))));
    }
    let keywords: Vec<String> =
        clean_keywords(note.keywords.iter().map(String::as_str)).map(|word| yaml_string(&word)).collect();
    if !keywords.is_empty() {
        head.push(format!("keywords: [{}]", keywords.join(", ")));
    }
    format!("---\n{}\n---\n\n{}\n", head.join("\n"), note.text.trim())
}

/// The content of the index.
pub(super) fn index<'a>(notes: impl IntoIterator<Item = &'a Note>) -> String {
    let mut text = "# Notes\n\nGenerated: edit the notes, not this list.\n\n".to_owned();
    for note in notes {
        let (name, kind) = (&note.name, note.kind.as_str());
        text.push_str(&format!(
            "- [{name}]({}.md) ({kind}): {}\n",
            name.replace(' ', "%20"),
            note.description
        ));
    }
    text
}

fn fields(yaml: &str, problems: &mut Vec<NoteProblem>) -> Fields {
    match parse(yaml) {
        Ok((fields, ParseMode::Strict)) => fields,
        Ok((fields, ParseMode::Quoted(problem))) => {
            problems.push(NoteProblem::UnquotedYaml(problem));
            fields
        }
        Err(problem) => {
            problems.push(NoteProblem::InvalidYaml(problem));
            Fields::new()
        }
    }
}

fn kind(fields: &Fields, problems: &mut Vec<NoteProblem>) -> NoteKind {
    match text_field(fields, "kind").as_deref() {
        None | Some("semantic") => NoteKind::Semantic,
        Some("episodic") => NoteKind::Episodic,
        Some(_) => {
            problems.push(NoteProblem::InvalidKind);
            NoteKind::Semantic
        }
    }
}

/// Keywords are a list, or one line separated by commas.
fn keywords(fields: &Fields) -> Vec<String> {
    match fields.get("keywords") {
        Some(Value::Array(words)) => {
            let words: Vec<String> = words.iter().filter_map(word).collect();
            clean_keywords(words.iter().map(String::as_str)).collect()
        }
        Some(Value::String(line)) => clean_keywords(line.split(',')).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(word) => Some(word.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn clean_keywords<'a>(words: impl Iterator<Item = &'a str>) -> impl Iterator<Item = String> {
    let words = words.map(|word| one_line(word, KEYWORD_CHARACTERS_MAX));
    words.filter(|word| !word.is_empty()).take(KEYWORDS_MAX)
}

fn first_line(body: &str) -> &str {
    let mut lines = body.lines().map(|line| line.trim_start_matches('#').trim());
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

fn one_line(text: &str, characters_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars()
        .filter(|one| !TextContext::Title.forbids(*one))
        .take(characters_max)
        .collect::<String>()
        .trim()
        .to_owned()
}

/// A JSON string, which YAML reads the same way.
fn yaml_string(text: &str) -> String {
    Value::from(text).to_string()
}
