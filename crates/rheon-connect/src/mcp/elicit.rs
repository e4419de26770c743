//! A server's request for input, asked as questions to the user.

use rheon_types::ToolContext;
use rheon_types::event::{Choice, PermissionDecision, Selection, Subject, UserQuestion};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value};

use super::clean::clean;

/// The most fields of a form, and the most choices of a field.
const FIELDS_MAX: usize = 12;
const CHOICES_MAX: usize = 50;
const TEXT_CHARS_MAX: usize = 2_000;
const LABEL_CHARS_MAX: usize = 200;

/// How often a form with invalid answers is asked again.
const ROUNDS_MAX: usize = 3;

/// Asks the user. Without an answer the request is canceled.
pub(super) async fn ask(server: &str, context: &ToolContext, request: ElicitRequestParams) -> ElicitResult {
    match request {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            let schema = serde_json::to_value(&requested_schema).unwrap_or_default();
            let mut fields = fields(&schema);
            // As the server wrote them.
            let order = requested_schema.property_order.unwrap_or_default();
            fields.sort_by_key(|field| order.iter().position(|name| *name == field.name));
            form(server, context, &message, &fields).await
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            open(server, context, &message, &url).await
        }
        _ => ElicitResult::new(ElicitationAction::Decline),
    }
}

/// The answers, question by question; or how the request ended without them.
async fn answers(
    server: &str,
    context: &ToolContext,
    questions: Vec<UserQuestion>,
) -> Result<Vec<Vec<String>>, ElicitResult> {
    let reason = format!("the MCP server {server:?} asks for input");
    let asked = context.ask(Subject::Questions { questions }, reason);
    let answer = tokio::select! {
        answer = asked => answer,
        () = context.cancel.cancelled() => None,
    };
    match answer {
        None => Err(ElicitResult::new(ElicitationAction::Cancel)),
        Some(answer) => match answer.decision {
            PermissionDecision::Allow => Ok(answer.answers),
            PermissionDecision::Deny => Err(ElicitResult::new(ElicitationAction::Decline)),
        },
    }
}

/// The user opens an address by themselves; we never do.
async fn open(server: &str, context: &ToolContext, message: &str, url: &str) -> ElicitResult {
    const DONE: &str = "Done";
    if super::http_client::address(url).is_err() {
        return ElicitResult::new(ElicitationAction::Decline);
    }
    let text = format!(
        "{} (from the MCP server {server})\nOpen this address in your browser, then confirm:\n{}",
        clean(message, TEXT_CHARS_MAX),
        rheon_text::visible(url)
    );
    let choice = |label: &str| Choice { label: label.to_owned(), description: String::new() };
    let choices = vec![choice(DONE), choice("Decline")];
    let question = UserQuestion { text, choices, selection: Selection::One };
    match answers(server, context, vec![question]).await {
        Ok(answers) if answers.first().and_then(|given| given.first()).is_some_and(|given| given == DONE) => {
            ElicitResult::new(ElicitationAction::Accept)
        }
        Ok(_) => ElicitResult::new(ElicitationAction::Decline),
        Err(ended) => ended,
    }
}

async fn form(server: &str, context: &ToolContext, message: &str, fields: &[Field]) -> ElicitResult {
    if fields.is_empty() || fields.len() > FIELDS_MAX {
        return ElicitResult::new(ElicitationAction::Decline);
    }
    let mut problem = None;
    for _ in 0..ROUNDS_MAX {
        let questions = questions(server, message, fields, problem.as_deref());
        let given = match answers(server, context, questions).await {
            Ok(given) => given,
            Err(ended) => return ended,
        };
        match content(fields, &given) {
            Ok(content) => {
                return ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content));
            }
            Err(text) => problem = Some(text),
        }
    }
    ElicitResult::new(ElicitationAction::Cancel)
}

/// One field of a form.
struct Field {
    name: String,
    text: String,
    kind: FieldKind,
    is_required: bool,
    choices: Vec<FieldChoice>,
    /// What no answer means.
    default: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    Text,
    Integer,
    Number,
    Boolean,
    List,
}

struct FieldChoice {
    value: String,
    label: String,
}

fn fields(schema: &Value) -> Vec<Field> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let field = |(name, property): (&String, &Value)| {
        let kind = match property.get("type").and_then(Value::as_str) {
            Some("integer") => FieldKind::Integer,
            Some("number") => FieldKind::Number,
            Some("boolean") => FieldKind::Boolean,
            Some("array") => FieldKind::List,
            Some(_) | None => FieldKind::Text,
        };
        let text = |key: &str| property.get(key).and_then(Value::as_str);
        let title = text("title").unwrap_or(name);
        let description = text("description").map(|text| format!(": {text}")).unwrap_or_default();
        let is_required = required.contains(&name.as_str());
        let default = property.get("default").filter(|value| !value.is_null()).cloned();
        let note = match &default {
            Some(Value::String(text)) => format!(" (default: {text})"),
            Some(value) => format!(" (default: {value})"),
            None if is_required => String::new(),
            None => " (optional)".to_owned(),
        };
        let text = clean(&format!("{title}{description}{note}"), TEXT_CHARS_MAX);
        let choices = choices(property.get("items").filter(|_| kind == FieldKind::List).unwrap_or(property));
        Field { name: name.clone(), text, kind, is_required, choices, default }
    };
    properties.into_iter().flatten().map(field).collect()
}

fn choices(property: &Value) -> Vec<FieldChoice> {
    let titled = ["oneOf", "anyOf"].iter().find_map(|key| property.get(key)).and_then(Value::as_array);
    let plain = property.get("enum").and_then(Value::as_array);
    let names = property.get("enumNames").and_then(Value::as_array);
    let choice = |value: &str, label: &str| FieldChoice {
        value: value.to_owned(),
        label: clean(label, LABEL_CHARS_MAX),
    };
    let titled = titled.into_iter().flatten().filter_map(|one| {
        let value = one.get("const")?.as_str()?;
        Some(choice(value, one.get("title").and_then(Value::as_str).unwrap_or(value)))
    });
    let plain = plain.into_iter().flatten().enumerate().filter_map(|(index, one)| {
        let value = one.as_str()?;
        Some(choice(value, names.and_then(|names| names.get(index)?.as_str()).unwrap_or(value)))
    });
    titled.chain(plain).take(CHOICES_MAX).collect()
}

fn questions(server: &str, message: &str, fields: &[Field], problem: Option<&str>) -> Vec<UserQuestion> {
    let intro = format!("{} (from the MCP server {server})", clean(message, TEXT_CHARS_MAX));
    let intro = match problem {
        Some(problem) => format!("{intro}\n{problem}"),
        None => intro,
    };
    let question = |(index, field): (usize, &Field)| {
        let text = if index == 0 { format!("{intro}\n{}", field.text) } else { field.text.clone() };
        let labels: Vec<String> = match field.kind {
            FieldKind::Boolean => vec!["Yes".to_owned(), "No".to_owned()],
            FieldKind::Text | FieldKind::Integer | FieldKind::Number | FieldKind::List => {
                field.choices.iter().map(|choice| choice.label.clone()).collect()
            }
        };
        let choices = labels.into_iter().map(|label| Choice { label, description: String::new() }).collect();
        let selection = if field.kind == FieldKind::List { Selection::Many } else { Selection::One };
        UserQuestion { text, choices, selection }
    };
    fields.iter().enumerate().map(question).collect()
}

/// The form's content; the error says which answer is invalid.
fn content(fields: &[Field], answers: &[Vec<String>]) -> Result<Map<String, Value>, String> {
    let mut content = Map::new();
    for (index, field) in fields.iter().enumerate() {
        let given: Vec<&str> = answers
            .get(index)
            .into_iter()
            .flatten()
            .map(|answer| answer.trim())
            .filter(|answer| !answer.is_empty())
            .collect();
        let Some(first) = given.first() else {
            if let Some(default) = &field.default {
                content.insert(field.name.clone(), default.clone());
                continue;
            }
            if field.is_required {
                return Err(format!("{:?} is required.", rheon_text::visible(&field.name)));
            }
            continue;
        };
        let value = match field.kind {
            FieldKind::List => given.iter().map(|one| field.chosen(one).map(Value::String)).collect(),
            FieldKind::Text => field.chosen(first).map(Value::String),
            FieldKind::Integer => first.parse::<i64>().ok().map(Value::from),
            FieldKind::Number => first.parse::<f64>().ok().map(Value::from),
            FieldKind::Boolean => truth(first),
        };
        let wrong = || {
            let (given, name) = (rheon_text::visible(first), rheon_text::visible(&field.name));
            format!("{given:?} is not valid for {name:?}.")
        };
        content.insert(field.name.clone(), value.ok_or_else(wrong)?);
    }
    Ok(content)
}

impl Field {
    /// The value of what the user answered.
    fn chosen(&self, answer: &str) -> Option<String> {
        if self.choices.is_empty() {
            return Some(answer.to_owned());
        }
        let is_meant = |choice: &&FieldChoice| choice.label == answer || choice.value == answer;
        self.choices.iter().find(is_meant).map(|choice| choice.value.clone())
    }
}

fn truth(answer: &str) -> Option<Value> {
    match answer.to_ascii_lowercase().as_str() {
        "yes" | "y" | "true" => Some(Value::Bool(true)),
        "no" | "n" | "false" => Some(Value::Bool(false)),
        _ => None,
    }
}
