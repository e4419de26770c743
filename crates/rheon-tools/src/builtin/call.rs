//! What every tool does with a call: arguments in, schema out, blocking work aside.

use rheon_types::{BoxFuture, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The arguments of a call as the tool's own type.
pub(crate) fn arguments<T: DeserializeOwned>(arguments: &Value) -> Result<T, ToolError> {
    T::deserialize(arguments)
        .map_err(|error| ToolError::InvalidArgs(format!("the arguments do not fit: {error}")))
}

/// The schema of the arguments, without what only names the Rust type.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator()
        .into_root_schema_for::<T>();
    schema.remove("$schema");
    schema.remove("title");
    schema.remove("description");
    schema.to_value()
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
