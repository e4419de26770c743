//! What every tool does with a call: arguments in, schema out, blocking work aside.

use rheon_types::event::{PermissionResponse, Subject};
use rheon_types::{BoxFuture, ToolContext, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The arguments of a call as the tool's own type.
pub(crate) fn arguments<T: DeserializeOwned>(arguments: &Value) -> Result<T, ToolError> {
    T::deserialize(arguments)
        .map_err(|error| ToolError::InvalidArgs(format!("the arguments do not fit: {error}")))
}

/// The path among the arguments of a file tool, without a copy of the rest.
pub(crate) fn path_of(arguments: &Value) -> Result<&str, ToolError> {
    let path = arguments.get("path").and_then(Value::as_str);
    path.ok_or_else(|| ToolError::InvalidArgs("the arguments do not fit: missing field `path`".into()))
}

/// The schema of a tool's arguments, without what only names the Rust type.
pub fn schema<T: JsonSchema>() -> Value {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator()
        .into_root_schema_for::<T>();
    schema.remove("$schema");
    schema.remove("title");
    schema.remove("description");
    let mut schema = schema.to_value();
    shorten(&mut schema);
    schema
}

/// Takes out what tells a model nothing: how Rust holds numbers, and defaults that go without saying. It goes with every request.
fn shorten(schema: &mut Value) {
    let parts: Vec<&mut Value> = match schema {
        Value::Object(fields) => {
            if fields.get("type").is_some_and(is_numeric) {
                fields.remove("format");
                fields.retain(|key, value| key != "minimum" || *value != 0);
            }
            let is_plain =
                |value: &Value| [json!(null), json!(false), json!(0), json!(""), json!([])].contains(value);
            fields.retain(|key, value| key != "default" || !is_plain(value));
            fields.values_mut().collect()
        }
        Value::Array(parts) => parts.iter_mut().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
    };
    parts.into_iter().for_each(shorten);
}

fn is_numeric(kind: &Value) -> bool {
    let is_number = |kind: &Value| kind == "integer" || kind == "number";
    is_number(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is_number))
}

/// Runs `work` where it may block. It is not stopped when the call is dropped, so it must not leave anything half done.
pub(crate) fn blocking<'a>(
    work: impl FnOnce() -> Result<ToolResult, ToolError> + Send + 'static,
) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
    Box::pin(async move {
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => result,
            Err(error) if error.is_panic() => Err(ToolError::Panicked("the tool's code panicked".into())),
            Err(_) => Err(ToolError::Cancelled("the program is shutting down".into())),
        }
    })
}

/// Asks the user, and waits no longer than the call may; nothing if nobody is there.
pub(crate) async fn ask(
    context: &ToolContext,
    subject: Subject,
    reason: &str,
) -> Result<Option<PermissionResponse>, ToolError> {
    let cancelled = || ToolError::Cancelled("cancelled while the user was asked".into());
    // The cancellation comes first, so that no answer is used up by a call that does nothing with it.
    let answer = tokio::select! {
        biased;
        () = context.cancel.cancelled() => return Err(cancelled()),
        answer = context.ask(subject, reason) => answer,
    };
    // Nobody answers a question that was withdrawn with the run.
    if answer.is_none() && context.is_cancelled() { Err(cancelled()) } else { Ok(answer) }
}

/// `text`, cut after so many characters, with the number of those that are missing.
pub(crate) fn clipped(text: &str, characters_max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(characters_max) else { return text.to_owned() };
    let (head, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    format!("{head} [{} characters more]", rest.chars().count())
}
