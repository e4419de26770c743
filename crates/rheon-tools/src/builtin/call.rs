//! Helpers for tool calls: blocking work, questions to the user, truncated text.

use rheon_types::event::{PermissionResponse, Subject};
use rheon_types::{ToolContext, ToolError, ToolResult};
use serde_json::Value;

/// The `path` argument of a file tool, without copying the rest.
pub(crate) fn path_of<'a>(tool: &str, arguments: &'a Value) -> Result<&'a str, ToolError> {
    let path = arguments.get("path").and_then(Value::as_str);
    path.ok_or_else(|| ToolError::InvalidArgs(format!("invalid arguments for {tool}: missing field `path`")))
}

/// Runs `work` on a blocking thread. It continues if the call is dropped, so it must not leave anything half done.
pub(crate) async fn blocking(
    work: impl FnOnce() -> Result<ToolResult, ToolError> + Send + 'static,
) -> Result<ToolResult, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) if error.is_panic() => Err(ToolError::Panicked("the tool's code panicked".into())),
        Err(_) => Err(ToolError::Cancelled("the program is shutting down".into())),
    }
}

/// Asks the user and waits until the call is cancelled at most. `None` if no one can answer.
pub(crate) async fn ask(
    context: &ToolContext,
    subject: Subject,
    reason: &str,
) -> Result<Option<PermissionResponse>, ToolError> {
    let cancelled = || ToolError::Cancelled("cancelled while waiting for the user".into());
    // Check cancellation first, so that a cancelled call does not consume an answer.
    let answer = tokio::select! {
        biased;
        () = context.cancel.cancelled() => return Err(cancelled()),
        answer = context.ask(subject, reason) => answer,
    };
    // A question that was withdrawn with the run has no answer.
    if answer.is_none() && context.is_cancelled() { Err(cancelled()) } else { Ok(answer) }
}

/// The first `characters_max` characters of `text`, and how many were left out.
pub(crate) fn truncate(text: &str, characters_max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(characters_max) else { return text.to_owned() };
    let (head, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    format!("{head} [{} more characters]", rest.chars().count())
}
