//! What tools do with a call: blocking work aside, questions to the user, long texts cut.

use rheon_types::event::{PermissionResponse, Subject};
use rheon_types::{ToolContext, ToolError, ToolResult};
use serde_json::Value;

/// The path among the arguments of a file tool, without a copy of the rest.
pub(crate) fn path_of<'a>(tool: &str, arguments: &'a Value) -> Result<&'a str, ToolError> {
    let path = arguments.get("path").and_then(Value::as_str);
    path.ok_or_else(|| ToolError::InvalidArgs(format!("invalid arguments for {tool}: missing field `path`")))
}

/// Runs `work` where it may block. It is not stopped when the call is dropped, so it must not leave anything half done.
pub(crate) async fn blocking(
    work: impl FnOnce() -> Result<ToolResult, ToolError> + Send + 'static,
) -> Result<ToolResult, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) if error.is_panic() => Err(ToolError::Panicked("the tool's code panicked".into())),
        Err(_) => Err(ToolError::Cancelled("the program is shutting down".into())),
    }
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
pub(crate) fn truncate(text: &str, characters_max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(characters_max) else { return text.to_owned() };
    let (head, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    format!("{head} [{} characters more]", rest.chars().count())
}
