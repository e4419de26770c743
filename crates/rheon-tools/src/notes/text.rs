//! A note as the text of its file, and back. Pure.

use rheon_text::TextContext;
use serde_json::Value;

use crate::markdown::{Fields, Origin, Readable, parse, split, text_of};
use crate::notes::note::{Note, NoteKind};
use crate::notes::warning::NoteProblem;

/// How many characters of a description are kept, and of what says when it was made.
const DESCRIPTION_CHARACTERS_MAX: usize = 300;
const CREATED_CHARACTERS_MAX: usize = 40;

/// How many keywords are kept, and how much of each.
const KEYWORDS_MAX: usize = 32;
const KEYWORD_CHARACTERS_MAX: usize = 64;

/// The note that the file `name` holds, with what is odd about it. A file without frontmatter is a note too.
pub(super) fn read(name: &str, origin: Origin, text: &str) -> (Note, Vec<NoteProblem>) {
    let mut problems = Vec::new();
    let (fields, body) = match split(text) {
        Some((yaml, body)) => (fields(yaml, &mut problems), body),
        None => (Fields::new(), text.trim_start_matches('\u{feff}')),
    };
    if let Some(other) = text_of(&fields, "name").filter(|other| other != name) {
        problems.push(NoteProblem::NameDiffers { name: one_line(&other, 64), file: name.to_owned() });
    }
    let body = body.trim();
    let description = text_of(&fields, "description").unwrap_or_else(|| first_line(body).to_owned());
    let created = text_of(&fields, "created").unwrap_or_default();
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

/// The file of a note. What [`read`] makes of it is the same note.
pub(super) fn write(note: &Note) -> String {
    let mut head = vec![
        format!("name: {}", quoted(&note.name)),
        format!("description: {}", quoted(&one_line(&note.description, DESCRIPTION_CHARACTERS_MAX))),
        format!("kind: {}", note.kind.as_str()),
    ];
    if !note.created.is_empty() {
        head.push(format!("created: {}", quoted(&one_line(&note.created, CREATED_CHARACTERS_MAX))));
    }
    let keywords: Vec<String> =
        tidy(note.keywords.iter().map(String::as_str)).map(|word| quoted(&word)).collect();
    if !keywords.is_empty() {
        head.push(format!("keywords: [{}]", keywords.join(", ")));
    }
    format!("---\n{}\n---\n\n{}\n", head.join("\n"), note.text.trim())
}

/// The list of notes, for people.
pub(super) fn index<'a>(notes: impl IntoIterator<Item = &'a Note>) -> String {
    let mut text = "# Notes\n\nMade anew with every change; edit the notes themselves.\n\n".to_owned();
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
        Ok((fields, Readable::AsItIs)) => fields,
        Ok((fields, Readable::Mended(problem))) => {
            problems.push(NoteProblem::Mended(problem));
            fields
        }
        Err(problem) => {
            problems.push(NoteProblem::Unreadable(problem));
            Fields::new()
        }
    }
}

fn kind(fields: &Fields, problems: &mut Vec<NoteProblem>) -> NoteKind {
    match text_of(fields, "kind").as_deref() {
        None | Some("semantic") => NoteKind::Semantic,
        Some("episodic") => NoteKind::Episodic,
        Some(_) => {
            problems.push(NoteProblem::KindOdd);
            NoteKind::Semantic
        }
    }
}

/// Keywords stand in a list, or in one line with commas between them.
fn keywords(fields: &Fields) -> Vec<String> {
    match fields.get("keywords") {
        Some(Value::Array(words)) => {
            let words: Vec<String> = words.iter().filter_map(word).collect();
            tidy(words.iter().map(String::as_str)).collect()
        }
        Some(Value::String(line)) => tidy(line.split(',')).collect(),
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

fn tidy<'a>(words: impl Iterator<Item = &'a str>) -> impl Iterator<Item = String> {
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

/// A string as JSON writes it, which YAML reads alike.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
